// Entries go to the ranks that have their rows.

#include <optional>

#include "distributed/exchange.hpp"

namespace rig::over_ranks {
namespace {

/// The numbers of the entries by the rank that has their row, in ascending order.
std::vector<std::vector<int64>> by_owner(const layout& rows, const std::vector<index>& of) {
  std::vector<std::vector<int64>> out(size(rows.ranks()));
  for (std::size_t p = 0; p < of.size(); ++p)
    out[size(rows.rank_of(of[p]))].push_back(static_cast<int64>(p));
  return out;
}

/// How many entries each rank sends to this one.
std::vector<int64> counts_from(const communicator& ranks, const char* name,
                               const std::vector<std::vector<int64>>& owned) {
  std::vector<int64> counts;
  const parts of = {[](int) { return sizeof(int64); }, [](int) { return sizeof(int64); },
                    [&](int rank, unsigned char* to) {
                      const auto count = static_cast<int64>(owned[size(rank)].size());
                      std::memcpy(to, &count, sizeof(count));
                    }};
  const received in =
      exchange_parts(ranks, name, of, [&] { counts = filled<int64>(size(ranks.size())); });
  for (int rank = 0; rank < ranks.size(); ++rank)
    std::memcpy(&counts[size(rank)], in.from(rank), sizeof(int64));
  return counts;
}

/// Writes rows, columns and values of some entries, one array after the other.
void pack(const entry_batch& from, std::size_t value_bytes, const std::vector<int64>& numbers,
          unsigned char* to) {
  const auto put = [&](const void* array, std::size_t bytes) {
    for (const int64 p : numbers) {
      std::memcpy(to, static_cast<const unsigned char*>(array) + size(p) * bytes, bytes);
      to += bytes;
    }
  };
  put(from.rows.data(), sizeof(index));
  put(from.columns.data(), sizeof(index));
  if (value_bytes > 0) put(from.values.data(), value_bytes);
}

}  // namespace

entry_batch deliver(const communicator& ranks, const char* name, const layout& rows,
                    const entry_batch& from, std::size_t value_bytes) {
  std::vector<std::vector<int64>> owned;
  agree(ranks, name, [&] { owned = by_owner(rows, from.rows); });
  const std::vector<int64> counts = counts_from(ranks, name, owned);
  const std::size_t entry_bytes = 2 * sizeof(index) + value_bytes;
  entry_batch out;
  const parts of = {
      [&](int rank) { return owned[size(rank)].size() * entry_bytes; },
      [&](int rank) { return size(counts[size(rank)]) * entry_bytes; },
      [&](int rank, unsigned char* to) { pack(from, value_bytes, owned[size(rank)], to); }};
  const received in = exchange_parts(ranks, name, of, [&] {
    std::size_t sum = 0;
    for (const int64 count : counts) sum += size(count);
    out.rows = filled<index>(sum);
    out.columns = filled<index>(sum);
    out.values = buffer::allocate(sum * value_bytes);
  });
  std::size_t done = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const std::size_t count = size(counts[size(rank)]);
    const unsigned char* at = in.from(rank);
    const auto take = [&](unsigned char* to, std::size_t bytes) {
      if (count * bytes > 0) std::memcpy(to + done * bytes, at, count * bytes);
      at += count * bytes;
    };
    take(reinterpret_cast<unsigned char*>(out.rows.data()), sizeof(index));
    take(reinterpret_cast<unsigned char*>(out.columns.data()), sizeof(index));
    take(out.values.data<unsigned char>(), value_bytes);
    done += count;
  }
  return out;
}

layout layout_by_lengths(const communicator& ranks, const char* name,
                         std::span<const int64> lengths) {
  // Each rank adds up a slice of the rows, and then all get all sums.
  const auto rows = static_cast<int64>(lengths.size());
  const auto first = [&](int rank) { return size(rows * rank / ranks.size()); };
  const auto bytes = [&](int rank) { return (first(rank + 1) - first(rank)) * sizeof(int64); };
  const int here = ranks.rank();
  std::vector<int64> sums, offsets;
  const parts slices = {bytes, [&](int) { return bytes(here); },
                        [&](int rank, unsigned char* to) {
                          std::memcpy(to, lengths.data() + first(rank), bytes(rank));
                        }};
  const received in = exchange_parts(ranks, name, slices, [&] {
    sums = filled<int64>(bytes(here) / sizeof(int64));
    offsets = filled<int64>(lengths.size() + 1);
  });
  for (int rank = 0; rank < ranks.size(); ++rank)
    for (std::size_t k = 0; k < sums.size(); ++k) {
      int64 length = 0;
      std::memcpy(&length, in.from(rank) + k * sizeof(int64), sizeof(length));
      sums[k] += length;
    }
  const received all = gather_parts(ranks, name, sums.data(), bytes(here), bytes, nothing);
  if (rows > 0) std::memcpy(&offsets[1], all.all.data(), lengths.size() * sizeof(int64));
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  std::optional<layout> made;
  agree(ranks, name, [&] {
    bool offsets_64 = false;
    buffer packed = pack_offsets(offsets, offsets_64);
    // by_entries reads offsets only.
    const pattern whole(static_cast<index>(rows), 0, offsets.back(), std::move(packed), offsets_64,
                        buffer());
    made = layout::by_entries(whole, ranks.size());
  });
  return *std::move(made);
}

}  // namespace rig::over_ranks
