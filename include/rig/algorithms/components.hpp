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
  /// A equals its transpose, as the matrix of an undirected graph does: the transpose is not built.
  /// It is not checked.
  bool symmetric = false;
  /// Called after each iteration with its number, from 1 on.
  std::function<void(int)> progress = {};
};

/// What `components` finds.
struct components_result {
  dense<int32> labels;  ///< n×1, where the graph lies: the smallest node of the component
  int64 count = 0;      ///< the number of components
  int iterations = 0;   ///< how many were made
};

/// The weakly connected components: nodes that arcs join, in whichever direction.
///
///   label(i) = the least j that arcs of A ∪ Aᵀ join with i
///
/// Shapes: A n×n; its values are not read. Deterministic. The descriptor's kernel, threads and
/// stream go to the products. Places: all; one wait per iteration. Cost: O(nnz + n) per iteration,
/// of which there are O(log n) as a rule, and unless symmetric the transpose, which A keeps. Throws
/// error: shape, unknown_kernel, cannot, out_of_memory. Source: Zhang, Azad & Buluç, FastSV, 2020.
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
