// Rows of a sparse B that go to the ranks whose A names them.

#include "distributed/exchange.hpp"

namespace rig::over_ranks {
namespace {

void append(unsigned char*& to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  to += bytes;
}
void take(const unsigned char*& from, void* to, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  from += bytes;
}

/// Adds up the entries of the rows that go to, or come from, each rank.
template <class LengthOf>
std::vector<std::size_t> entries_of(const fetch_plan& plan, std::vector<index> fetch_pair::*rows,
                                    LengthOf length_of) {
  std::vector<std::size_t> out = filled<std::size_t>(plan.pairs.size());
  for (std::size_t rank = 0; rank < out.size(); ++rank)
    for (const index row : plan.pairs[rank].*rows) out[rank] += size(length_of(row));
  return out;
}

/// Calls copy(entries before, entries) for each of these rows.
template <class Copy>
void for_rows(const std::vector<index>& rows, const int64* offsets, Copy copy) {
  for (const index row : rows) copy(size(offsets[row]), size(offsets[row + 1] - offsets[row]));
}

/// The fetched rows in the order of the plan's columns; `offsets` are theirs.
sparse_rows unpacked(const fetch_plan& plan, const received& in, std::span<const int64> offsets,
                     index columns_of_b, std::size_t bytes_each) {
  sparse_rows out;
  const buffer columns = buffer::allocate(size(offsets.back()) * sizeof(index));
  out.values = buffer::allocate(size(offsets.back()) * bytes_each);
  for (const fetch_pair& pair : plan.pairs) {
    const unsigned char* from = in.from(pair.rank);
    for_rows(pair.received, offsets.data(), [&](std::size_t first, std::size_t count) {
      take(from, columns.data<index>() + first, count * sizeof(index));
    });
    for_rows(pair.received, offsets.data(), [&](std::size_t first, std::size_t count) {
      take(from, out.values.data<unsigned char>() + first * bytes_each, count * bytes_each);
    });
  }
  bool offsets_64 = false;
  buffer packed = pack_offsets(offsets, offsets_64);
  out.structure =
      std::make_shared<const pattern>(static_cast<index>(plan.columns.size()), columns_of_b,
                                      offsets.back(), std::move(packed), offsets_64, columns);
  return out;
}

/// The lengths of rows of B: of those here, and on their way of those that the plan names.
struct row_lengths_of {
  std::vector<int64> offsets;  ///< of the rows here
  std::vector<index> lengths;
  fetch moved;

  const index* finish(const fetch_plan& plan, int rank) {
    finish_fetch(plan, moved, rank, sizeof(index));
    return moved.x.data<const index>();
  }
};

row_lengths_of exchange_lengths(const communicator& ranks, const char* name, const fetch_plan& plan,
                                const pattern& rows_here) {
  row_lengths_of out;
  agree(ranks, name, [&] {
    out.offsets = filled<int64>(size(rows_here.rows()) + 1);
    out.lengths = filled<index>(size(rows_here.rows()));
    for (index k = 0; k < rows_here.rows(); ++k) {
      out.offsets[size(k) + 1] = rows_here.offset(k + 1);
      out.lengths[size(k)] = static_cast<index>(rows_here.offset(k + 1) - rows_here.offset(k));
    }
    out.moved = start_fetch(plan, ranks, {out.lengths.data(), sizeof(index), sizeof(index)});
  });
  ranks.exchange(out.moved.sends, out.moved.receives);
  return out;
}

}  // namespace

std::vector<int64> sparse_volumes(const communicator& ranks, const char* name,
                                  const fetch_plan& plan, const pattern& rows_here,
                                  std::size_t bytes_each) {
  row_lengths_of of = exchange_lengths(ranks, name, plan, rows_here);
  std::vector<int64> out;
  agree(ranks, name, [&] {
    const index* const of_rows = of.finish(plan, ranks.rank());
    const std::vector<std::size_t> entries =
        entries_of(plan, &fetch_pair::received, [&](index row) { return of_rows[row]; });
    out = filled<int64>(entries.size());
    for_others(ranks, [&](int from) {
      const std::size_t rows = plan.pairs[size(from)].received.size();
      out[size(from)] = static_cast<int64>(plain_iso_bytes + rows * sizeof(index) +
                                           entries[size(from)] * (sizeof(index) + bytes_each));
    });
  });
  return out;
}

sparse_rows fetch_sparse_rows(const communicator& ranks, const char* name, const fetch_plan& plan,
                              const pattern& rows_here, const void* values,
                              std::size_t bytes_each) {
  row_lengths_of of = exchange_lengths(ranks, name, plan, rows_here);
  std::vector<int64> fetched;  // offsets

  // A message has the columns of all its rows, then their values.
  const std::size_t entry_bytes = sizeof(index) + bytes_each;
  std::vector<std::size_t> sent, received_entries;
  const auto* const from_values = static_cast<const unsigned char*>(values);
  const parts entries = {
      [&](int rank) { return sent[size(rank)] * entry_bytes; },
      [&](int rank) { return received_entries[size(rank)] * entry_bytes; },
      [&](int rank, unsigned char* to) {
        const std::vector<index>& rows = plan.pairs[size(rank)].sent;
        for_rows(rows, of.offsets.data(), [&](std::size_t first, std::size_t count) {
          append(to, rows_here.column_indices() + first, count * sizeof(index));
        });
        for_rows(rows, of.offsets.data(), [&](std::size_t first, std::size_t count) {
          append(to, from_values + first * bytes_each, count * bytes_each);
        });
      }};
  const received in = exchange_parts(ranks, name, entries, [&] {
    const index* const of_rows = of.finish(plan, ranks.rank());
    fetched = filled<int64>(plan.columns.size() + 1);
    for (std::size_t k = 0; k < plan.columns.size(); ++k) fetched[k + 1] = fetched[k] + of_rows[k];
    sent = entries_of(plan, &fetch_pair::sent, [&](index row) { return of.lengths[size(row)]; });
    received_entries =
        entries_of(plan, &fetch_pair::received, [&](index row) { return of_rows[row]; });
  });

  sparse_rows out;
  agree(ranks, name, [&] { out = unpacked(plan, in, fetched, rows_here.columns(), bytes_each); });
  return out;
}

}  // namespace rig::over_ranks
