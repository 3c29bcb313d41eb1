#pragma once

/// @file
/// The eccentricity of nodes, and bounds of the diameter.

#include <functional>

#include "rig/dense.hpp"
#include "rig/descriptor.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// How `eccentricity` divides its work.
struct eccentricity_options {
  int64 batch = 64;  ///< sources that are searched at once, which take batch × n levels of memory
  /// Called after each batch with the number of sources that are done.
  std::function<void(int64)> progress = {};
};

/// The greatest number of steps from each source to a node that it reaches.
///
///   e(k) = max_j level(sources[k], j) over the nodes j that sources[k] reaches
///
/// Shapes: A n×n; entry (i, j) is an arc i → j, and its value is not read; K sources of any integer
/// type; the result K×1, where the graph lies. Exact. The descriptor's kernel goes to the products,
/// threads and stream go to all calls. Places: all. Cost: that of `multi_source` per batch. Throws
/// error: shape, range, unknown_kernel, cannot, out_of_memory. Source: Then et al., VLDB 2014.
/// @code
/// const auto found = rig::eccentricity(A, std::vector{0, 2});
/// std::printf("from 0 %d steps, from 2 %d\n", found(0, 0), found(1, 0));
/// @endcode
dense<int32> eccentricity(const matrix<bool>& a, const integers& sources,
                          const eccentricity_options& given = {}, const descriptor& desc = {});
/// From every node.
dense<int32> eccentricity(const matrix<bool>& a, const eccentricity_options& given = {},
                          const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
dense<int32> eccentricity(const matrix<T>& a, const integers& sources,
                          const eccentricity_options& given = {}, const descriptor& desc = {}) {
  return eccentricity(a.with_value(true), sources, given, desc);
}
/// From every node, for other values, which are not read.
template <class T>
dense<int32> eccentricity(const matrix<T>& a, const eccentricity_options& given = {},
                          const descriptor& desc = {}) {
  return eccentricity(a.with_value(true), given, desc);
}

/// How `diameter_bound` searches.
struct diameter_options {
  /// A equals its transpose, as the matrix of an undirected graph does. It is not checked.
  bool symmetric = false;
  int64 most_sweeps = 4;  ///< stops then, or earlier if both bounds meet
  /// Called after each sweep with its number, from 1 on, and the difference of the bounds.
  std::function<void(int, int64)> progress = {};
};

/// What `diameter_bound` finds.
struct diameter_result {
  int64 lower = 0, upper = 0;  ///< the diameter is at least and at most so many steps
  index node = 0;              ///< whose eccentricity is `lower`
  int sweeps = 0;              ///< how many were made
};

/// Bounds of the diameter of a node's component: the most steps between two of its nodes, in the
/// undirected view.
///
///   max_s e(s) ≤ diameter ≤ 2 · min_s e(s) over the nodes s that are searched from
///
/// A sweep searches from a farthest node of the last search, from a node farthest from that one,
/// and from the middle of a shortest path between both. Shapes: A n×n, its values are not read.
/// Deterministic. The descriptor's kernel goes to the searches, as to `bfs`, threads and stream to
/// all calls. Places: all. Cost: O(nnz + n) per search. Throws error: shape, range, unknown_kernel,
/// cannot, out_of_memory. Source: Crescenzi et al., Theoretical Computer Science 2013.
/// @code
/// const auto found = rig::diameter_bound(A, 0);
/// std::printf("the diameter is from %ld to %ld\n", found.lower, found.upper);
/// @endcode
diameter_result diameter_bound(const matrix<bool>& a, int64 source,
                               const diameter_options& given = {}, const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
diameter_result diameter_bound(const matrix<T>& a, int64 source, const diameter_options& given = {},
                               const descriptor& desc = {}) {
  return diameter_bound(a.with_value(true), source, given, desc);
}

}  // namespace rig
