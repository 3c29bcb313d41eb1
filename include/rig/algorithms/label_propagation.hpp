#pragma once

/// @file
/// Communities by label propagation.

#include <functional>

#include "rig/dense.hpp"
#include "rig/descriptor.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// When `label_propagation` stops.
struct label_propagation_options {
  int64 iterations = 10;  ///< stops then, or earlier if no label changes
  /// Called after each iteration with its number, from 1 on, and the number of labels that changed.
  std::function<void(int, int64)> progress = {};
};

/// What `label_propagation` finds.
struct label_propagation_result {
  dense<index> labels;    ///< n×1, where the graph lies: the label of each node, a node's number
  int64 communities = 0;  ///< the number of different labels
  int iterations = 0;     ///< how many were made
};

/// Communities: in each iteration every node takes the label that most of its neighbours have.
///
///   label(i) = argmax_l (number of neighbours of i with label l); the smallest of several l
///
/// The first label of a node is its number; all nodes change at once. Shapes: A n×n; an entry is an
/// arc, its value is not read. A neighbour by arcs in both directions counts twice, as LDBC
/// Graphalytics defines it; a self loop too. Deterministic. The descriptor's kernel goes to
/// the sparse product; threads and stream go to all calls. Places: all. Cost: O(nnz + n) per
/// iteration; memory: O(nnz). Throws error: shape, range, unknown_kernel, cannot, out_of_memory.
/// Source: Raghavan et al., Physical Review E 2007; Iosup et al., VLDB 2016.
/// @code
/// const auto found = rig::label_propagation(A, {.iterations = 5});
/// std::printf("%ld communities\n", found.communities);
/// @endcode
label_propagation_result label_propagation(const matrix<bool>& a,
                                           const label_propagation_options& given = {},
                                           const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
label_propagation_result label_propagation(const matrix<T>& a,
                                           const label_propagation_options& given = {},
                                           const descriptor& desc = {}) {
  return label_propagation(a.with_value(true), given, desc);
}

}  // namespace rig
