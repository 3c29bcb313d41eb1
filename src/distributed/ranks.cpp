// What products over ranks need without the type of a semiring: agreement, changes of distribution,
// patterns and values of all ranks.

#include "rig/kernels/ranks.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#include "distributed/exchange.hpp"
#include "distributed/hash.hpp"

namespace rig::over_ranks {
namespace {

/// The failure of rank `culprit`, on every rank; by numbers, which take no memory.
failure told_by(const communicator& ranks, int culprit, const failure* here) {
  const bool tells = ranks.rank() == culprit;
  const auto told = [&](int64 number) {
    return ranks.all_reduce(tells ? number : 0, joining::sum);
  };
  failure words;
  words.code = static_cast<errc>(told(tells ? static_cast<int64>(here->code) : 0));
  words.length = static_cast<int32>(told(tells ? here->length : 0));
  for (std::size_t at = 0; at < size(words.length); at += sizeof(int64)) {
    int64 letters = 0;
    if (tells) std::memcpy(&letters, here->text + at, sizeof(letters));
    letters = told(letters);
    std::memcpy(words.text + at, &letters, sizeof(letters));
  }
  return words;
}

}  // namespace

votes conclude(const communicator& ranks, const char* name, const failure* here, votes said) {
  constexpr int bits = vote_bits;
  constexpr int64 each = (int64{1} << bits) - 1;
  const int64 failed = here != nullptr;
  const int64 sums =
      ranks.all_reduce(said.lacking | said.features << bits | said.cover << 2 * bits |
                           said.transposed << 3 * bits | failed << 4 * bits,
                       joining::sum);
  if (sums >> 4 * bits == 0)
    return {sums & each, sums >> bits & each, sums >> 2 * bits & each, sums >> 3 * bits & each};
  const auto culprit =
      static_cast<int>(ranks.all_reduce(failed != 0 ? ranks.rank() : ranks.size(), joining::least));
  const failure words = told_by(ranks, culprit, here);
  std::string_view text(words.text, size(words.length));
  const std::string_view start = name;
  if (text.starts_with(start) && text.substr(start.size()).starts_with(": "))
    text.remove_prefix(start.size() + 2);
  fail(words.code, {name, ": rank ", culprit, " of ", ranks.size(), ": ", text});
}

void require_equal(const communicator& ranks, const char* name, const char* what, int64 number) {
  const int64 least = ranks.all_reduce(number, joining::least),
              greatest = ranks.all_reduce(number, joining::greatest);
  if (least != greatest)
    fail(errc::shape, {name, ": the ranks differ in ", what, ", which is ", least, " and ",
                       greatest, "; pass the same on all ranks"});
}
void require_alike(const communicator& ranks, const char* name, const char* what, int64 number) {
  if (ranks.all_reduce(number, joining::least) != ranks.all_reduce(number, joining::greatest))
    fail(errc::shape, {name, ": the ranks differ in ", what, "; pass the same on all ranks"});
}

fact::fact(const char* name, std::string_view text) : what(name) {
  hashed letters;
  letters.add(text);
  number = static_cast<int64>(letters.value());
}
fact::fact(const char* name, const scalar& of) : what(name) {
  hashed forms;
  forms.add(
      std::array{int64{of.has_value()}, std::bit_cast<int64>(of.as<double>()), of.as<int64>()});
  number = static_cast<int64>(forms.value());
}

void require_alike(const communicator& ranks, const char* name, std::span<const fact> facts) {
  if (ranks.size() == 1) return;
  hashed all;
  for (const fact& each : facts) all.add(std::array{each.number});
  // A sum of vote_bits more bits does not overflow. Unequal numbers differ from their mean.
  const auto here = static_cast<int64>(all.value() >> (vote_bits + 1));
  if (ranks.all_reduce(here, joining::sum) == here * ranks.size()) return;
  for (const fact& each : facts) require_alike(ranks, name, each.what, each.number);
}

void require_one_form(const communicator& ranks, const char* name, const layout& rows,
                      index columns, std::string_view type, bool by_features) {
  const std::array<fact, 4> facts = {fact("the layout", rows.hash()),
                                     fact("the columns", int64{columns}), fact("the type", type),
                                     fact("whether it is by features", int64{by_features})};
  require_alike(ranks, name, facts);
}

index first_feature(index columns, int rank, int ranks) {
  return static_cast<index>(int64{columns} * rank / ranks);
}

namespace {

/// Which rows and columns a rank has: rows in the layout of rows, columns in that of features.
struct features_of {
  const communicator& ranks;
  const layout& rows;
  const elements& from;

