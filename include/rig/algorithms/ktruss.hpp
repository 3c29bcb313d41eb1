#pragma once

/// @file
/// Trusses: subgraphs whose edges lie in many triangles.

#include <functional>

#include "rig/descriptor.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// What `ktruss` may assume.
struct ktruss_options {
  /// A equals its transpose, as the matrix of an undirected graph does. It is not checked.
  bool symmetric = false;
  /// Called after each round with its number, from 1 on, and the number of edges that are left.
  std::function<void(int, int64)> progress = {};
};

/// What `ktruss` finds.
struct ktruss_result {
  /// n×n, where the graph lies: both directions of each edge of the truss, with the number of
  /// triangles of the truss that it lies in.
  matrix<int64> truss;
  int rounds = 0;  ///< how many were made
};

/// The k-truss of the undirected view of a graph: the largest subgraph in which each edge lies in
/// at least k − 2 triangles.
///
///   S = (U ⊕.⊗ U)⟨U⟩ over plus_pair,  U ← the entries of S of at least k − 2, until all stay
///
/// Shapes: A n×n; an entry (i, j) or (j, i) is an edge, its value is not read, and self loops do
/// not count; k ≥ 3, because all edges are in the 2-truss. Exact. The descriptor's kernel goes to
/// the products; threads and stream go to all calls. Places: all; a wait per round. Cost: O(nnz ·
/// √nnz) at most per round. Throws error: shape, range, unknown_kernel, cannot, out_of_memory.
/// Source: Cohen, 2008; Davis, HPEC 2018.
/// @code
/// const auto found = rig::ktruss(A, 4);
/// std::printf("%ld edges in the 4-truss\n", found.truss.nnz() / 2);
/// @endcode
ktruss_result ktruss(const matrix<bool>& a, int64 k, const ktruss_options& given = {},
                     const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
ktruss_result ktruss(const matrix<T>& a, int64 k, const ktruss_options& given = {},
                     const descriptor& desc = {}) {
  return ktruss(a.with_value(true), k, given, desc);
}

}  // namespace rig
