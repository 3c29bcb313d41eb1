#pragma once

/// @file
/// Orders of the nodes of a graph: `reorder`, `permute`, `entries_per_tile`, and `explain`.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rig/mxm.hpp"
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
std::vector<index> order_of_positions(const integers& positions, index n);
/// The elements of one column. Throws error(shape) for several.
std::span<const index> column_of_positions(const dense<index>& positions);
double entries_per_tile(const pattern& structure);
/// Milliseconds of some work until its place has finished it.
double elapsed_ms(place where, const std::function<void()>& work);
/// The same of a product, the median of some after the first.
double product_ms(place where, const std::function<void()>& product);
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
/// p is a `dense` of one column, as `reorder` gives it, or any list of the new positions, of any
/// integer type, in host memory; the lists of `extract` are its inverse, so extract(C, p, p) is A
/// again. Shapes: A n×n, n positions. Products of permuted operands equal the permuted product up
/// to rounding. Places: all. Cost: O(n + nnz) and a sort of each row. Throws error: shape, range,
/// duplicate, place, out_of_memory.
/// @code
/// const auto reversed = rig::permute(A, std::vector{2, 1, 0});
/// const auto again = rig::extract(reversed, std::vector{2, 1, 0}, std::vector{2, 1, 0});
/// @endcode
template <class T>
matrix<T> permute(const matrix<T>& a, const integers& positions) {
  if (a.rows() != a.columns())
    fail(errc::shape, {"permute: A is ", a.rows(), "x", a.columns(),
                       ", not square; rows and columns alone are permuted by extract"});
  return or_out_of_memory("permute", [&] {
    const std::vector<index> order = order_of_positions(positions, a.rows());
    return extract(a, order, order);
  });
}

/// The same by the positions of `reorder`.
template <class T>
matrix<T> permute(const matrix<T>& a, const dense<index>& positions) {
  return permute(a, column_of_positions(positions));
}

/// A dense with its rows moved: C(p(i), j) = X(i,j). Otherwise as for a matrix.
/// @code
/// const auto moved = rig::permute(B, std::vector{2, 1, 0});
/// const auto back = rig::extract(moved, std::vector{2, 1, 0}, rig::all);
/// @endcode
template <class T>
dense<T> permute(const dense<T>& x, const integers& positions) {
  return or_out_of_memory("permute", [&] {
    const std::vector<index> order = order_of_positions(positions, x.rows());
    return extract(x, order, all);
  });
}
/// The same by the positions of `reorder`.
template <class T>
dense<T> permute(const dense<T>& x, const dense<index>& positions) {
  return permute(x, column_of_positions(positions));
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

/// What an order of nodes costs and gains: what `explain` measures.
struct order_explanation {
  double order_ms = 0;  ///< of `reorder`, `permute` of the graph and B, and `prepare`
  double entries_per_tile_before = 0;  ///< of A
  double entries_per_tile_after = 0;   ///< of the reordered A
  double product_ms_before = 0;        ///< the median of some calls with A
  double product_ms_after = 0;         ///< the median of some calls with the reordered A
  std::string kernel_before;           ///< the kernel that A takes
  std::string kernel_after;            ///< the kernel that the reordered A takes

  /// The number of products until the order has paid; infinity if a product is not faster by a
  /// twentieth: smaller differences count as noise.
  double products_to_pay() const;
  /// The same in three lines.
  std::string text() const;
};

/// Explains an order: reorders a copy of A, and measures C = op(A) ⊕.⊗ op(B) before and after,
/// where A lies. This runs products.
///
/// The derived structures of the kernel that A takes are built for the copy too, and their time
/// counts to the order; so do windows with desc.kernel = "hybrid". Shapes: A n×n, op(B) n×f.
/// Places: both in one. Cost: that of `reorder`, two copies of A, some products. Throws error as
/// `reorder` and `mxm`.
/// @code
/// const rig::plus_times<float> s;
/// std::puts(rig::explain(A, B, s, rig::ordering::loa).text().c_str());
/// @endcode
template <class T, class B, class S>
order_explanation explain(const matrix<T>& a, const dense<B>& b, S s, ordering by,
                          const descriptor& desc = {}) {
  return or_out_of_memory("explain", [&] {
    order_explanation out;
    matrix<T> here, renumbered, moved;
    dense<B> features;
    out.order_ms = elapsed_ms(a.where(), [&] {
      here = a.to(cpu());
      const auto positions = reorder(here, by);
      renumbered = permute(here, positions);
      moved = renumbered.to(a.where());
      features = desc.transpose_b ? extract(b, all, order_of_positions(positions.span(), a.rows()))
                                  : permute(b, positions);
    });
    auto c = mxm(a, b, s, desc);
    out.kernel_before = explain(a, b, s, desc).chosen;
    out.product_ms_before = product_ms(a.where(), [&] { mxm(c, none, a, b, s, desc); });
    out.order_ms += elapsed_ms(a.where(), [&] {
      moved.prepare({.transpose_a = desc.transpose_a, .kernel = out.kernel_before});
    });
    out.entries_per_tile_before = entries_per_tile(here);
    out.entries_per_tile_after = entries_per_tile(renumbered);
    out.kernel_after = explain(moved, features, s, desc).chosen;
    out.product_ms_after = product_ms(a.where(), [&] { mxm(c, none, moved, features, s, desc); });
    return out;
  });
}

}  // namespace rig