  index first(int rank) const { return first_feature(from.columns, rank, ranks.size()); }
  std::size_t row_bytes(int rank) const {
    return size(first(rank + 1) - first(rank)) * from.bytes_each;
  }
  std::size_t offset(int rank) const { return size(first(rank)) * from.bytes_each; }
  /// The bytes of the rows of one rank in the columns of another.
  std::size_t bytes(int by_rows, int by_columns) const {
    return size(rows.rows_of(by_rows)) * row_bytes(by_columns);
  }
};

/// Copies `count` rows of some bytes; to_row(k) and from_row(k) are where row k lies.
template <class To, class From>
void copy_each(index count, std::size_t bytes, To to_row, From from_row) {
  if (bytes == 0) return;
  for (index k = 0; k < count; ++k) std::memcpy(to_row(k), from_row(k), bytes);
}

}  // namespace

void rows_to_features(const communicator& ranks, const layout& rows, const elements& from,
                      const callback<void*>& make) {
  const features_of all{ranks, rows, from};
  const int here = ranks.rank();
  const auto* const data = static_cast<const unsigned char*>(from.data);
  unsigned char* out = nullptr;
  const parts blocks = {
      [&](int rank) { return all.bytes(here, rank); },
      [&](int rank) { return all.bytes(rank, here); },
      [&](int rank, unsigned char* to) {
        const std::size_t bytes = all.row_bytes(rank);
        copy_each(
            rows.rows_of(here), bytes, [&](index k) { return to + size(k) * bytes; },
            [&](index k) { return data + size(k) * from.stride + all.offset(rank); });
      }};
  const received in = exchange_parts(ranks, "by_features", blocks,
                                     [&] { out = static_cast<unsigned char*>(make()); });
  const std::size_t bytes = all.row_bytes(here);
  for (int rank = 0; rank < ranks.size(); ++rank)
    copy_each(
        rows.rows_of(rank), bytes,
        [&](index k) { return out + size(rows.row_at(rank, k)) * bytes; },
        [&](index k) { return in.from(rank) + size(k) * bytes; });
}

void features_to_rows(const communicator& ranks, const layout& rows, const elements& from,
                      const callback<void*>& make) {
  const features_of all{ranks, rows, from};
  const int here = ranks.rank();
  const auto* const data = static_cast<const unsigned char*>(from.data);
  unsigned char* out = nullptr;
  const std::size_t width = all.row_bytes(here);
  const parts blocks = {
      [&](int rank) { return all.bytes(rank, here); },
      [&](int rank) { return all.bytes(here, rank); },
      [&](int rank, unsigned char* to) {
        copy_each(
            rows.rows_of(rank), width, [&](index k) { return to + size(k) * width; },
            [&](index k) { return data + size(rows.row_at(rank, k)) * from.stride; });
      }};
  const received in =
      exchange_parts(ranks, "by_rows", blocks, [&] { out = static_cast<unsigned char*>(make()); });
  const std::size_t stride = size(from.columns) * from.bytes_each;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const std::size_t bytes = all.row_bytes(rank);
    copy_each(
        rows.rows_of(here), bytes,
        [&](index k) { return out + size(k) * stride + all.offset(rank); },
        [&](index k) { return in.from(rank) + size(k) * bytes; });
  }
}

