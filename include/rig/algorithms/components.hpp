#pragma once

/// @file
/// Weakly connected components.

#include <functional>

#include "rig/dense.hpp"
#include "rig/descriptor.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// What `components` may assume.
struct components_options {
  /// A equals its transpose, as the matrix of an undirected graph does: the arcs of the greatest
  /// component are not all read. It is not checked.
  bool symmetric = false;
  /// Called with 1 when all arcs are joined.
  std::function<void(int)> progress = {};
};

/// What `components` finds.
struct components_result {
  dense<int32> labels;  ///< n×1, where the graph lies: the smallest node of the component
  int64 count = 0;      ///< the number of components
  int iterations = 0;   ///< 1, or 0 without arcs
};

/// The weakly connected components: nodes that arcs join, in whichever direction.
///
///   label(i) = the least j that arcs of A ∪ Aᵀ join with i
///
/// Each arc hooks the tree of one end below the root of the other's, and paths are compressed.
/// Shapes: A n×n; its values are not read. Deterministic. A kernel's name is refused; the
/// descriptor's threads and stream go to all calls. Places: all; one wait. Cost: O(nnz + n) as a
/// rule. Throws error: shape, cannot, out_of_memory. Source: Sutton, Ben-Nun & Barak, IPDPS 2018;
/// Jaiganesh & Burtscher, HPDC 2018.
/// @code
/// const auto found = rig::components(A);
/// std::printf("%ld components; node 2 is in that of %d\n", found.count, found.labels(2, 0));
/// @endcode
components_result components(const matrix<bool>& a, const components_options& given = {},
                             const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
components_result components(const matrix<T>& a, const components_options& given = {},
                             const descriptor& desc = {}) {
  return components(a.with_value(true), given, desc);
}

}  // namespace rig
