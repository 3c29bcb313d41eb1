#pragma once

/// @file
/// Which rank has which rows: `layout`.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "rig/communicator.hpp"
#include "rig/pattern.hpp"

namespace rig {

/// Which rank has which rows of a matrix or a dense. A rank keeps its rows in ascending order. A
/// layout is immutable and cheap to copy, and it is the same on all ranks.
/// @code
/// const auto halves = rig::layout::contiguous(std::vector<int>{2, 2});
/// const auto odd_and_even = rig::layout::by_partition(std::vector<int>{1, 0, 1, 0}, 2);
/// @endcode
class layout {
 public:
  /// Copies, also in place of a move, so that every layout stays what it is.
  layout(const layout&) = default;
  /// The same.
  layout& operator=(const layout&) = default;

  /// Rank r has the rows_of_ranks[r] rows after those of rank r − 1. Throws error: range,
  /// out_of_memory.
  static layout contiguous(const integers& rows_of_ranks);
  /// The same from this rank's number of rows. Collective. Throws error, on all ranks: range,
  /// out_of_memory.
  static layout contiguous(const communicator& ranks, checked_index rows_here);
  /// Contiguous rows with like sums of entries and rows on each of `ranks` ranks; `whole` is the
  /// pattern of the whole matrix, on the CPU. Throws error: range, place, out_of_memory.
  /// @code
  /// const auto even = rig::layout::by_entries(A.structure(), 4);
  /// @endcode
  static layout by_entries(const pattern& whole, int ranks);
  /// Row i is on rank rank_of_row[i], as METIS and other partitioners write it. Throws error:
  /// range, out_of_memory.
  static layout by_partition(const integers& rank_of_row, int ranks);

  /// The number of rows of all ranks.
  index rows() const { return of_->rows; }
  /// The number of ranks.
  int ranks() const { return static_cast<int>(of_->first.size()) - 1; }
  /// The number of rows of a rank.
  index rows_of(int rank) const { return of_->first[at(rank) + 1] - of_->first[at(rank)]; }
  /// Row number `place` of a rank.
  index row_at(int rank, index place) const {
    const index number = of_->first[at(rank)] + place;
    return is_contiguous() ? number : of_->order[at(number)];
  }
  /// The rank that has a row, from 0 to rows() − 1: unchecked, as all numbers here are.
  int rank_of(index row) const;
  /// The number of a row among those of its rank.
  index place_of(index row) const {
    return is_contiguous() ? row - of_->first[at(rank_of(row))] : of_->place[at(row)];
  }
  /// Whether each rank's rows are adjacent, in the order of ranks.
  bool is_contiguous() const { return of_->rank.empty(); }

  /// Whether two layouts give each row to the same rank.
  friend bool operator==(const layout& x, const layout& y) {
    return x.of_ == y.of_ || (x.of_->first == y.of_->first && x.of_->rank == y.of_->rank);
  }
  /// @cond internal
  /// A number that other layouts do not have, with all likelihood.
  std::uint64_t hash() const { return of_->hash; }
  /// @endcond

 private:
  /// @cond internal
  struct tables {
    index rows = 0;
    std::vector<index> first;         ///< of rank r: its first row's number in the order of ranks
    std::vector<index> order, place;  ///< of a partition
    std::vector<int32> rank;          ///< the same; empty: contiguous
    std::uint64_t hash = 0;
  };
  /// @endcond
  explicit layout(tables of);
  template <class Integer>
  static std::size_t at(Integer number) {
    return static_cast<std::size_t>(number);
  }
  std::shared_ptr<const tables> of_;
};

}  // namespace rig