void gather_rows(const communicator& ranks, const layout& rows, const elements& from,
                 const callback<void*>& make) {
  const std::size_t bytes = size(from.columns) * from.bytes_each;
  const index here = rows.rows_of(ranks.rank());
  unsigned char* out = nullptr;
  buffer packed;
  // Packed before the rest, which is agreed on by then.
  agree(ranks, "gather", [&] {
    packed = buffer::allocate(size(here) * bytes);
    copy_each(
        here, bytes, [&](index k) { return packed.data<unsigned char>() + size(k) * bytes; },
        [&](index k) {
          return static_cast<const unsigned char*>(from.data) + size(k) * from.stride;
        });
  });
  const received in = gather_parts(
      ranks, "gather", packed.data(), packed.bytes(),
      [&](int rank) { return size(rows.rows_of(rank)) * bytes; },
      [&] { out = static_cast<unsigned char*>(make()); });
  for (int rank = 0; rank < ranks.size(); ++rank)
    copy_each(
        rows.rows_of(rank), bytes,
        [&](index k) { return out + size(rows.row_at(rank, k)) * bytes; },
        [&](index k) { return in.from(rank) + size(k) * bytes; });
}

namespace {

/// Something of each entry of the whole matrix, whose rows begin at `offset(row)`.
template <class Offset>
buffer gather_entries(const communicator& ranks, const char* name, const layout& rows,
                      Offset offset, std::size_t bytes_each, const void* here, int64 entries_here) {
  buffer out;
  const received in = gather_parts(
      ranks, name, here, size(entries_here) * bytes_each,
      [&](int rank) {
        int64 entries = 0;
        for (index k = 0; k < rows.rows_of(rank); ++k) {
          const index row = rows.row_at(rank, k);
          entries += offset(row + 1) - offset(row);
        }
        return size(entries) * bytes_each;
      },
      [&] {
        if (!rows.is_contiguous()) out = buffer::allocate(size(offset(rows.rows())) * bytes_each);
      });
  if (rows.is_contiguous()) return in.all;  // the order of ranks is that of rows
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const unsigned char* from = in.from(rank);
    for (index k = 0; k < rows.rows_of(rank); ++k) {
      const index row = rows.row_at(rank, k);
      const std::size_t bytes = size(offset(row + 1) - offset(row)) * bytes_each;
      if (bytes > 0)
        std::memcpy(out.data<unsigned char>() + size(offset(row)) * bytes_each, from, bytes);
      from += bytes;
    }
  }
  return out;
}

}  // namespace

std::vector<index> gather_lengths(const communicator& ranks, const char* name, const layout& rows,
                                  const pattern& rows_here) {
  std::vector<index> here, all;
  agree(ranks, name, [&] {
    reserve(here, size(rows_here.rows()));
    for (index i = 0; i < rows_here.rows(); ++i)
      here.push_back(static_cast<index>(rows_here.offset(i + 1) - rows_here.offset(i)));
  });
  const received in = gather_parts(
      ranks, name, here.data(), here.size() * sizeof(index),
      [&](int rank) { return size(rows.rows_of(rank)) * sizeof(index); },
      [&] { all = filled<index>(size(rows.rows())); });
  for (int rank = 0; rank < ranks.size(); ++rank)
    for (index k = 0; k < rows.rows_of(rank); ++k)
      std::memcpy(&all[size(rows.row_at(rank, k))], in.from(rank) + size(k) * sizeof(index),
                  sizeof(index));
  return all;
}

std::shared_ptr<const pattern> gather_pattern(const communicator& ranks, const char* name,
                                              const layout& rows, const pattern& rows_here) {
  const std::vector<index> lengths = gather_lengths(ranks, name, rows, rows_here);
  std::vector<int64> offsets;
  agree(ranks, name, [&] { offsets = filled<int64>(size(rows.rows()) + 1); });
  std::copy(lengths.begin(), lengths.end(), offsets.begin() + 1);
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  const buffer columns = gather_entries(
      ranks, name, rows, [&](index row) { return offsets[size(row)]; }, sizeof(index),
      rows_here.column_indices(), rows_here.nnz());
  std::shared_ptr<const pattern> made;
  agree(ranks, name, [&] {
    bool offsets_64 = false;
    buffer packed = pack_offsets(offsets, offsets_64);
    made = std::make_shared<const pattern>(rows.rows(), rows_here.columns(), offsets.back(),
                                           std::move(packed), offsets_64, columns);
  });
  return made;
}

