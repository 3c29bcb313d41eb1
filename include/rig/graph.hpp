#pragma once

/// @file
/// Graphs from graphs: both directions, self loops, scaling, normalisation and softmax.

#include <span>
#include <type_traits>

#include "rig/elementwise.hpp"

namespace rig {

/// @cond internal
/// The types that the functions below are compiled for, and one error for every other type.
template <class T>
inline constexpr bool is_weight = is_float<T> || is_integer<T> || is_same<T, bool>;
template <class T>
inline constexpr bool is_scalable = is_float<T> || is_integer<T>;
template <class T>
constexpr void refuse_weights() {
  static_assert(is_weight<T>,
                "this function takes float, double, int32, int64 or bool: convert with "
                "rig::apply<float>(A, rig::unary::identity)");
}
template <class T>
constexpr void refuse_factors() {
  static_assert(is_scalable<T>,
                "this function takes float, double, int32 or int64: convert with "
                "rig::apply<float>(A, rig::unary::identity)");
}
template <class T>
constexpr void refuse_normalised() {
  static_assert(is_float<T>,
                "this function takes float or double: convert with "
                "rig::apply<float>(A, rig::unary::identity), or A.with_value(1.0f)");
}
template <class T>
constexpr void refuse_scores() {
  static_assert(is_float<T> || is_small_float<T>,
                "this function takes float, double, half or bfloat16: convert with "
                "rig::apply<float>(A, rig::unary::identity)");
}
/// @endcond

/// The undirected graph of a directed one: A ∪ Aᵀ.
///
///   C(i,j) = A(i,j) if A has entry (i,j), else A(j,i)
///
/// Shapes: A n×n, C n×n. Deterministic for any number of threads; an iso A gives an iso C. Places:
/// all. Cost: O(n + nnz) and one transpose of the pattern, which is not kept. T: float, double,
/// int32, int64, bool. Throws error: shape, place, out_of_memory.
/// @code
/// const auto both = rig::symmetrise(A);
/// const auto sums = rig::mxm(both, B, rig::plus_times<float>{});
/// @endcode
template <class T>
matrix<T> symmetrise(const matrix<T>& a);
/// @cond internal
template <class T>
requires(!is_weight<T>) matrix<T> symmetrise(const matrix<T>& a) {
  refuse_weights<T>();
  return a;
}
/// @endcond

/// A with every diagonal entry present: a missing one gets `value`, a present one keeps its value.
///
/// Shapes: A n×n. If no entry is missing, the result shares everything with A. An iso A stays iso
/// if `value` is its value. Places: all. Cost: O(n + nnz). T: float, double, int32, int64, bool.
/// Throws error: shape, place, range (an integer T cannot hold `value`), out_of_memory.
/// @code
/// const auto with_loops = rig::add_self_loops(A);
/// const auto best = rig::mxm(with_loops, B, rig::max_second<float>{});
/// @endcode
template <class T>
matrix<T> add_self_loops(const matrix<T>& a, argument<T> value = T(1));
/// @cond internal
template <class T>
requires(!is_weight<T>) matrix<T> add_self_loops(const matrix<T>& a, argument<T> = {}) {
  refuse_weights<T>();
  return a;
}
/// @endcond

/// diag(factors) · A: row i times factors[i].
///
/// Shapes: factors.size() = rows. The result shares A's pattern and derived structures but not its
/// values. Integers wrap. Places: all. Cost: O(rows + nnz). T: float, double, int32, int64. Throws
/// error: shape, place, out_of_memory.
/// @code
/// const std::vector<float> factors(A.rows(), 0.5f);
/// const auto halved = rig::scale_rows(A, factors);
/// @endcode
template <class T>
matrix<T> scale_rows(const matrix<T>& a, std::span<const std::type_identity_t<T>> factors);
/// @cond internal
template <class T>
requires(!is_scalable<T>) matrix<T> scale_rows(const matrix<T>& a,
                                               std::span<const std::type_identity_t<T>>) {
  refuse_factors<T>();
  return a;
}
/// @endcond

/// A · diag(factors): column j times factors[j].
///
/// Shapes: factors.size() = columns. Everything else is as for `scale_rows`.
/// @code
/// const std::vector<float> factors(A.columns(), 0.5f);
/// const auto halved = rig::scale_columns(A, factors);
/// @endcode
template <class T>
matrix<T> scale_columns(const matrix<T>& a, std::span<const std::type_identity_t<T>> factors);
/// @cond internal
template <class T>
requires(!is_scalable<T>) matrix<T> scale_columns(const matrix<T>& a,
                                                  std::span<const std::type_identity_t<T>>) {
  refuse_factors<T>();
  return a;
}
/// @endcond

/// The operator of graph convolution: D^-½ (A + I) D^-½; D holds the row sums of A + I.
///
/// A + I is add_self_loops(A): an existing self loop keeps its weight. Shapes: A n×n. Row sums and
/// products are computed in double and rounded once, and a symmetric A gives an exactly symmetric
/// result. A row whose sum is not positive gets factor 0. Places: all. Cost: O(n + nnz). T: float,
/// double. Throws error: shape, place, out_of_memory. Source: Kipf & Welling, ICLR 2017.
/// @code
/// const auto convolution = rig::gcn_normalise(A);
/// const auto layer = rig::mxm(convolution, B, rig::plus_times<float>{});
/// @endcode
template <class T>
matrix<T> gcn_normalise(const matrix<T>& a);
/// @cond internal
template <class T>
requires(!is_float<T>) matrix<T> gcn_normalise(const matrix<T>& a) {
  refuse_normalised<T>();
  return a;
}
/// @endcond

/// The operator of mean aggregation: D⁻¹ A; D holds the number of entries of each row.
///
///   C(i,j) = A(i,j) / n_i,  n_i = entries of row i of A
///
/// mxm(C, B, plus_times) equals mean_times with A, or mean_second if every A(i,j) is 1. Its
/// gradient by B is mxm(C, dC, plus_times, {.transpose_a = true}). Shapes: as A. The result shares
/// A's pattern and derived structures but not its values. Deterministic. Places: all. Cost: O(rows
/// + nnz). T: float, double. Throws error: place, out_of_memory.
/// @code
/// const auto mean = rig::mean_normalise(A);
/// const auto dX = rig::mxm(mean, dC, rig::plus_times<float>{}, {.transpose_a = true});
/// @endcode
template <class T>
matrix<T> mean_normalise(const matrix<T>& a);

/// @cond internal
template <class T>
requires(!is_float<T>) matrix<T> mean_normalise(const matrix<T>& a) {
  refuse_normalised<T>();
  return a;
}
inline descriptor untransposed(descriptor desc) {
  desc.transpose_a = false;
  return desc;
}
/// @endcond

/// The weights of attention: the softmax of each row's entries.
///
///   C(i,j) = e^(A(i,j) − g_i) / Σ_k e^(A(i,k) − g_i),  g_i = the greatest A(i,k)
///
/// Shapes: as A. The result shares A's pattern and derived structures. Half and bfloat16 are
/// computed as floats. A row with NaN or +∞, or with −∞ alone, gives NaN. Deterministic. Places:
/// all. Cost: O(rows + nnz). T: float, double, half, bfloat16. Throws error: shape, place,
/// out_of_memory.
/// @code
/// const auto attention = rig::edge_softmax(A);
/// const auto messages = rig::mxm(attention, B, rig::plus_times<float>{});
/// @endcode
template <class T>
matrix<T> edge_softmax(const matrix<T>& a, const descriptor& desc = {});
/// @cond internal
template <class T>
requires(!is_float<T> && !is_small_float<T>) matrix<T> edge_softmax(const matrix<T>& a,
                                                                    const descriptor& = {}) {
  refuse_scores<T>();
  return a;
}
/// @endcond
/// The same under a mask, which selects entries of the result.
template <class T, mask_like Mask>
matrix<T> edge_softmax(const matrix<T>& a, const Mask& mask, const descriptor& desc = {}) {
  return apply(edge_softmax(a, desc), unary::identity, mask, untransposed(desc));
}
/// Into C, under a mask.
template <class C, class T, mask_like Mask>
void edge_softmax(matrix<C>& c, accumulator accum, const matrix<T>& a, const Mask& mask,
                  const descriptor& desc = {}) {
  apply(c, accum, edge_softmax(a, desc), unary::identity, mask, untransposed(desc));
}
/// Into C.
template <class C, class T>
void edge_softmax(matrix<C>& c, accumulator accum, const matrix<T>& a,
                  const descriptor& desc = {}) {
  edge_softmax(c, accum, a, no_mask(), desc);
}

}  // namespace rig
