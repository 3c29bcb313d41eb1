#pragma once

#include <span>
#include <type_traits>

#include "rig/matrix.hpp"

namespace rig {

/// The undirected graph of a directed one: A ∪ Aᵀ.
///
///   C(i,j) = A(i,j) where A has that entry, else A(j,i)
///
/// Shapes: A n×n, C n×n. Deterministic for any number of threads; an iso A gives an iso C. Places:
/// cpu. Cost: O(n + nnz), one transpose of the pattern, which is not kept. T: float, double, int32,
/// int64, bool. Throws error: shape, place, out_of_memory.
template <class T>
matrix<T> symmetrise(const matrix<T>& a);

/// A with every diagonal entry present: a missing one gets `value`, a present one stays as it is.
///
/// Shapes: A n×n. Without a missing entry the result shares everything with A; an iso A stays iso
/// where `value` is its value. Places: cpu. Cost: O(n + nnz). T: float, double, int32, int64, bool.
/// Throws error: shape, place, out_of_memory.
template <class T>
matrix<T> add_self_loops(const matrix<T>& a, T value = T(1));

/// diag(factors) · A: row i times factors[i].
///
/// Shapes: factors.size() = rows. The result shares A's pattern and derived structures and has
/// values of its own. Integers wrap. Places: cpu. Cost: O(rows + nnz). T: float, double, int32,
/// int64. Throws error: shape, place, out_of_memory.
template <class T>
matrix<T> scale_rows(const matrix<T>& a, std::span<const std::type_identity_t<T>> factors);

/// A · diag(factors): column j times factors[j].
///
/// Shapes: factors.size() = columns. The rest is as in `scale_rows`.
template <class T>
matrix<T> scale_columns(const matrix<T>& a, std::span<const std::type_identity_t<T>> factors);

/// The operator of graph convolution: D^-½ (A + I) D^-½, D the row sums of A + I.
///
/// A + I is add_self_loops(A): a self loop that is there keeps its weight. Shapes: A n×n. Row sums
/// and products are computed in double and rounded once, and a symmetric A gives a result that is
/// symmetric to the bit. A row whose sum is not positive scales by 0. Places: cpu. Cost: O(n +
/// nnz). T: float, double. Throws error: shape, place, out_of_memory. Source: Kipf & Welling, ICLR
/// 2017.
template <class T>
matrix<T> gcn_normalise(const matrix<T>& a);

/// The operator of mean aggregation: D⁻¹ A, D the entries of each row.
///
///   C(i,j) = A(i,j) / n_i,  n_i = entries of row i of A
///
/// mxm(C, B, plus_times) is what mean_times is with A, or mean_second where every A(i,j) is 1, and
/// mxm(C, dC, plus_times, {.transpose_a = true}) the gradient of that by B. Shapes: as A. The
/// result shares A's pattern and derived structures and has values of its own. Deterministic.
/// Places: cpu. Cost: O(rows + nnz). T: float, double. Throws error: place, out_of_memory.
template <class T>
matrix<T> mean_normalise(const matrix<T>& a);

}  // namespace rig
