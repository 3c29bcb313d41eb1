#pragma once

/// @file
/// Products of a matrix with one column: `mxv` and `vxm`.

#include <utility>

#include "rig/mxm.hpp"
#include "rig/vector.hpp"

namespace rig {

/// @cond internal
template <class T>
struct plus_times;
template <class T>
struct plus_pair;
template <class T>
struct min_plus;
template <class T>
struct max_plus;
template <class T>
struct max_times;
template <class T>
struct min_max;
template <class T>
struct max_min;
template <class T>
struct lor_land;
template <class T>
struct any_pair;
template <class T>
struct mean_times;

/// Whether a semiring of rig multiplies in any order: then vxm runs the kernels of mxm.
template <class S>
inline constexpr bool commutes = false;
template <class T>
inline constexpr bool commutes<plus_times<T>> = true;
template <class T>
inline constexpr bool commutes<plus_pair<T>> = true;
template <class T>
inline constexpr bool commutes<min_plus<T>> = true;
template <class T>
inline constexpr bool commutes<max_plus<T>> = true;
template <class T>
inline constexpr bool commutes<max_times<T>> = true;
template <class T>
inline constexpr bool commutes<min_max<T>> = true;
template <class T>
inline constexpr bool commutes<max_min<T>> = true;
template <class T>
inline constexpr bool commutes<lor_land<T>> = true;
template <class T>
inline constexpr bool commutes<any_pair<T>> = true;
template <class T>
inline constexpr bool commutes<mean_times<T>> = true;

/// The semiring of vxm over S, as a product of Aᵀ with the column.
template <class S>
using over_column = std::conditional_t<commutes<S>, S, flipped<S>>;

/// Throws unless u is a column of `rows` rows; `a` is the shape that A has.
template <class T, class A>
void require_column(const char* operation, const dense<T>& u, const matrix<A>& a, index rows) {
  if (u.columns() != 1)
    fail(errc::shape, {operation, ": u is ", u.rows(), "x", u.columns(), "; give one column"});
  if (u.rows() != rows)
    fail(errc::shape, {operation, ": u is ", u.rows(), "x1, A is ", a.rows(), "x", a.columns(),
                       "; give a column of ", rows, " rows"});
}
/// The descriptor of mxv as a product, after its checks.
template <class T, class A>
descriptor of_mxv(const matrix<A>& a, const dense<T>& u, const descriptor& desc) {
  if (desc.transpose_b)
    fail(errc::cannot, {"mxv: u is a dense, which is not transposed; leave transpose_b unset"});
  require_column("mxv", u, a, desc.transpose_a ? a.rows() : a.columns());
  return desc;
}
/// The same of vxm, whose second operand A is the first of the product.
template <class T, class A>
descriptor of_vxm(const dense<T>& u, const matrix<A>& a, descriptor desc) {
  if (desc.transpose_a)
    fail(errc::cannot, {"vxm: u is a dense, which is not transposed; leave transpose_a unset"});
  require_column("vxm", u, a, desc.transpose_b ? a.columns() : a.rows());
  desc.transpose_a = !desc.transpose_b;
  desc.transpose_b = false;
  return desc;
}
/// @endcond

/// Matrix × column: w = A ⊕.⊗ u, the product `mxm` with one column.
///
///   w(i) = ⊕_k A(i,k) ⊗ u(k)
///
/// Shapes: op(A) m×n, u n×1, w m×1; a sparse vector of size m masks w. Everything else is as for
/// `mxm`.
/// @code
/// const auto u = rig::dense<float>(A.columns(), 1, 1.0f);
/// const auto w = rig::mxv(A, u, rig::plus_times<float>{});
/// @endcode
template <class Element = void, class TA, class TU, class S, mask_like Mask>
auto mxv(const matrix<TA>& a, const dense<TU>& u, S, const Mask& mask,
         const descriptor& desc = {}) {
  return mxm_creating<Element, S>(a, u, mask, of_mxv(a, u, desc), "mxv");
}
/// The same without a mask.
template <class Element = void, class TA, class TU, class S>
auto mxv(const matrix<TA>& a, const dense<TU>& u, S, const descriptor& desc = {}) {
  return mxm_creating<Element, S>(a, u, no_mask(), of_mxv(a, u, desc), "mxv");
}
/// Into w, under a mask.
template <class W, class TA, class TU, class S, mask_like Mask>
void mxv(W& w, accumulator accum, const matrix<TA>& a, const dense<TU>& u, S, const Mask& mask,
         const descriptor& desc = {}) {
  mxm_into<S>(w, accum, a, u, mask, of_mxv(a, u, desc), "mxv");
}
/// Into w.
template <class W, class TA, class TU, class S>
void mxv(W& w, accumulator accum, const matrix<TA>& a, const dense<TU>& u, S,
         const descriptor& desc = {}) {
  mxm_into<S>(w, accum, a, u, no_mask(), of_mxv(a, u, desc), "mxv");
}

/// Row × matrix: wᵀ = uᵀ ⊕.⊗ A. Both u and w are dense with one column.
///
///   w(j) = ⊕_i u(i) ⊗ A(i,j)
///
/// u is the left operand of ⊗: the semiring's `left` is u's side. Shapes: A m×n, or n×m with
/// transpose_b; u m×1, w n×1. Reads the transpose of A, which A keeps. Everything else is as for
/// `mxm`.
/// @code
/// const auto u = rig::dense<float>(A.rows(), 1, 1.0f);
/// const auto w = rig::vxm(u, A, rig::plus_first<float>{});
/// @endcode
template <class Element = void, class TU, class TA, class S, mask_like Mask>
auto vxm(const dense<TU>& u, const matrix<TA>& a, S, const Mask& mask,
         const descriptor& desc = {}) {
  return mxm_creating<Element, over_column<S>>(a, u, mask, of_vxm(u, a, desc), "vxm");
}
/// The same without a mask.
template <class Element = void, class TU, class TA, class S>
auto vxm(const dense<TU>& u, const matrix<TA>& a, S, const descriptor& desc = {}) {
  return mxm_creating<Element, over_column<S>>(a, u, no_mask(), of_vxm(u, a, desc), "vxm");
}
/// Into w, under a mask.
template <class W, class TU, class TA, class S, mask_like Mask>
void vxm(W& w, accumulator accum, const dense<TU>& u, const matrix<TA>& a, S, const Mask& mask,
         const descriptor& desc = {}) {
  mxm_into<over_column<S>>(w, accum, a, u, mask, of_vxm(u, a, desc), "vxm");
}
/// Into w.
template <class W, class TU, class TA, class S>
void vxm(W& w, accumulator accum, const dense<TU>& u, const matrix<TA>& a, S,
         const descriptor& desc = {}) {
  mxm_into<over_column<S>>(w, accum, a, u, no_mask(), of_vxm(u, a, desc), "vxm");
}

/// @cond internal
/// A matrix, a dense or a vector, and whether a call has them in the other order.
enum class kind_of_operand { other, matrix, column };
template <class X>
inline constexpr kind_of_operand operand_kind = kind_of_operand::other;
template <class T>
inline constexpr kind_of_operand operand_kind<matrix<T>> = kind_of_operand::matrix;
template <class T>
inline constexpr kind_of_operand operand_kind<dense<T>> = kind_of_operand::column;
template <class T>
inline constexpr kind_of_operand operand_kind<vector<T>> = kind_of_operand::column;

template <kind_of_operand First, kind_of_operand Second, class... Arguments>
inline constexpr bool begins_with = false;
template <kind_of_operand First, kind_of_operand Second, class X, class Y, class... Rest>
inline constexpr bool begins_with<First, Second, X, Y, Rest...> =
    operand_kind<X> == First&& operand_kind<Y> == Second;
template <kind_of_operand First, kind_of_operand Second, class W, class... Rest>
inline constexpr bool begins_with<First, Second, W, accumulator, Rest...> =
    begins_with<First, Second, Rest...>;
template <class... Arguments>
concept matrix_first = begins_with<kind_of_operand::matrix, kind_of_operand::column, Arguments...>;
template <class... Arguments>
concept column_first = begins_with<kind_of_operand::column, kind_of_operand::matrix, Arguments...>;

template <class X>
constexpr void refuse_vxm() {
  static_assert(sizeof(X) == 0,
                "vxm takes the column first, rig::vxm(u, A, s); A times a column is "
                "rig::mxv(A, u, s)");
}
template <class X>
constexpr void refuse_mxv() {
  static_assert(sizeof(X) == 0,
                "mxv takes the matrix first, rig::mxv(A, u, s); a column times A is "
                "rig::vxm(u, A, s)");
}
template <class Named = void, class A, class... Rest>
requires matrix_first<A, Rest...>
void vxm(const A&, const Rest&...) { refuse_vxm<A>(); }
template <class Named = void, class A, class U, class S>
requires matrix_first<A, U>
void vxm(const A&, const U&, S, const descriptor&) { refuse_vxm<A>(); }
template <class W, class A, class U, class S>
requires matrix_first<A, U>
void vxm(W&, accumulator, const A&, const U&, S, const descriptor&) { refuse_vxm<A>(); }
template <class Named = void, class U, class... Rest>
requires column_first<U, Rest...>
void mxv(const U&, const Rest&...) { refuse_mxv<U>(); }
template <class Named = void, class U, class A, class S>
requires column_first<U, A>
void mxv(const U&, const A&, S, const descriptor&) { refuse_mxv<U>(); }
template <class W, class U, class A, class S>
requires column_first<U, A>
void mxv(W&, accumulator, const U&, const A&, S, const descriptor&) { refuse_mxv<U>(); }
template <class Named = void, class... Arguments>
requires has_two_masks<Arguments...>
void mxv(const Arguments&...) { refuse_two_masks<Arguments...>(); }
template <class Named = void, class... Arguments>
requires has_two_masks<Arguments...>
void vxm(const Arguments&...) { refuse_two_masks<Arguments...>(); }
/// @endcond

}  // namespace rig
