#pragma once

/// @file
/// Hubs and authorities.

#include <functional>

#include "rig/dense.hpp"
#include "rig/descriptor.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// When `hits` stops.
struct hits_options {
  double tolerance = 1e-10;      ///< stops when the hubs change by less, in sum; 0: never
  int64 most_iterations = 2000;  ///< stops then in any case
  /// Called after each iteration with its number, from 1 on, and the change.
  std::function<void(int, double)> progress = {};
};

/// What `hits` finds.
struct hits_result {
  /// n×1, where the graph lies; the sum of each is 1, or 0 if the graph has no arcs.
  dense<double> hubs, authorities;
  int iterations = 0;  ///< how many were made
  double change = 0;   ///< Σ |h − h_before| of the last one
};

/// How good nodes are as hubs, with arcs to good authorities, and as authorities, with arcs from
/// good hubs.
///
///   a(j) ∝ Σ_i h(i) over arcs i → j,  h(i) ∝ Σ_j a(j) over arcs i → j
///
/// The iteration begins with equal hubs. Shapes: A n×n; its values are not read. Deterministic. The
/// descriptor's kernel, threads, stream and reproducible go to the products. Places: all; two waits
/// per iteration. Cost: O(nnz + n) per iteration, and the transpose, which A keeps. Throws error:
/// shape, range, unknown_kernel, cannot, out_of_memory. Source: Kleinberg, Journal of the ACM 1999.
/// @code
/// const auto found = rig::hits(A);
/// std::printf("node 0: hub %g, authority %g\n", found.hubs(0, 0), found.authorities(0, 0));
/// @endcode
hits_result hits(const matrix<bool>& a, const hits_options& given = {},
                 const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
hits_result hits(const matrix<T>& a, const hits_options& given = {}, const descriptor& desc = {}) {
  return hits(a.with_value(true), given, desc);
}

}  // namespace rig
