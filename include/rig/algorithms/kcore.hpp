#pragma once

/// @file
/// Core numbers.

#include <functional>

#include "rig/dense.hpp"
#include "rig/descriptor.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// How `kcore` runs.
struct kcore_options {
  /// Called after each core with its number k and the number of nodes in greater cores. A plain
  /// loop reports the last core only.
  std::function<void(int, int64)> progress = {};
};

/// What `kcore` finds.
struct kcore_result {
  dense<int32> cores;  ///< n×1, where the graph lies: the core number of each node
  int most = 0;        ///< the greatest of them
};

/// The core number of each node: the greatest k with a subgraph in which it and all nodes have at
/// least k neighbours.
///
/// Peeling: for k = 0, 1, …, nodes of at most k neighbours leave, until all others have more. Once
/// steps have read A many times, as on long paths, one thread of the CPU removes a node of least
/// degree after the other instead. Shapes: A n×n; the graph is its undirected view without self
/// loops, values are not read. Exact. The descriptor's kernel goes to the products; threads and
/// stream go to all calls. Places: all. Cost: O(nnz + n · cores), and a wait per step. Throws
/// error: shape, unknown_kernel, cannot, out_of_memory. Source: Seidman, Social Networks 1983;
/// Batagelj & Zaveršnik, 2003.
/// @code
/// const auto found = rig::kcore(A);
/// std::printf("node 0 is in core %d of %d\n", found.cores(0, 0), found.most);
/// @endcode
kcore_result kcore(const matrix<bool>& a, const kcore_options& given = {},
                   const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
kcore_result kcore(const matrix<T>& a, const kcore_options& given = {},
                   const descriptor& desc = {}) {
  return kcore(a.with_value(true), given, desc);
}

}  // namespace rig
