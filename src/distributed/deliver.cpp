// Entries go to the ranks that have their rows: those of a file, and those of a transpose.

#include <optional>

#include "distributed/exchange.hpp"

namespace rig::over_ranks {
delivery exchange_counts(const communicator& ranks, const char* name,
                         const callback<std::vector<std::vector<int64>>>& sent) {
  delivery out;
  const parts counts = {[](int) { return sizeof(int64); }, [](int) { return sizeof(int64); },
                        [&](int rank, unsigned char* to) {
                          const auto count = static_cast<int64>(out.sent[size(rank)].size());
                          std::memcpy(to, &count, sizeof(count));
                        }};
  const received in = exchange_parts(ranks, name, counts, [&] {
    out.sent = sent();
    out.received = filled<int64>(size(ranks.size()));
  });
  for (int rank = 0; rank < ranks.size(); ++rank)
    std::memcpy(&out.received[size(rank)], in.from(rank), sizeof(int64));
  return out;
}

delivery deliver_to_rows(const communicator& ranks, const char* name, const layout& rows,
                         std::span<const index> row_of_entry) {
  return exchange_counts(ranks, name, [&] {
    std::vector<std::vector<int64>> sent(size(ranks.size()));
    for (std::size_t p = 0; p < row_of_entry.size(); ++p)
      sent[size(rows.rank_of(row_of_entry[p]))].push_back(static_cast<int64>(p));
    return sent;
  });
}

buffer deliver(const communicator& ranks, const char* name, const delivery& by,
               const void* elements, std::size_t bytes_each) {
  const parts of = {[&](int rank) { return by.sent[size(rank)].size() * bytes_each; },
                    [&](int rank) { return size(by.received[size(rank)]) * bytes_each; },
                    [&](int rank, unsigned char* to) {
                      take_elements(elements, bytes_each, by.sent[size(rank)], to);
                    }};
  return exchange_parts(ranks, name, of, nothing).all;
}

std::size_t turn_plan::bytes() const {
  std::size_t numbers = order.size();
  for (const std::vector<int64>& list : by.sent) numbers += list.size();
  return numbers * sizeof(int64) + size(structure->nnz()) * sizeof(index);
}

std::shared_ptr<const turn_plan> make_turn_plan(const communicator& ranks, const char* name,
                                                const layout& rows_of_a, const pattern& rows_here,
                                                const layout& rows) {
  const std::span<const index> columns(rows_here.column_indices(), size(rows_here.nnz()));
  std::vector<index> row_of_entry;
  std::shared_ptr<turn_plan> plan;
  agree(ranks, name, [&] {
    reserve(row_of_entry, columns.size());
    for (index k = 0; k < rows_here.rows(); ++k)
      row_of_entry.insert(row_of_entry.end(), size(rows_here.offset(k + 1) - rows_here.offset(k)),
                          rows_of_a.row_at(ranks.rank(), k));
    plan = std::make_shared<turn_plan>(turn_plan{rows, {}, {}, nullptr});
  });
  plan->by = deliver_to_rows(ranks, name, rows, columns);
  const buffer to = deliver(ranks, name, plan->by, columns.data(), sizeof(index)),
               from = deliver(ranks, name, plan->by, row_of_entry.data(), sizeof(index));
  agree(ranks, name, [&] {
    const std::span<const index> inner(from.data<const index>(), from.bytes() / sizeof(index));
    std::vector<index> places = filled<index>(inner.size());
    for (std::size_t p = 0; p < places.size(); ++p)
      places[p] = rows.place_of(to.data<const index>()[p]);
    sorted_tuples sorted =
        sort_tuples(rows.rows_of(ranks.rank()), rows_of_a.rows(), places, inner, false);
    plan->structure = std::move(sorted.structure);
    plan->order = std::move(sorted.order);
  });
  return plan;
}

buffer turn_values(const communicator& ranks, const char* name, const turn_plan& plan,
                   const void* values, std::size_t bytes_each) {
  const buffer came = deliver(ranks, name, plan.by, values, bytes_each);
  buffer out;
  agree(ranks, name, [&] {
    out = buffer::allocate(came.bytes());
    take_elements(came.data(), bytes_each, plan.order, out.data());
  });
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
