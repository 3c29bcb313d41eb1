#pragma once

/// @file
/// Matchings: entries of which no two share a row or a column.

#include <functional>

#include "rig/dense.hpp"
#include "rig/descriptor.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// Options of `bipartite_matching`.
struct bipartite_matching_options {
  /// Called after each phase with its number, from 1 on, and the size of the matching so far.
  std::function<void(int, int64)> progress = {};
};

/// What `bipartite_matching` finds.
struct bipartite_matching_result {
  dense<index> columns;  ///< m×1, where A lies: the column that each row is matched with; −1: none
  dense<index> rows;  ///< n×1, where A lies: the row that each column is matched with; −1: none
  int64 size = 0;     ///< how many pairs there are
  int phases = 0;     ///< how many were made
};

/// A greatest set of entries of which no two share a row or a column: rows are one side of a
/// bipartite graph, columns the other.
///
/// Shapes: A m×n; values are not read. There may be several greatest matchings; which one is found
/// depends on A alone. The search is a plain loop, by one thread of the CPU; the arcs of a device
/// are copied there. Of the descriptor only the stream has an effect. Places: all. Cost: O(nnz ·
/// √(m + n)) time, O(m + n) memory. Throws error: cannot, out_of_memory. Source: Hopcroft and Karp,
/// 1973.
/// @code
/// const auto found = rig::bipartite_matching(A);
/// std::printf("%ld pairs\n", long(found.size));
/// @endcode
bipartite_matching_result bipartite_matching(const matrix<bool>& a,
                                             const bipartite_matching_options& given = {},
                                             const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
bipartite_matching_result bipartite_matching(const matrix<T>& a,
                                             const bipartite_matching_options& given = {},
                                             const descriptor& desc = {}) {
  return bipartite_matching(a.with_value(true), given, desc);
}

}  // namespace rig
