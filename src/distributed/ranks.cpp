// What products over ranks need without the type of a semiring: agreement, plans, exchanges.

#include "rig/kernels/ranks.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "distributed/exchange.hpp"
#include "storage/backend.hpp"

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

namespace {

/// Whether numbers ascend by one each.
bool are_adjacent(const std::vector<index>& numbers) {
  return numbers.empty() ||
         numbers.back() - numbers.front() + 1 == static_cast<index>(numbers.size());
}

/// Exchanges the lists of a plan: `wanted[rank]` goes to the rank that has these rows.
std::vector<std::vector<index>> exchange_lists(const communicator& ranks, const char* name,
                                               const std::vector<std::vector<index>>& wanted) {
  std::vector<int64> lengths;
  const parts counts = {[](int) { return sizeof(int64); }, [](int) { return sizeof(int64); },
                        [&](int rank, unsigned char* to) {
                          const auto length = static_cast<int64>(wanted[size(rank)].size());
                          std::memcpy(to, &length, sizeof(length));
                        }};
  const received in =
      exchange_parts(ranks, name, counts, [&] { lengths = filled<int64>(size(ranks.size())); });
  for (int rank = 0; rank < ranks.size(); ++rank)
    std::memcpy(&lengths[size(rank)], in.from(rank), sizeof(int64));
  const parts lists = {[&](int rank) { return wanted[size(rank)].size() * sizeof(index); },
                       [&](int rank) { return size(lengths[size(rank)]) * sizeof(index); },
                       [&](int rank, unsigned char* to) {
                         std::memcpy(to, wanted[size(rank)].data(),
                                     wanted[size(rank)].size() * sizeof(index));
                       }};
  std::vector<std::vector<index>> asked;
  const received all = exchange_parts(ranks, name, lists, [&] {
    asked.resize(size(ranks.size()));
    for (std::size_t k = 0; k < asked.size(); ++k) asked[k] = filled<index>(size(lengths[k]));
  });
  for (int rank = 0; rank < ranks.size(); ++rank) {
    std::vector<index>& list = asked[size(rank)];
    if (!list.empty()) std::memcpy(list.data(), all.from(rank), list.size() * sizeof(index));
  }
  return asked;
}

/// Numbers the columns that have entries, in ascending order, and the entries by them.
void renumber(fetch_plan& plan) {
  const pattern& of = *plan.original;
  std::vector<index> number = filled<index>(size(of.columns()), -1);
  const index* const entries = of.column_indices();
  for (int64 p = 0; p < of.nnz(); ++p) number[size(entries[p])] = 0;
  for (index j = 0; j < of.columns(); ++j)
    if (number[size(j)] == 0) {
      number[size(j)] = static_cast<index>(plan.columns.size());
      plan.columns.push_back(j);
    }
  const buffer renumbered = buffer::allocate(size(of.nnz()) * sizeof(index));
  for (int64 p = 0; p < of.nnz(); ++p) renumbered.data<index>()[p] = number[size(entries[p])];
  const std::size_t bytes =
      (size(of.rows()) + 1) * (of.offsets_64() ? sizeof(int64) : sizeof(int32));
  plan.local = std::make_shared<const pattern>(
      of.rows(), static_cast<index>(plan.columns.size()), of.nnz(),
      buffer::borrow(const_cast<void*>(of.offsets()), bytes), of.offsets_64(), renumbered);
}

}  // namespace

std::size_t fetch_plan::bytes() const {
  std::size_t numbers = columns.size() + size(local->nnz());
  for (const fetch_pair& pair : pairs) numbers += pair.sent.size() + pair.received.size();
  if (where() == cpu()) return numbers * sizeof(index);
  // The lists are there twice, and the offsets are not those of the original.
  const std::size_t offsets =
      (size(local->rows()) + 1) * (local->offsets_64() ? sizeof(int64) : sizeof(int32));
  return numbers * sizeof(index) + lists.bytes() + offsets;
}

std::shared_ptr<fetch_plan> make_fetch_plan(const communicator& ranks, const char* name,
                                            std::shared_ptr<const pattern> rows_here,
                                            const layout& of_x) {
  std::shared_ptr<fetch_plan> plan;
  std::vector<std::vector<index>> wanted;
  agree(ranks, name, [&] {
    plan = std::make_shared<fetch_plan>();
    plan->original = std::move(rows_here);
    renumber(*plan);
    wanted.resize(size(ranks.size()));
    plan->pairs.resize(size(ranks.size()));
    for (std::size_t k = 0; k < plan->columns.size(); ++k) {
      const index row = plan->columns[k];
      const int rank = of_x.rank_of(row);
      wanted[size(rank)].push_back(of_x.place_of(row));
      plan->pairs[size(rank)].received.push_back(static_cast<index>(k));
    }
  });
  std::vector<std::vector<index>> asked = exchange_lists(ranks, name, wanted);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    fetch_pair& pair = plan->pairs[size(rank)];
    pair.rank = rank;
    pair.sent = std::move(asked[size(rank)]);
    pair.sent_there = pair.sent.data();
    pair.received_there = pair.received.data();
  }
  return plan;
}

