#pragma once

/// @file
/// Strongly connected components.

#include <functional>

#include "rig/dense.hpp"
#include "rig/descriptor.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// What `scc` reports.
struct scc_options {
  /// Called after each round with its number, from 1 on, and the arcs that are left.
  std::function<void(int, int64)> progress = {};
};

/// What `scc` finds.
struct scc_result {
  dense<int32> labels;  ///< n×1, where the graph lies: the smallest node of the component
  int64 count = 0;      ///< the number of components
  int rounds = 0;       ///< how many were made
};

/// The strongly connected components: nodes with a path to each other.
///
///   label(i) = the least j with paths i ⇝ j and j ⇝ i
///
/// The first round searches forwards and backwards from one node of many arcs. In the others each
/// node gets the least node that reaches it, and the least that it reaches: if both are one node,
/// that is the label. Arcs between nodes with other pairs are dropped. Once rounds have read A many
/// times, as on long paths, one thread of the CPU searches the rest in depth. Shapes: A n×n; its
/// values are not read. Deterministic. The descriptor's threads and stream go to the operations.
/// Places: all. Cost: O(nnz + n log n). Throws error: shape, cannot, out_of_memory. Source:
/// Fleischer et al., 2000; Orzan, 2004; Slota et al., IPDPS 2014; Tarjan, 1972.
/// @code
/// const auto found = rig::scc(A);
/// std::printf("%ld components; node 2 is in that of %d\n", found.count, found.labels(2, 0));
/// @endcode
scc_result scc(const matrix<bool>& a, const scc_options& given = {}, const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
scc_result scc(const matrix<T>& a, const scc_options& given = {}, const descriptor& desc = {}) {
  return scc(a.with_value(true), given, desc);
}

}  // namespace rig
