#pragma once

/// @file
/// Betweenness centrality.

#include <functional>

#include "rig/dense.hpp"
#include "rig/descriptor.hpp"
#include "rig/kernels/integers.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// How `betweenness` divides its work.
struct betweenness_options {
  /// Sources between two calls of `progress`. Where products search them at once, memory grows with
  /// it: three arrays of batch × n numbers, and six on a device.
  int64 batch = 32;
  /// Called after each batch with the number of sources that are done.
  std::function<void(int64)> progress = {};
};

/// How many shortest paths from some sources lead through each node, by Brandes' algorithm.
///
///   c(v) = Σ_s Σ_t (paths from s to t through v) / (paths from s to t),  s ≠ v ≠ t
///
/// Their length is in arcs. A symmetric A counts each path twice. Shapes: A n×n, its values are not
/// read; the result n×1, where the graph lies. Graphs of fewer than four arcs per node are searched
/// by `bfs`, and paths summed by levels; others by products for a batch, which are dense on a
/// device if there are at most 32 levels. The descriptor's kernel is theirs, or that of `bfs`.
/// Deterministic for one batch. Places: all. If more than 10^308 paths end in a node, c is NaN at
/// most nodes. Cost: O(nnz + n) per source, and the transpose, which A keeps; by dense products 32
/// times as much at most. Throws error: shape, range, cannot, unknown_kernel, out_of_memory.
/// Source: Brandes, 2001; Buluç & Gilbert, 2011.
/// @code
/// const auto through = rig::betweenness(A, std::vector{0, 1});
/// std::printf("node 2: %g paths\n", through(2, 0));
/// @endcode
dense<double> betweenness(const matrix<bool>& a, const integers& sources,
                          const betweenness_options& given = {}, const descriptor& desc = {});
/// From every node.
dense<double> betweenness(const matrix<bool>& a, const betweenness_options& given = {},
                          const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
dense<double> betweenness(const matrix<T>& a, const integers& sources,
                          const betweenness_options& given = {}, const descriptor& desc = {}) {
  return betweenness(a.with_value(true), sources, given, desc);
}
/// From every node, for other values, which are not read.
template <class T>
dense<double> betweenness(const matrix<T>& a, const betweenness_options& given = {},
                          const descriptor& desc = {}) {
  return betweenness(a.with_value(true), given, desc);
}

}  // namespace rig