namespace {

/// The lengths of all rows, of each rank's own. Collective.
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

/// What a device reads of the rows of a matrix, of all ranks' rows. Collective.
whole_rows rows_of_whole(const communicator& ranks, const char* name, const layout& rows,
                         const pattern& rows_here) {
  const std::vector<index> lengths = gather_lengths(ranks, name, rows, rows_here);
  whole_rows out;
  out.rows = rows.rows();
  out.columns = rows_here.columns();
  for (std::size_t i = 0; i < lengths.size(); i += 4) {
    index longest = 0;
    for (std::size_t k = i; k < std::min(i + 4, lengths.size()); ++k) {
      longest = std::max(longest, lengths[k]);
      out.nnz += lengths[k];
      out.with_entries += lengths[k] > 0;
    }
    out.quads += 4 * int64{longest};
    out.longest = std::max<int64>(out.longest, longest);
  }
  for (index k = 0; k < rows_here.rows(); ++k) {
    const int64 row = rows.row_at(ranks.rank(), k), begin = rows_here.offset(k),
                length = rows_here.offset(k + 1) - begin;
    if (row % sampled_rows != 0 || length == 0) continue;
    const int64 away =
        rows_here.column_indices()[begin + length / 2] - row * rows_here.columns() / out.rows;
    ++out.looked_at;
    out.near += std::abs(away) <= rows_here.columns() / near_share;
  }
  out.looked_at = ranks.all_reduce(out.looked_at, joining::sum);
  out.near = ranks.all_reduce(out.near, joining::sum);
  return out;
}

/// The lists of the pairs, one behind another, then −1 and the columns; the pairs then have them on
/// the device.
void place_lists(fetch_plan& plan, place where) {
  std::vector<index> all;
  for (const fetch_pair& pair : plan.pairs) {
    all.insert(all.end(), pair.sent.begin(), pair.sent.end());
    all.insert(all.end(), pair.received.begin(), pair.received.end());
  }
  all.push_back(-1);
  all.insert(all.end(), plan.columns.begin(), plan.columns.end());
  plan.lists = buffer::borrow(all.data(), all.size() * sizeof(index)).to(where);
  const index* next = plan.lists.data<const index>();
  for (fetch_pair& pair : plan.pairs) {
    pair.sent_there = next;
    pair.received_there = next + pair.sent.size();
    next = pair.received_there + pair.received.size();
  }
}

}  // namespace

void place_plan(const communicator& ranks, const char* name, fetch_plan& plan, place where,
                const layout& rows, const pattern& rows_here) {
  const whole_rows whole = rows_of_whole(ranks, name, rows, rows_here);
  agree(ranks, name, [&] {
    plan.local = plan.local->to(where);
    place_lists(plan, where);
    plan.splits = backend_of(where).keep_whole(*plan.local, whole);
  });
}

namespace {

/// The rows that leave and that are staged, in all.
struct row_counts {
  std::size_t sent = 0, staged = 0, received = 0;
};
row_counts rows_that_travel(const fetch_plan& plan, int rank) {
  row_counts out;
  for (const fetch_pair& pair : plan.pairs) {
    if (pair.rank == rank) continue;
    out.sent += pair.sent.size();
    out.received += pair.received.size();
    if (!are_adjacent(pair.received)) out.staged += pair.received.size();
  }
  return out;
}

/// Lets the messages go through host memory: what is sent is copied, what comes lands there.
void go_by_host(fetch& of, std::size_t sent, std::size_t received) {
  of.on_host = buffer::allocate(sent + received);
  if (sent > 0) backend_of(of.sent.where()).copy(of.sent, of.on_host.first(sent));
  auto* next = of.on_host.data<unsigned char>();
  reserve(of.landing, of.receives.size());
  for (message& m : of.sends) {
    m.data = next;
    next += m.bytes;
  }
  for (message& m : of.receives) {
    of.landing.push_back(m.data);
    m.data = next;
    next += m.bytes;
  }
}

}  // namespace

