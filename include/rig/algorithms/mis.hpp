#pragma once

/// @file
/// Maximal independent sets.

#include <functional>

#include "rig/descriptor.hpp"
#include "rig/matrix.hpp"
#include "rig/vector.hpp"

namespace rig {

/// Which set `mis` finds.
struct mis_options {
  int64 seed = 1;  ///< another seed gives other priorities
  /// Called after each round with its number, from 1 on, and the number of undecided nodes.
  std::function<void(int, int64)> progress = {};
};

/// What `mis` finds.
struct mis_result {
  vector<bool> set;  ///< an entry per node of the set, where the graph lies
  int rounds = 0;    ///< how many were made
};

/// A maximal independent set: no two of its nodes are neighbours, and each other node has a
/// neighbour in it.
///
/// Each node has a random priority. In each round the nodes join whose undecided neighbours all
/// have lower priorities; their neighbours leave. The set is that of a loop over the nodes in
/// descending priority. Shapes: A n×n; the graph is its undirected view without self loops, values
/// are not read. Deterministic for a seed, in all places. The descriptor's kernel goes to the
/// products; threads and stream go to all calls. Places: all. Cost: O(nnz + n), and O(log² n)
/// rounds, each with waits. Throws error: shape, unknown_kernel, cannot, out_of_memory. Source:
/// Luby, SIAM Journal on Computing 1986; Blelloch et al., SPAA 2012.
/// @code
/// const auto found = rig::mis(A);
/// std::printf("%ld nodes\n", found.set.nnz());
/// @endcode
mis_result mis(const matrix<bool>& a, const mis_options& given = {}, const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
mis_result mis(const matrix<T>& a, const mis_options& given = {}, const descriptor& desc = {}) {
  return mis(a.with_value(true), given, desc);
}

}  // namespace rig