namespace {

/// What a rank says of its values.
struct header {
  int32 is_iso = 0, has_entries = 0;
  unsigned char iso[16] = {};
};
static_assert(sizeof(header) == plain_iso_bytes);

}  // namespace

plain_iso common_iso(const communicator& ranks, const char* name, int64 entries_here,
                     std::size_t bytes_each, bool is_iso, const void* value) {
  header mine;
  mine.is_iso = is_iso;
  mine.has_entries = entries_here > 0;
  if (is_iso) std::memcpy(mine.iso, value, bytes_each);
  const received in = gather_parts(
      ranks, name, &mine, sizeof(mine), [](int) { return sizeof(header); }, nothing);
  plain_iso out{true, {}};
  std::memcpy(out.value, mine.iso, sizeof(out.value));
  bool is_found = false;  // the value of the first rank that has entries, if one has
  for (int rank = 0; rank < ranks.size(); ++rank) {
    header theirs;
    std::memcpy(&theirs, in.from(rank), sizeof(theirs));
    if (theirs.has_entries == 0) continue;
    if (!is_found) std::memcpy(out.value, theirs.iso, sizeof(out.value));
    is_found = true;
    out.is_iso &= theirs.is_iso != 0 && std::memcmp(theirs.iso, out.value, bytes_each) == 0;
  }
  return out;
}

buffer repeated(const void* value, std::size_t bytes_each, int64 count) {
  buffer out = buffer::allocate(size(count) * bytes_each);
  for (int64 p = 0; p < count; ++p)
    std::memcpy(out.data<unsigned char>() + size(p) * bytes_each, value, bytes_each);
  return out;
}

sent_values values_to_send(const communicator& ranks, const char* name, int64 entries_here,
                           std::size_t bytes_each, bool is_iso, const void* iso,
                           const void* values) {
  sent_values out{common_iso(ranks, name, entries_here, bytes_each, is_iso, iso), {}, values};
  agree(ranks, name, [&] {
    if (is_iso && !out.one.is_iso) out.spread = repeated(iso, bytes_each, entries_here);
  });
  if (is_iso) out.data = out.spread.data();
  return out;
}

plain_values gather_values(const communicator& ranks, const char* name, const layout& rows,
                           const pattern& whole, int64 entries_here, std::size_t bytes_each,
                           bool is_iso, const void* values) {
  const plain_iso one = common_iso(ranks, name, entries_here, bytes_each, is_iso, values);
  plain_values out{one.is_iso, {}};
  buffer spread;
  agree(ranks, name, [&] {
    if (one.is_iso)
      out.values = repeated(one.value, bytes_each, 1);
    else if (is_iso)
      spread = repeated(values, bytes_each, entries_here);
  });
  if (out.is_iso) return out;
  out.values = gather_entries(
      ranks, name, rows, [&](index row) { return whole.offset(row); }, bytes_each,
      is_iso ? spread.data() : values, entries_here);
  return out;
}

std::vector<int64> gather_numbers(const communicator& ranks, const char* name,
                                  std::span<const int64> here) {
  const std::size_t bytes = here.size() * sizeof(int64);
  std::vector<int64> out;
  const received in = gather_parts(
      ranks, name, here.data(), bytes, [&](int) { return bytes; },
      [&] { out = filled<int64>(here.size() * size(ranks.size())); });
  if (bytes > 0) std::memcpy(out.data(), in.all.data(), out.size() * sizeof(int64));
  return out;
}

}  // namespace rig::over_ranks