fetch start_fetch(const fetch_plan& plan, const communicator& ranks, const row_array& x,
                  void* stream) {
  const place where = plan.where();
  const backend& by = backend_of(where);
  const stream_order in_order(where, stream, "mxm", {x.stream, plan.lists.stream()});
  const row_counts count = rows_that_travel(plan, ranks.rank());
  const std::size_t row = x.bytes;
  fetch of;
  of.stream = by.stream_for(where.device, stream);
  of.x = buffer::temporary(plan.columns.size() * row, where, of.stream);
  of.sent = buffer::temporary(count.sent * row, where, of.stream);
  of.staged = buffer::temporary(count.staged * row, where, of.stream);
  reserve(of.sends, plan.pairs.size());
  reserve(of.receives, plan.pairs.size());
  unsigned char *to = of.sent.data<unsigned char>(), *stage = of.staged.data<unsigned char>();
  unsigned char* const fetched = of.x.data<unsigned char>();
  for (const fetch_pair& pair : plan.pairs) {
    if (row == 0) continue;
    const auto sent = static_cast<int64>(pair.sent.size());
    const bool is_here = pair.rank == ranks.rank();
    by.move_rows(is_here ? fetched : to, is_here ? pair.received_there : nullptr, x.data,
                 pair.sent_there, x.stride, row, sent, where.device, of.stream);
    if (is_here) continue;
    if (sent > 0) of.sends.push_back({pair.rank, to, size(sent) * row});
    to += size(sent) * row;
    if (pair.received.empty()) continue;
    const std::size_t bytes = pair.received.size() * row;
    const bool is_direct = are_adjacent(pair.received);
    of.receives.push_back(
        {pair.rank, is_direct ? fetched + size(pair.received.front()) * row : stage, bytes});
    if (!is_direct) stage += bytes;
  }
  if (where != cpu() && !ranks.reaches_devices())
    go_by_host(of, count.sent * row, count.received * row);
  return of;
}

void finish_fetch(const fetch_plan& plan, fetch& of, int rank, std::size_t row_bytes) {
  const place where = plan.where();
  const stream_order in_order(where, of.stream, "mxm", {plan.lists.stream()});
  for (std::size_t k = 0; k < of.landing.size(); ++k) {
    const message& m = of.receives[k];
    backend_of(where).copy(buffer::borrow(m.data, m.bytes),
                           buffer::borrow(of.landing[k], m.bytes, where, of.stream));
  }
  const unsigned char* stage = of.staged.data<unsigned char>();
  for (const fetch_pair& pair : plan.pairs) {
    if (pair.rank == rank || row_bytes == 0 || are_adjacent(pair.received)) continue;
    backend_of(where).move_rows(of.x.data(), pair.received_there, stage, nullptr, row_bytes,
                                row_bytes, static_cast<int64>(pair.received.size()), where.device,
                                of.stream);
    stage += pair.received.size() * row_bytes;
  }
  of.sent = of.staged = of.on_host = buffer();
}

void name_columns(const fetch_plan& plan, int32* numbers, int64 count, void* stream) {
  if (plan.where() == cpu()) {
    for (int32& k : std::span(numbers, size(count)))
      if (k >= 0) k = plan.columns[size(k)];
    return;
  }
  const stream_order in_order(plan.where(), stream, "mxm", {plan.lists.stream()});
  const std::size_t before = plan.lists.bytes() / sizeof(index) - plan.columns.size();
  backend_of(plan.where())
      .move_rows(numbers, nullptr, plan.lists.data<const index>() + before, numbers, sizeof(index),
                 sizeof(index), count, plan.where().device, stream);
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
buffer gather_entries(const communicator& ranks, const layout& rows, Offset offset,
                      std::size_t bytes_each, const void* here, int64 entries_here) {
  buffer out;
  const received in = gather_parts(
      ranks, "mxm", here, size(entries_here) * bytes_each,
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

std::shared_ptr<const pattern> gather_pattern(const communicator& ranks, const layout& rows,
                                              const pattern& rows_here) {
  const std::vector<index> lengths = gather_lengths(ranks, "mxm", rows, rows_here);
  std::vector<int64> offsets;
  agree(ranks, "mxm", [&] { offsets = filled<int64>(size(rows.rows()) + 1); });
  std::copy(lengths.begin(), lengths.end(), offsets.begin() + 1);
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  const buffer columns = gather_entries(
      ranks, rows, [&](index row) { return offsets[size(row)]; }, sizeof(index),
      rows_here.column_indices(), rows_here.nnz());
  std::shared_ptr<const pattern> made;
  agree(ranks, "mxm", [&] {
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

plain_values gather_values(const communicator& ranks, const layout& rows, const pattern& whole,
                           int64 entries_here, std::size_t bytes_each, bool is_iso,
                           const void* values) {
  const plain_iso one = common_iso(ranks, "mxm", entries_here, bytes_each, is_iso, values);
  plain_values out{one.is_iso, {}};
  buffer spread;
  agree(ranks, "mxm", [&] {
    if (one.is_iso)
      out.values = repeated(one.value, bytes_each, 1);
    else if (is_iso)
      spread = repeated(values, bytes_each, entries_here);
  });
  if (out.is_iso) return out;
  out.values = gather_entries(
      ranks, rows, [&](index row) { return whole.offset(row); }, bytes_each,
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
