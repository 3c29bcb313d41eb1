// Fetches of rows of X: their plans, on the CPU and where A lies, and the moves of one product.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "distributed/exchange.hpp"
#include "rig/kernels/problem.hpp"
#include "storage/backend.hpp"

namespace rig::over_ranks {
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
  if (where() == cpu()) {
    std::size_t kept = 0;
    for (const buffer& each : memory) kept += each.bytes();
    return numbers * sizeof(index) + kept;
  }
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
  int64 received = 0;
  for (const fetch_pair& pair : plan.pairs)
    if (pair.rank != ranks.rank()) received += static_cast<int64>(pair.received.size());
  plan.most_received = ranks.all_reduce(received, joining::greatest);
}

whole_pattern gather_whole(const communicator& ranks, const char* name, place where,
                           const layout& rows, const pattern& rows_here) {
  whole_pattern out;
  out.there = out.on_host = gather_pattern(ranks, name, rows, rows_here);
  if (where == cpu()) return out;
  const whole_rows whole = rows_of_whole(ranks, name, rows, rows_here);
  agree(ranks, name, [&] {
    out.there = out.on_host->to(where);
    out.splits = backend_of(where).keep_whole(*out.there, whole);
  });
  return out;
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

/// Memory of a fetch: on the CPU that of one that has ended, if it suffices.
buffer memory_for(const fetch_plan& plan, std::size_t bytes, void* stream) {
  if (plan.where() != cpu()) return buffer::temporary(bytes, plan.where(), stream);
  if (bytes == 0) return {};
  for (const buffer& each : plan.memory)
    if (each.bytes() >= bytes && !each.is_shared()) return each.first(bytes);
  std::erase_if(plan.memory, [](const buffer& each) { return !each.is_shared(); });
  return plan.memory.emplace_back(buffer::allocate(bytes));
}

/// A fetch whose rows are not packed yet. With `like`, it has the memory of that one but for x.
fetch make_fetch(const fetch_plan& plan, int rank, std::size_t row, void* stream,
                 const fetch* like = nullptr) {
  const row_counts count = rows_that_travel(plan, rank);
  fetch of;
  of.stream = stream;
  of.x = memory_for(plan, plan.columns.size() * row, stream);
  of.sent = like ? like->sent : memory_for(plan, count.sent * row, stream);
  of.staged = like ? like->staged : memory_for(plan, count.staged * row, stream);
  reserve(of.sends, plan.pairs.size());
  reserve(of.receives, plan.pairs.size());
  unsigned char *to = of.sent.data<unsigned char>(), *stage = of.staged.data<unsigned char>();
  unsigned char* const fetched = of.x.data<unsigned char>();
  for (const fetch_pair& pair : plan.pairs) {
    if (row == 0 || pair.rank == rank) continue;
    const std::size_t sent = pair.sent.size() * row, bytes = pair.received.size() * row;
    if (sent > 0) of.sends.push_back({pair.rank, to, sent});
    to += sent;
    if (bytes == 0) continue;
    const bool is_direct = are_adjacent(pair.received);
    of.receives.push_back(
        {pair.rank, is_direct ? fetched + size(pair.received.front()) * row : stage, bytes});
    if (!is_direct) stage += bytes;
  }
  return of;
}

/// Copies the rows that leave to where they are sent from, and those that stay to the fetched X.
void pack_rows(const fetch_plan& plan, int rank, const row_array& x, const fetch& of) {
  const place where = plan.where();
  unsigned char* to = of.sent.data<unsigned char>();
  for (const fetch_pair& pair : plan.pairs) {
    if (x.bytes == 0) continue;
    const bool is_here = pair.rank == rank;
    backend_of(where).move_rows(is_here ? of.x.data<unsigned char>() : to,
                                is_here ? pair.received_there : nullptr, x.data, pair.sent_there,
                                x.stride, x.bytes, static_cast<int64>(pair.sent.size()),
                                where.device, of.stream);
    if (!is_here) to += pair.sent.size() * x.bytes;
  }
}

/// Puts staged rows in their places.
void place_rows(const fetch_plan& plan, int rank, std::size_t row, const fetch& of) {
  const unsigned char* stage = of.staged.data<unsigned char>();
  for (const fetch_pair& pair : plan.pairs) {
    if (pair.rank == rank || row == 0 || are_adjacent(pair.received)) continue;
    backend_of(plan.where())
        .move_rows(of.x.data(), pair.received_there, stage, nullptr, row, row,
                   static_cast<int64>(pair.received.size()), plan.where().device, of.stream);
    stage += pair.received.size() * row;
  }
}

}  // namespace

