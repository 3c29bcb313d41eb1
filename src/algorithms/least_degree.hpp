#pragma once

// The plain form of k-core. Not API.

#include "rig/dense.hpp"
#include "rig/pattern.hpp"

namespace rig {

/// The core number of each node of an undirected graph, by removal of a node of least degree after
/// the other, on one thread of the CPU. Time and memory: O(nnz + n). Source: Batagelj & Zaveršnik,
/// 2003.
dense<int32> cores_by_least_degree(const pattern& edges);

}  // namespace rig
