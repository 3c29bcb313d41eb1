#pragma once

// A search in depth, by one thread of the CPU. Not API.

#include "rig/dense.hpp"
#include "rig/pattern.hpp"

namespace rig {

/// The least node of the strong component of each node, n×1: Tarjan's algorithm, O(nnz + n).
/// The pattern is n×n, on the CPU.
dense<int32> labels_in_depth(const pattern& arcs);

}  // namespace rig
