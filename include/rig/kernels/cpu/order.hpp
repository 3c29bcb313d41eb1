#pragma once

// The order in which the CPU kernels sum a column of C, by the columns of B: what a product keeps
// whose B is split by columns.

#include <vector>

#include "rig/kernels/cpu/tile.hpp"

namespace rig::on_cpu {

/// Columns of a whole tile where the kernels of S are compiled: of a builtin pair, in the library.
template <class S>
[[gnu::noinline]] int columns_of_tile() {
  return tile_columns<S>();
}

/// The order of the sums in a tile of so many columns.
enum class summation { strands, pairs, ascending };

template <class S>
summation summation_of(int64 columns) {
  using accum = typename S::accum;
  if (columns <= 1) return summation::strands;
  int64 width = 1;
  while (2 * width < columns) width *= 2;
  const bool is_narrow = width * static_cast<int64>(sizeof(accum)) <= 64;
  return is_float<accum> && is_narrow ? summation::pairs : summation::ascending;
}

/// Adjacent columns, and the number of columns of a product that sums them in the same order.
struct column_part {
  index first, count, computed;
};

/// Columns first … last of `columns`, in parts that need no other columns for the bits they have
/// in a product of all columns.
template <class S>
std::vector<column_part> column_parts(index first, index last, index columns) {
  const index tile = columns_of_tile<S>(), whole = columns - columns % tile;
  const auto computed = [&](index count, summation order) {
    // The last tile of the part; adding a column never leads back to an earlier order.
    const auto order_of = [&](index n) { return summation_of<S>(n % tile == 0 ? tile : n % tile); };
    while (order_of(count) != order) ++count;
    return count;
  };
  std::vector<column_part> parts;
  const auto add = [&](index from, index to, summation order) {
    if (from < to) parts.push_back({from, to - from, computed(to - from, order)});
  };
  add(first, last < whole ? last : whole, summation_of<S>(tile));
  add(first < whole ? whole : first, last, summation_of<S>(columns - whole));
  return parts;
}

}  // namespace rig::on_cpu