fetch start_fetch(const fetch_plan& plan, const communicator& ranks, const row_array& x,
                  void* stream) {
  const place where = plan.where();
  const stream_order in_order(where, stream, "mxm", {x.stream, plan.lists.stream()});
  fetch of =
      make_fetch(plan, ranks.rank(), x.bytes, backend_of(where).stream_for(where.device, stream));
  pack_rows(plan, ranks.rank(), x, of);
  if (where != cpu() && !ranks.reaches_devices()) {
    const row_counts count = rows_that_travel(plan, ranks.rank());
    go_by_host(of, count.sent * x.bytes, count.received * x.bytes);
  }
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
  place_rows(plan, rank, row_bytes, of);
  of.sent = of.staged = of.on_host = buffer();
}

namespace {

constexpr int64 least_slice_bytes = 16 << 20;  ///< for the largest receiver; docs/lab/ranks.md
constexpr int most_slices = 4;

}  // namespace

bool is_worth_slices(const communicator& ranks, const fetch_plan& plan, std::size_t row_bytes) {
  return ranks.reaches_devices() &&
         plan.most_received * static_cast<int64>(row_bytes) >= 2 * least_slice_bytes;
}

int slices_of(const fetch_plan& plan, problem& p, std::size_t row_bytes) {
  const backend& by = backend_of(plan.where());
  p.oriented = p.structure;
  p.planned_columns = p.b.columns;
  by.find_statistics(p);
  const index tile = by.tile_columns(p);
  const int64 bytes = plan.most_received * static_cast<int64>(row_bytes);
  int slices = 1;
  while (tile > 0 && 2 * slices <= most_slices && bytes >= 2 * slices * least_slice_bytes &&
         p.b.columns % (2 * slices * tile) == 0)
    slices *= 2;
  return slices;
}

void fetch_in_slices(const communicator& ranks, const fetch_plan& plan, const row_array& x,
                     int slices, void* stream, const callback<void>& begin,
                     const callback<void, int, const buffer&>& multiply) {
  const place where = plan.where();
  const backend& by = backend_of(where);
  const std::size_t bytes = x.bytes / size(slices);
  std::shared_ptr<void> travels;
  void* computes = nullptr;
  std::vector<fetch> moved;  // of two slices: one travels while the other is multiplied
  // They end before `moved`, which the stream of what travels frees: after the products.
  std::optional<stream_order> after_operands, after_products;
  agree(ranks, "mxm", [&] {
    travels = by.transfer_stream(where.device);
    computes = by.stream_for(where.device, stream);
    after_operands.emplace(where, travels.get(), "mxm",
                           std::initializer_list<void*>{x.stream, plan.lists.stream(), computes});
    after_products.emplace(where, computes, "mxm", std::initializer_list<void*>{travels.get()});
    begin();
    reserve(moved, 2);
    while (moved.size() < 2)
      moved.push_back(make_fetch(plan, ranks.rank(), bytes, travels.get(),
                                 moved.empty() ? nullptr : &moved.front()));
  });
  attempt here;
  for (int k = 0; k < slices; ++k) {
    fetch& slice = moved[size(k % 2)];
    const auto* const all = static_cast<const unsigned char*>(x.data);
    const row_array columns = {all != nullptr ? all + size(k) * bytes : all, x.stride, bytes};
    here.run([&] { pack_rows(plan, ranks.rank(), columns, slice); });
    ranks.exchange(slice.sends, slice.receives, travels.get());
    here.run([&] {
      place_rows(plan, ranks.rank(), bytes, slice);
      // Its begin lets this product wait for the rows. Its end lets the next rows wait for the
      // product before this one, because they take its memory.
      const stream_order after_rows(where, computes, "mxm", {travels.get()});
    });
    here.run([&] { multiply(k, slice.x); });
  }
  conclude(ranks, "mxm", here.why());
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

}  // namespace rig::over_ranks
