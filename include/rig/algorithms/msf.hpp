#pragma once

/// @file
/// Minimum spanning forests.

#include <functional>

#include "rig/elementwise.hpp"

namespace rig {

/// How `msf` runs.
struct msf_options {
  /// Called after each round with its number, from 1 on, and the number of edges between
  /// trees.
  std::function<void(int, int64)> progress = {};
};

/// What `msf` finds.
struct msf_result {
  matrix<double> forest;  ///< n×n, where the graph lies: entry (i, j), i < j, is an edge of weight
  double weight = 0;      ///< the sum of the weights
  int rounds = 0;         ///< how many were made
};

/// A minimum spanning forest: a spanning tree of least weight in each component.
///
/// In each round every tree takes the lightest edge that leaves it, and trees with a common edge
/// become one; of equal weights the edge with the lower ends counts, the lesser end first. Shapes:
/// A n×n; an entry (i, j) or (j, i) is an edge, the lesser of two values its weight; self loops do
/// not count. Exact and deterministic, except that the sum is rounded. The descriptor's threads and
/// stream go to all calls. Places: all; waits in each round. Cost: O((nnz + n) log n). Throws
/// error: shape; range, for NaN; cannot, for a kernel's name; out_of_memory. Source: Borůvka, 1926.
/// @code
/// const auto found = rig::msf(A);
/// std::printf("%ld edges of weight %g\n", found.forest.nnz(), found.weight);
/// @endcode
msf_result msf(const matrix<double>& a, const msf_options& given = {}, const descriptor& desc = {});
/// The same for other values, which are converted to double.
template <class T>
msf_result msf(const matrix<T>& a, const msf_options& given = {}, const descriptor& desc = {}) {
  const descriptor other{.threads = desc.threads, .stream = desc.stream};
  if constexpr (require_weights<T>())
    return in_name_of("msf",
                      [&] { return msf(apply<double>(a, unary::identity, other), given, desc); });
  else
    return msf_result();
}

}  // namespace rig
