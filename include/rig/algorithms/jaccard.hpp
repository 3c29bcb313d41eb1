#pragma once

/// @file
/// Jaccard similarity.

#include <functional>

#include "rig/descriptor.hpp"
#include "rig/matrix.hpp"
#include "rig/vector.hpp"

namespace rig {

/// How `jaccard` and `jaccard_of_edges` run.
struct jaccard_options {
  /// Called after each step with its number, from 1 on, and the entries of its result: the
  /// undirected view, then the product.
  std::function<void(int, int64)> progress = {};
};

/// How much the neighbours of a node agree with those of each other node.
///
///   w(j) = |N(node) ∩ N(j)| / |N(node) ∪ N(j)|, where they have a common neighbour and j ≠ node
///
/// N(j) are j's neighbours in the undirected view without self loops. Shapes: A n×n, its values are
/// not read; w n. Deterministic. The descriptor's kernel goes to the product; threads and stream go
/// to all calls. Places: all. Cost: O(nnz + n). Throws error: shape, range, unknown_kernel, cannot,
/// out_of_memory. Source: Jaccard, 1901; Liben-Nowell & Kleinberg, CIKM 2003.
/// @code
/// const auto similar = rig::jaccard(A, 0);
/// std::printf("%ld nodes share a neighbour with node 0\n", similar.nnz());
/// @endcode
vector<double> jaccard(const matrix<bool>& a, int64 node, const jaccard_options& given = {},
                       const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
vector<double> jaccard(const matrix<T>& a, int64 node, const jaccard_options& given = {},
                       const descriptor& desc = {}) {
  return jaccard(a.with_value(true), node, given, desc);
}

/// The same of the two ends of each edge: an n×n matrix with the entries of the undirected view;
/// an edge without common neighbours has 0.
///
/// Cost: the sum of the squares of degrees at most; memory: O(nnz). Everything else is as above.
/// @code
/// const auto similarities = rig::jaccard_of_edges(A);
/// const auto close = rig::select(similarities, rig::selection::greater, 0.5);
/// @endcode
matrix<double> jaccard_of_edges(const matrix<bool>& a, const jaccard_options& given = {},
                                const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
matrix<double> jaccard_of_edges(const matrix<T>& a, const jaccard_options& given = {},
                                const descriptor& desc = {}) {
  return jaccard_of_edges(a.with_value(true), given, desc);
}

}  // namespace rig
