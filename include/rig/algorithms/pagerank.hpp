#pragma once

/// @file
/// PageRank.

#include <functional>

#include "rig/dense.hpp"
#include "rig/descriptor.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// When `pagerank` stops, how often a walk follows an arc, and where it jumps to.
struct pagerank_options {
  double damping = 0.85;         ///< the chance of following an arc; in [0, 1)
  double tolerance = 1e-10;      ///< stops when the ranks change by less, in sum; 0: never
  int64 most_iterations = 2000;  ///< stops then in any case
  /// n×1, where the graph lies: how often a jump leads to each node, in proportion; at least 0.
  /// 0×0: to all alike.
  dense<double> personalised = {};
  /// Called after each iteration with its number, from 1 on, and the change.
  std::function<void(int, double)> progress = {};
};

/// What `pagerank` finds.
struct pagerank_result {
  dense<double> ranks;  ///< n×1, where the graph lies; their sum is 1, unless n is 0
  int iterations = 0;   ///< how many were made
  double change = 0;    ///< Σ |r − r_before| of the last one
};

/// How often a random walk along the arcs meets each node.
///
///   r(j) = d · Σ_i r(i)/arcs(i) over arcs i → j + (1 − d + d · Σ r(i) over i without arcs) · p(j)
///
/// p(j) is 1/n, or the share of j in `personalised`. Shapes: A n×n; entry (i, j) is an arc i → j,
/// and its value is not read. Deterministic. The descriptor's kernel, threads, stream and
/// reproducible go to the products. Places: all; one wait per iteration. Cost: O(nnz + n) per
/// iteration, and the transpose, which A keeps. Throws error: shape, range, place, unknown_kernel,
/// cannot, out_of_memory. Source: Page et al., 1999.
/// @code
/// const auto found = rig::pagerank(A);
/// std::printf("%d iterations, rank of node 0: %g\n", found.iterations, found.ranks(0, 0));
/// @endcode
pagerank_result pagerank(const matrix<bool>& a, const pagerank_options& given = {},
                         const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
pagerank_result pagerank(const matrix<T>& a, const pagerank_options& given = {},
                         const descriptor& desc = {}) {
  return pagerank(a.with_value(true), given, desc);
}

}  // namespace rig
