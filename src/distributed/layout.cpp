// layout: which rank has which rows.

#include "rig/layout.hpp"

#include <algorithm>
#include <optional>

#include "distributed/hash.hpp"
#include "rig/kernels/cpu/row.hpp"
#include "rig/kernels/problem.hpp"
#include "rig/kernels/ranks.hpp"
#include "storage/integers.hpp"
#include "storage/room.hpp"

namespace rig {
namespace {

void check_ranks(int ranks) {
  if (ranks < 1) fail(errc::range, {"layout: ", ranks, " is no number of ranks; pass at least 1"});
}

}  // namespace

layout::layout(tables of) {
  of.rows = of.first.back();
  over_ranks::hashed hash;
  hash.add(of.first);
  hash.add(of.rank);
  of.hash = hash.value();
  of_ = std::make_shared<const tables>(std::move(of));
}

layout layout::contiguous(const integers& rows_of_ranks) {
  return or_out_of_memory("layout", [&] {
    check_ranks(static_cast<int>(rows_of_ranks.size()));
    tables of;
    reserve(of.first, rows_of_ranks.size() + 1);
    of.first.push_back(0);
    with_type(rows_of_ranks, [&](const auto& numbers) {
      for (std::size_t r = 0; r < numbers.size; ++r) {
        const auto number = numbers[r];
        const index left = highest<index>() - of.first.back();
        if (number < 0 || static_cast<std::uint64_t>(number) > static_cast<std::uint64_t>(left))
          fail(errc::range, {"layout: rank ", r, " has ", number, " rows after ", of.first.back(),
                             "; a layout has 0 … ", highest<index>(), " rows"});
        of.first.push_back(of.first.back() + static_cast<index>(number));
      }
    });
    return layout(std::move(of));
  });
}

layout layout::contiguous(const communicator& ranks, checked_index rows_here) {
  int64 rows = 0;
  over_ranks::agree(ranks, "layout", [&] { rows = rows_here.as(nullptr, "the number of rows"); });
  const auto all = over_ranks::gather_numbers(ranks, "layout", std::span(&rows, 1));
  std::optional<layout> made;
  over_ranks::agree(ranks, "layout", [&] { made = contiguous(all); });
  return *std::move(made);
}

layout layout::by_entries(const pattern& whole, int ranks) {
  check_ranks(ranks);
  if (whole.where() != cpu())
    fail(errc::place, {"layout: the pattern is on ", to_string(whole.where()),
                       "; copy it with .to(rig::cpu())"});
  return or_out_of_memory("layout", [&] {
    const sparse_operand rows = view(whole);
    tables of;
    reserve(of.first, size(ranks) + 1);
    for (int r = 0; r <= ranks; ++r) of.first.push_back(on_cpu::first_row_of(rows, r, ranks));
    return layout(std::move(of));
  });
}

layout layout::by_partition(const integers& rank_of_row, int ranks) {
  check_ranks(ranks);
  return or_out_of_memory("layout", [&] {
    const index rows = checked_index(rank_of_row.size()).as("layout", "the number of rows");
    tables of;
    of.first = filled<index>(size(ranks) + 1);
    of.rank = filled<int32>(size(rows));
    with_type(rank_of_row, [&](const auto& numbers) {
      for (std::size_t i = 0; i < numbers.size; ++i) {
        const auto number = numbers[i];
        if (number < 0 || static_cast<std::uint64_t>(number) >= static_cast<std::uint64_t>(ranks))
          fail(errc::range, {"layout: row ", i, " is on rank ", number, ", outside 0 … ", ranks - 1,
                             "; give each row the number of its rank"});
        of.rank[i] = static_cast<int32>(number);
        ++of.first[static_cast<std::size_t>(number) + 1];
      }
    });
    for (std::size_t r = 1; r < of.first.size(); ++r) of.first[r] += of.first[r - 1];
    if (std::is_sorted(of.rank.begin(), of.rank.end())) {
      of.rank = {};  // a contiguous layout, which equals one that is made so
      return layout(std::move(of));
    }
    of.order = filled<index>(size(rows));
    of.place = filled<index>(size(rows));
    std::vector<index> taken = filled<index>(size(ranks));
    for (index i = 0; i < rows; ++i) {
      const std::size_t rank = at(of.rank[at(i)]);
      of.place[at(i)] = taken[rank]++;
      of.order[at(of.first[rank] + of.place[at(i)])] = i;
    }
    return layout(std::move(of));
  });
}

int layout::rank_of(index row) const {
  if (!is_contiguous()) return of_->rank[at(row)];
  const auto after = std::upper_bound(of_->first.begin(), of_->first.end(), row);
  return static_cast<int>(after - of_->first.begin()) - 1;
}

}  // namespace rig
