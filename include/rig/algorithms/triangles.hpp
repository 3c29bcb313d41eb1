#pragma once

/// @file
/// The number of triangles.

#include <functional>

#include "rig/descriptor.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// What `triangles` may assume.
struct triangles_options {
  /// A equals its transpose, as the matrix of an undirected graph does. It is not checked.
  bool symmetric = false;
  /// Called after each step with its number, from 1 on, and the entries of its result: L, then the
  /// product. Not called if A has no entries.
  std::function<void(int, int64)> progress = {};
};

/// The number of triangles of the undirected view of a graph: three nodes, an edge between each
/// two.
///
///   Σ (L ⊕.⊗ Lᵀ)⟨L⟩ over plus_pair; L has the arc of each edge that leads to the higher degree, or
///   to the lower index if degrees differ little
///
/// Shapes: A n×n; an entry (i, j) or (j, i) is an edge, its value is not read, and self loops do
/// not count. Exact. The descriptor's kernel goes to the product; threads and stream go to all
/// calls. Places: all. Cost: O(nnz · √nnz · log nnz) at most; memory: O(nnz). Throws error: shape,
/// unknown_kernel, cannot, out_of_memory. Source: Latapy, Theoretical Computer Science 2008; Azad
/// et al., IPDPSW 2015.
/// @code
/// const rig::int64 count = rig::triangles(A);
/// std::printf("%ld triangles\n", count);
/// @endcode
int64 triangles(const matrix<bool>& a, const triangles_options& given = {},
                const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
int64 triangles(const matrix<T>& a, const triangles_options& given = {},
                const descriptor& desc = {}) {
  return triangles(a.with_value(true), given, desc);
}

}  // namespace rig
