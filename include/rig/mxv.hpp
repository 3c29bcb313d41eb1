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

template <class S, class... Others>
inline constexpr bool is_one_of = (is_same<S, Others> || ...);
/// Whether a semiring of rig multiplies in any order: then vxm runs the kernels of mxm.
template <class S>
inline constexpr bool commutes = false;
template <template <class> class S, class T>
inline constexpr bool commutes<S<T>> =
    is_one_of<S<T>, plus_times<T>, plus_pair<T>, min_plus<T>, max_plus<T>, max_times<T>, min_max<T>,
              max_min<T>, lor_land<T>, any_pair<T>, mean_times<T>>;

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

/// A matrix as an argument that is also tried with other types, whose bases need not be known.
template <class B>
inline constexpr bool is_matrix = false;
template <class T>
inline constexpr bool is_matrix<matrix<T>> = true;
template <class B>
concept matrix_like = is_matrix<B>;

/// `mxv` or `vxm` of a dense, as a product. sparse_mxm.hpp has those of a sparse vector.
template <class TA, class TU, class S>
struct column_product {
  column_name name;
  const matrix<TA>& a;
  const dense<TU>& u;
  S s;
  descriptor desc;
};
template <class TA, class TU, class S>
column_product<TA, TU, S> mxv_call(const matrix<TA>& a, const dense<TU>& u, S s,
                                   const descriptor& desc) {
  return {{"mxv"}, a, u, s, of_mxv(a, u, desc)};
}
template <class TU, class TA, class S>
column_product<TA, TU, over_column<S>> vxm_call(const dense<TU>& u, const matrix<TA>& a, S,
                                                const descriptor& desc) {
  return {{"vxm"}, a, u, {}, of_vxm(u, a, desc)};
}
template <class Named, class TA, class TU, class S, class Mask>
auto new_column(const column_product<TA, TU, S>& of, const Mask& mask, const descriptor&) {
  return mxm_creating<Named>(of.a, of.u, of.s, mask, of.desc, of.name);
}
template <class W, class TA, class TU, class S, class Mask>
void run_into(W& w, accumulator accum, const column_product<TA, TU, S>& of, const Mask& mask,
              const descriptor&) {
  mxm_into(w, accum, of.a, of.u, of.s, mask, of.desc, of.name);
}

/// Operands in the other order, refused with one error.
struct refused {};
template <class U, class A, class S>
requires(!is_matrix<U>) refused mxv_call(const U&, const matrix<A>&, S, const descriptor&) {
  static_assert(sizeof(U) == 0,
                "mxv takes the matrix first, rig::mxv(A, u, s); a column times A is "
                "rig::vxm(u, A, s)");
  return {};
}
template <class A, class U, class S>
requires(!is_matrix<U>) refused vxm_call(const matrix<A>&, const U&, S, const descriptor&) {
  static_assert(sizeof(U) == 0,
                "vxm takes the column first, rig::vxm(u, A, s); A times a column is "
                "rig::mxv(A, u, s)");
  return {};
}
template <class Named, class Mask>
void new_column(refused, const Mask&, const descriptor&) {}
template <class W, class Mask>
void run_into(W&, accumulator, refused, const Mask&, const descriptor&) {}
/// @endcond

/// Matrix × column: w = A ⊕.⊗ u.
///
///   w(i) = ⊕_k A(i,k) ⊗ u(k)
///
/// Shapes: op(A) m×n. If u is a dense n×1, w is a dense m×1, and this is `mxm` with one column. If
/// u is a sparse vector of size n, w is one of size m, with an entry where some k has both entries.
/// A sparse vector of size m masks either. With a sparse u, `pull` reads rows of A; `push` reads
/// its columns, so it needs the transpose of A. Everything else is as for `mxm` of a dense, or of
/// two matrices.
/// @code
/// const auto w = rig::mxv(A, rig::dense<float>(A.columns(), 1, 1.0f), rig::plus_times<float>{});
/// const auto u = rig::vector<float>::from_indices(A.columns(), std::vector{0, 1});
/// const auto reached = rig::mxv(A, u, rig::plus_times<float>{});
/// @endcode
template <class Element = void, class A, class U, class S, option_like Option = descriptor>
auto mxv(const A& a, const U& u, S s, const Option& option = {}, const behind<Option>& desc = {}) {
  const descriptor& used = descriptor_among(option, desc);
  return new_column<Element>(mxv_call(a, u, s, used), mask_among(option), used);
}
/// Into w.
template <class W, class A, class U, class S, option_like Option = descriptor>
void mxv(W& w, accumulator accum, const A& a, const U& u, S s, const Option& option = {},
         const behind<Option>& desc = {}) {
  const descriptor& used = descriptor_among(option, desc);
  run_into(w, accum, mxv_call(a, u, s, used), mask_among(option), used);
}

/// Row × matrix: wᵀ = uᵀ ⊕.⊗ A. u and w are both dense with one column, or both sparse vectors.
///
///   w(j) = ⊕_i u(i) ⊗ A(i,j)
///
/// u is the left operand of ⊗: the semiring's `left` is u's side. Shapes: A m×n, or n×m with
/// transpose_b; u has m elements, w n. A dense u reads the transpose of A, which A keeps. Of a
/// sparse u, `push` reads the rows of A that u names; `pull` reads the columns that the mask
/// allows, and stops a sum at the semiring's terminal(). `pull` is chosen only if the transpose is
/// prepared: A.prepare({.transpose_a = true}). If the descriptor names it, it builds the transpose.
/// Everything else is as for `mxv`.
/// @code
/// const auto w = rig::vxm(rig::dense<float>(A.rows(), 1, 1.0f), A, rig::plus_first<float>{});
/// const auto frontier = rig::vector<bool>::from_indices(A.rows(), std::vector{0});
/// const auto next = rig::vxm(frontier, A, rig::any_pair<bool>{});
/// @endcode
template <class Element = void, class U, class A, class S, option_like Option = descriptor>
auto vxm(const U& u, const A& a, S s, const Option& option = {}, const behind<Option>& desc = {}) {
  const descriptor& used = descriptor_among(option, desc);
  return new_column<Element>(vxm_call(u, a, s, used), mask_among(option), used);
}
/// Into w.
template <class W, class U, class A, class S, option_like Option = descriptor>
void vxm(W& w, accumulator accum, const U& u, const A& a, S s, const Option& option = {},
         const behind<Option>& desc = {}) {
  const descriptor& used = descriptor_among(option, desc);
  run_into(w, accum, vxm_call(u, a, s, used), mask_among(option), used);
}

}  // namespace rig
