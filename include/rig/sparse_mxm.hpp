#pragma once

/// @file
/// Products with sparse results: `mxm` of two matrices, or of two dense under a sparse mask; `mxv`
/// and `vxm` with a sparse vector.

#include <utility>

#include "rig/elementwise.hpp"
#include "rig/kernels/cpu/multiply.hpp"
#include "rig/mxv.hpp"

namespace rig {

/// @cond internal
/// A matrix as an argument that is also tried with other types, whose bases need not be known.
template <class B>
inline constexpr bool is_matrix = false;
template <class T>
inline constexpr bool is_matrix<matrix<T>> = true;
template <class B>
concept matrix_like = is_matrix<B>;

/// The semiring of mxv over S, whose vector is the left operand of kernels.
template <class S>
using over_row = std::conditional_t<commutes<S>, S, exchanged<S>>;

namespace on_cpu {
/// Runs a kernel of mxv over S.
template <class S>
sparse_result multiply_column(int which, const problem& p) {
  return multiply<over_row<S>>(which, p);
}
}  // namespace on_cpu

template <semiring S>
inline constexpr product_info product_of = {&info_of<S>, &on_cpu::multiply<S>};
template <semiring S>
inline constexpr product_info column_product_of = {&info_of<over_row<S>>,
                                                   &on_cpu::multiply_column<S>, true};

/// A call of a product over S, without its operands.
template <semiring S, class X, class Y>
auto product_call(const char* name, const X& x, const Y& y, bool y_transposed,
                  const product_info& by) {
  static_assert(!is_indexed<output<S>>,
                "this semiring yields two arrays, and a sparse result has one");
  static_assert(is_loadable<typename X::value_type, typename S::left> &&
                    is_loadable<typename Y::value_type, typename S::right>,
                "the operands' elements do not convert to the types of the semiring");
  call<output<S>> made{{name, operation::kind::product}};
  fill_in(made.o.x, x);
  fill_in(made.o.y, y);
  made.o.y_transposed = y_transposed;
  made.o.product = &by;
  if constexpr (is_same<output<S>, typename S::accum> && !has_finish<S>) made.o.op = &add_of<S>;
  return made;
}
template <class S, class X, class Y>
auto mxm_call(const X& x, const Y& y, const descriptor& desc) {
  require_semiring<S>();
  return product_call<S>("mxm", x, y, desc.transpose_b, product_of<S>);
}
template <class S, class TU, class TA>
auto vxm_call(const vector<TU>& u, const matrix<TA>& a, const descriptor& desc) {
  require_semiring<S>();
  if (desc.transpose_a)
    fail(errc::cannot, {"vxm: u is a vector, which is not transposed; leave transpose_a unset"});
  return product_call<S>("vxm", u, a, desc.transpose_b, product_of<S>);
}
template <class S, class TA, class TU>
auto mxv_call(const matrix<TA>& a, const vector<TU>& u, const descriptor& desc) {
  require_semiring<S>();
  if (desc.transpose_b)
    fail(errc::cannot, {"mxv: u is a vector, which is not transposed; leave transpose_b unset"});
  return product_call<over_row<S>>("mxv", u, a, !desc.transpose_a, column_product_of<S>);
}
/// @endcond

/// Sparse × sparse over a semiring, into a new matrix.
///
///   C(i,j) = finish(⊕_k op(A)(i,k) ⊗ op(B)(k,j), n_i), where some k has both entries
///
/// Shapes: op(A) m×k, op(B) k×n, C m×n. A place without products has no entry; explicit zeros stay.
/// Results have S's output type, or a named one: mxm<double>(A, B, s). Products of a row are added
/// in ascending k, so the same inputs give the same bits for any number of threads. n_i counts the
/// entries of row i of op(A). A mask is used inside: what it excludes is not formed. Cost:
/// O(nnz(A) + products + rows); memory: C twice, and a row of sums per thread; on a device also an
/// entry per place of a structural mask. Places: all operands in one. Throws error: shape, place,
/// unknown_kernel, cannot (fill; a captured stream; accumulator::own of an S with finish),
/// out_of_memory; C is unchanged then.
/// @code
/// const auto two_steps = rig::mxm(A, A, rig::plus_times<float>{});
/// const auto shared = rig::mxm(A, A, rig::plus_pair<int>{}, rig::structure(A), {.transpose_b =
/// true});
/// @endcode
template <class Element = void, class TA, matrix_like B, class S, mask_like Mask>
auto mxm(const matrix<TA>& a, const B& b, S, const Mask& mask, const descriptor& desc = {}) {
  return run_creating<matrix<TA>, Element>(mxm_call<S>(a, b, desc), mask, desc);
}
/// The same without a mask.
template <class Element = void, class TA, matrix_like B, class S>
auto mxm(const matrix<TA>& a, const B& b, S, const descriptor& desc = {}) {
  return run_creating<matrix<TA>, Element>(mxm_call<S>(a, b, desc), no_mask(), desc);
}
/// Into C: C⟨mask, replace⟩ = C ⊙ (A ⊕.⊗ B).
template <class TC, class TA, class TB, class S, mask_like Mask>
void mxm(matrix<TC>& c, accumulator accum, const matrix<TA>& a, const matrix<TB>& b, S,
         const Mask& mask, const descriptor& desc = {}) {
  run_into(c, accum, mxm_call<S>(a, b, desc), mask, desc);
}
/// Into C, without a mask.
template <class TC, class TA, class TB, class S>
void mxm(matrix<TC>& c, accumulator accum, const matrix<TA>& a, const matrix<TB>& b, S,
         const descriptor& desc = {}) {
  run_into(c, accum, mxm_call<S>(a, b, desc), no_mask(), desc);
}

/// Dense × dense at the entries of a sparse mask (SDDMM), into a new matrix.
///
///   C(i,j) = finish(⊕_k op(A)(i,k) ⊗ op(B)(k,j), k), where the mask is true
///
/// Shapes: op(A) m×k, op(B) k×n, the mask m×n. Deterministic: products are added in a fixed order,
/// which is not that of k. Fastest with `transpose_b`, which reads rows of B as they lie.
/// Cost: O(entries of the mask · k). Places: all operands in one. Throws as the sparse product;
/// cannot, for a complement. Source: Nisa et al., HiPC 2018.
/// @code
/// const auto scores = rig::mxm(X, X, rig::plus_times<float>{}, rig::structure(A), {.transpose_b =
/// true});
/// @endcode
template <class Element = void, class TA, class TB, class S, class TM>
auto mxm(const dense<TA>& a, const dense<TB>& b, S, const mask<matrix<TM>>& mask,
         const descriptor& desc = {}) {
  return run_creating<matrix<TA>, Element>(mxm_call<S>(a, b, desc), mask, desc);
}
/// Into C: C⟨mask, replace⟩ = C ⊙ (A ⊕.⊗ B).
template <class TC, class TA, class TB, class S, class TM>
void mxm(matrix<TC>& c, accumulator accum, const dense<TA>& a, const dense<TB>& b, S,
         const mask<matrix<TM>>& mask, const descriptor& desc = {}) {
  run_into(c, accum, mxm_call<S>(a, b, desc), mask, desc);
}

/// @cond internal
/// Products that rig lacks, refused with one error.
template <class A>
constexpr void refuse_dense_times_sparse() {
  static_assert(sizeof(A) == 0,
                "mxm: A must be a matrix; the transpose of dense D times matrix A is "
                "rig::mxm(A, D, s, {.transpose_a = true, .transpose_b = true})");
}
template <class A>
constexpr void refuse_dense_times_dense() {
  static_assert(sizeof(A) == 0,
                "mxm: dense times dense needs a mask of a matrix, rig::structure(M); a product "
                "with all places is a matter for BLAS");
}
template <class A>
constexpr void refuse_times_vector() {
  static_assert(sizeof(A) == 0, "mxm: B is a vector; call rig::mxv(A, v, s)");
}
template <class Mask>
inline constexpr bool is_matrix_mask = false;
template <class T>
inline constexpr bool is_matrix_mask<mask<matrix<T>>> = true;

template <class Element = void, class TA, matrix_like B, class S>
int mxm(const dense<TA>&, const B&, S, const descriptor& = {}) {
  refuse_dense_times_sparse<TA>();
  return 0;
}
template <class Element = void, class TA, matrix_like B, class S, mask_like Mask>
int mxm(const dense<TA>&, const B&, S, const Mask&, const descriptor& = {}) {
  refuse_dense_times_sparse<TA>();
  return 0;
}
template <class C, class TA, matrix_like B, class S, class... Rest>
int mxm(C&, accumulator, const dense<TA>&, const B&, S, const Rest&...) {
  refuse_dense_times_sparse<TA>();
  return 0;
}
template <class Element = void, class TA, class TB, class S>
int mxm(const dense<TA>&, const dense<TB>&, S, const descriptor& = {}) {
  refuse_dense_times_dense<TA>();
  return 0;
}
template <class Element = void, class TA, class TB, class S, mask_like Mask>
requires(!is_matrix_mask<Mask>) int mxm(const dense<TA>&, const dense<TB>&, S, const Mask&,
                                        const descriptor& = {}) {
  refuse_dense_times_dense<TA>();
  return 0;
}
template <class C, class TA, class TB, class S>
int mxm(C&, accumulator, const dense<TA>&, const dense<TB>&, S, const descriptor& = {}) {
  refuse_dense_times_dense<TA>();
  return 0;
}
template <class Element = void, class TA, sparse_like U, class S, class... Rest>
requires(container_of<U>::is_vector) int mxm(const matrix<TA>&, const U&, S, const Rest&...) {
  refuse_times_vector<TA>();
  return 0;
}
/// @endcond

/// Sparse vector × matrix: wᵀ = uᵀ ⊕.⊗ A.
///
///   w(j) = ⊕_i u(i) ⊗ A(i,j), where some i has both entries
///
/// Shapes: A m×n, or n×m with transpose_b; u of size m, w of size n. `push` reads the rows of A
/// that u names; `pull` reads the columns that the mask allows, and stops a sum at the semiring's
/// terminal(). It is chosen only if the transpose is built: A.prepare({.transpose_a = true}). If
/// the descriptor names it, it builds the transpose. Everything else is as for the sparse product.
/// @code
/// const auto frontier = rig::vector<bool>::from_indices(A.rows(), std::vector{0});
/// const auto next = rig::vxm(frontier, A, rig::any_pair<bool>{});
/// @endcode
template <class Element = void, class TU, class TA, class S, mask_like Mask>
auto vxm(const vector<TU>& u, const matrix<TA>& a, S, const Mask& mask,
         const descriptor& desc = {}) {
  return run_creating<vector<TU>, Element>(vxm_call<S>(u, a, desc), mask, desc);
}
/// The same without a mask.
template <class Element = void, class TU, class TA, class S>
auto vxm(const vector<TU>& u, const matrix<TA>& a, S, const descriptor& desc = {}) {
  return run_creating<vector<TU>, Element>(vxm_call<S>(u, a, desc), no_mask(), desc);
}
/// Into w, under a mask.
template <class TW, class TU, class TA, class S, mask_like Mask>
void vxm(vector<TW>& w, accumulator accum, const vector<TU>& u, const matrix<TA>& a, S,
         const Mask& mask, const descriptor& desc = {}) {
  run_into(w, accum, vxm_call<S>(u, a, desc), mask, desc);
}
/// Into w.
template <class TW, class TU, class TA, class S>
void vxm(vector<TW>& w, accumulator accum, const vector<TU>& u, const matrix<TA>& a, S,
         const descriptor& desc = {}) {
  run_into(w, accum, vxm_call<S>(u, a, desc), no_mask(), desc);
}

/// Matrix × sparse vector: w = A ⊕.⊗ u.
///
///   w(i) = ⊕_k A(i,k) ⊗ u(k), where some k has both entries
///
/// Shapes: op(A) m×n, u of size n, w of size m. `pull` reads rows of A; `push` reads its columns,
/// so it needs the transpose of A. Everything else is as for `vxm`.
/// @code
/// const auto u = rig::vector<float>::from_indices(A.columns(), std::vector{0, 1});
/// const auto w = rig::mxv(A, u, rig::plus_times<float>{});
/// @endcode
template <class Element = void, class TA, class TU, class S, mask_like Mask>
auto mxv(const matrix<TA>& a, const vector<TU>& u, S, const Mask& mask,
         const descriptor& desc = {}) {
  return run_creating<vector<TU>, Element>(mxv_call<S>(a, u, desc), mask, desc);
}
/// The same without a mask.
template <class Element = void, class TA, class TU, class S>
auto mxv(const matrix<TA>& a, const vector<TU>& u, S, const descriptor& desc = {}) {
  return run_creating<vector<TU>, Element>(mxv_call<S>(a, u, desc), no_mask(), desc);
}
/// Into w, under a mask.
template <class TW, class TA, class TU, class S, mask_like Mask>
void mxv(vector<TW>& w, accumulator accum, const matrix<TA>& a, const vector<TU>& u, S,
         const Mask& mask, const descriptor& desc = {}) {
  run_into(w, accum, mxv_call<S>(a, u, desc), mask, desc);
}
/// Into w.
template <class TW, class TA, class TU, class S>
void mxv(vector<TW>& w, accumulator accum, const matrix<TA>& a, const vector<TU>& u, S,
         const descriptor& desc = {}) {
  run_into(w, accum, mxv_call<S>(a, u, desc), no_mask(), desc);
}

/// @cond internal
template <class X, class Natural, class Mask>
explanation explain_call(call<Natural> made, const Mask& mask, const descriptor& desc) {
  return or_out_of_memory("explain", [&] {
    fill_in<Natural, container_of<X>::is_vector>(made.o, mask, desc);
    return explain(made.o);
  });
}
/// @endcond

/// Explains a product with a sparse result: every kernel's answer, and the choice. Computes
/// nothing. Throws as the product.
/// @code
/// const auto why = rig::explain(A, A, rig::plus_pair<int>{}, rig::structure(A));
/// std::puts(why.text().c_str());
/// @endcode
template <class TA, class TB, class S, mask_like Mask>
explanation explain(const matrix<TA>& a, const matrix<TB>& b, S, const Mask& mask,
                    const descriptor& desc = {}) {
  return explain_call<matrix<TA>>(mxm_call<S>(a, b, desc), mask, desc);
}
/// The same without a mask.
template <class TA, class TB, class S>
explanation explain(const matrix<TA>& a, const matrix<TB>& b, S, const descriptor& desc = {}) {
  return explain_call<matrix<TA>>(mxm_call<S>(a, b, desc), no_mask(), desc);
}
/// Of `vxm` under a mask.
template <class TU, class TA, class S, mask_like Mask>
explanation explain(const vector<TU>& u, const matrix<TA>& a, S, const Mask& mask,
                    const descriptor& desc = {}) {
  return explain_call<vector<TU>>(vxm_call<S>(u, a, desc), mask, desc);
}
/// Of `vxm`.
template <class TU, class TA, class S>
explanation explain(const vector<TU>& u, const matrix<TA>& a, S, const descriptor& desc = {}) {
  return explain_call<vector<TU>>(vxm_call<S>(u, a, desc), no_mask(), desc);
}

/// Of `mxv` under a mask.
template <class TA, class TU, class S, mask_like Mask>
explanation explain(const matrix<TA>& a, const vector<TU>& u, S, const Mask& mask,
                    const descriptor& desc = {}) {
  return explain_call<vector<TU>>(mxv_call<S>(a, u, desc), mask, desc);
}
/// Of `mxv`.
template <class TA, class TU, class S>
explanation explain(const matrix<TA>& a, const vector<TU>& u, S, const descriptor& desc = {}) {
  return explain_call<vector<TU>>(mxv_call<S>(a, u, desc), no_mask(), desc);
}
/// Of two dense under a sparse mask.
template <class TA, class TB, class S, class TM>
explanation explain(const dense<TA>& a, const dense<TB>& b, S, const mask<matrix<TM>>& mask,
                    const descriptor& desc = {}) {
  return explain_call<matrix<TA>>(mxm_call<S>(a, b, desc), mask, desc);
}

}  // namespace rig
