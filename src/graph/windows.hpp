#pragma once

#include <cstdint>
#include <vector>

#include "rig/matrix.hpp"

namespace rig {

inline constexpr index window_rows = 16;  ///< rows of a window, and of a tile
inline constexpr index tile_columns = 8;

/// The columns that a window has, one bit each.
class column_set {
 public:
  explicit column_set(index columns) : words_((static_cast<std::size_t>(columns) + 63) / 64, 0) {}

  /// Adds a column; false if the set had it.
  bool insert(index column) {
    std::uint64_t& word = words_[static_cast<std::size_t>(column) / 64];
    const std::uint64_t bit = std::uint64_t{1} << (column % 64);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }
  /// Removes the columns of a row, and perhaps others: the set is cleared row by row.
  void clear_row(const pattern& a, index row) {
    for (int64 p = a.offset(row); p < a.offset(row + 1); ++p)
      words_[static_cast<std::size_t>(a.column_indices()[p]) / 64] = 0;
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// The nodes in the order of LOA (layout reorganisation), A n×n on the CPU.
std::vector<index> loa_order(const matrix<bool>& a);

/// 0 … n − 1 by ascending key(i) in 0 … most; equal keys stay in order.
template <class Key>
std::vector<index> sorted_by(index n, int64 most, Key key) {
  std::vector<index> begin(static_cast<std::size_t>(most) + 2, 0),
      order(static_cast<std::size_t>(n));
  for (index i = 0; i < n; ++i) ++begin[static_cast<std::size_t>(key(i)) + 1];
  for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
  for (index i = 0; i < n; ++i)
    order[static_cast<std::size_t>(begin[static_cast<std::size_t>(key(i))]++)] = i;
  return order;
}

}  // namespace rig
