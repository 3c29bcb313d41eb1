#pragma once

/// @file
/// Orders of the nodes of a graph: `reorder`, `permute` and `entries_per_tile`.

#include <span>
#include <vector>

#include "rig/rearrange.hpp"

namespace rig {

/// How `reorder` numbers nodes.
enum class ordering {
  loa,     ///< windows of 16 rows that share columns; Source: Li et al., HC-SpMM, ICDE 2025
  degree,  ///< rows with the most entries first, equal ones in their order
  rcm,     ///< reverse Cuthill–McKee: neighbours get near numbers; Source: George & Liu, 1981
};

/// @cond internal
dense<index> reorder_nodes(const matrix<bool>& a, ordering by);
/// The inverse of `positions`, which must be a permutation of 0 … n − 1.
std::vector<index> order_of_positions(std::span<const index> positions, index n);
double entries_per_tile(const pattern& structure);
/// @endcond

/// The new position of each node: an n×1 dense p, node i of A becomes node p(i).
///
///   loa: the next row of a window maximises entries / distinct columns of the window
///
/// Shapes: A n×n. `rcm` takes A ∪ Aᵀ. Only the pattern counts. Deterministic for any number of
/// threads. Places: cpu. Cost: loa at most 19·nnz counts and 300·n quotients, and 25 bytes per
/// entry; rcm sorts rows, and walks on one thread. Throws error: shape, place, range,
/// out_of_memory.
/// @code
/// const auto positions = rig::reorder(A, rig::ordering::loa);
/// const auto renumbered = rig::permute(A, positions);
/// @endcode
template <class T>
dense<index> reorder(const matrix<T>& a, ordering by) {
  return reorder_nodes(matrix<bool>(a.shared_structure()), by);
}

/// The graph with its nodes renumbered: C(p(i), p(j)) = A(i,j).
///
/// p is a `dense` of `reorder`, or any list of the new positions, in host memory; the lists of
/// `extract` are its inverse, so extract(C, p, p) is A again. Shapes: A n×n, n positions. Products
/// of permuted operands equal the permuted product up to rounding. Places: all. Cost: O(n + nnz)
/// and a sort of each row. Throws error: shape, range, duplicate, place, out_of_memory.
/// @code
/// const auto reversed = rig::permute(A, std::vector{2, 1, 0});
/// const auto again = rig::extract(reversed, std::vector{2, 1, 0}, std::vector{2, 1, 0});
/// @endcode
template <class T>
matrix<T> permute(const matrix<T>& a, std::span<const index> positions) {
  if (a.rows() != a.columns())
    fail(errc::shape, {"permute: A is ", a.rows(), "x", a.columns(),
                       ", not square; rows and columns alone are permuted by extract"});
  return or_out_of_memory("permute", [&] {
    const std::vector<index> order = order_of_positions(positions, a.rows());
    return extract(a, order, order);
  });
}

/// A dense with its rows moved: C(p(i), j) = X(i,j). Otherwise as for a matrix.
/// @code
/// const auto moved = rig::permute(B, std::vector{2, 1, 0});
/// const auto back = rig::extract(moved, std::vector{2, 1, 0}, rig::all);
/// @endcode
template <class T>
dense<T> permute(const dense<T>& x, std::span<const index> positions) {
  return or_out_of_memory("permute", [&] {
    const std::vector<index> order = order_of_positions(positions, x.rows());
    return extract(x, order, all);
  });
}

/// How densely windows of 16 rows are filled: entries per tile of 16 rows and 8 columns, if each
/// window keeps only the columns that it has.
///
///   nnz / Σ_windows ⌈distinct columns / 8⌉, 0 without entries
///
/// Places: cpu. Cost: O(nnz) and columns / 8 bytes per thread. Throws error: place, out_of_memory.
/// @code
/// const auto positions = rig::reorder(A, rig::ordering::loa);
/// std::printf("%g\n", rig::entries_per_tile(rig::permute(A, positions)));
/// @endcode
template <class T>
double entries_per_tile(const matrix<T>& a) {
  return entries_per_tile(a.structure());
}

}  // namespace rig
