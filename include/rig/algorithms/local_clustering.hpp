#pragma once

/// @file
/// Local clustering coefficients.

#include <functional>

#include "rig/dense.hpp"
#include "rig/descriptor.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// How `local_clustering` runs.
struct local_clustering_options {
  /// Whether arcs between neighbours count one by one, as LDBC Graphalytics defines it. A node's
  /// neighbours are those of the undirected view in any case.
  bool directed = false;
  /// Called after each step with its number, from 1 on, and the entries of its result: the
  /// undirected view, then each product.
  std::function<void(int, int64)> progress = {};
};

/// How much of a node's neighbourhood is connected: the share of pairs of neighbours with an edge.
///
///   c(i) = 2 · triangles(i) / (d(i) · (d(i) − 1)), or arcs(i) / (d(i) · (d(i) − 1)) if directed
///
/// d(i) is the number of neighbours; c(i) is 0 if d(i) < 2. Shapes: A n×n; an entry is an arc, its
/// value is not read, and self loops do not count; the result n×1. Deterministic. The descriptor's
/// kernel goes to the products; threads and stream go to all calls. Places: all. Cost: O(nnz ·
/// √nnz) at most. Throws error: shape, unknown_kernel, cannot, out_of_memory. Source: Watts &
/// Strogatz, Nature 1998; Iosup et al., VLDB 2016.
/// @code
/// const auto coefficients = rig::local_clustering(A);
/// std::printf("node 0: %g\n", coefficients(0, 0));
/// @endcode
dense<double> local_clustering(const matrix<bool>& a, const local_clustering_options& given = {},
                               const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
dense<double> local_clustering(const matrix<T>& a, const local_clustering_options& given = {},
                               const descriptor& desc = {}) {
  return local_clustering(a.with_value(true), given, desc);
}

}  // namespace rig
