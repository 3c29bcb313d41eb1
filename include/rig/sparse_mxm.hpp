#pragma once

/// @file
/// Products with sparse results: `mxm` of two matrices, or of two dense under a sparse mask. With
/// it `mxv` and `vxm` take sparse vectors, and `explain` explains such products.

#include <utility>

#include "rig/elementwise.hpp"
#include "rig/kernels/cpu/multiply.hpp"
#include "rig/mxv.hpp"
#include "rig/semirings/max_first.hpp"
#include "rig/semirings/max_second.hpp"
#include "rig/semirings/min_first.hpp"
#include "rig/semirings/min_second.hpp"
#include "rig/semirings/plus_first.hpp"
#include "rig/semirings/plus_second.hpp"

namespace rig {

/// @cond internal
/// The semiring of mxv over S, whose vector is the left operand of kernels.
template <class S>
using over_row = std::conditional_t<commutes<S>, S, exchanged<S>>;

/// A semiring whose machine code serves S: `first` with exchanged operands is `second`.
template <class S>
struct same_code {
  using type = S;
};
#define RIG_MIRRORED(name, other)        \
  template <class T>                     \
  struct same_code<exchanged<name<T>>> { \
    using type = other<T>;               \
  };
RIG_MIRRORED(plus_first, plus_second)
RIG_MIRRORED(plus_second, plus_first)
RIG_MIRRORED(min_first, min_second)
RIG_MIRRORED(min_second, min_first)
RIG_MIRRORED(max_first, max_second)
RIG_MIRRORED(max_second, max_first)
#undef RIG_MIRRORED

namespace on_cpu {
/// Runs a kernel of mxv over S.
template <class S>
sparse_result multiply_column(int which, const problem& p) {
  return multiply<typename same_code<over_row<S>>::type>(which, p);
}
}  // namespace on_cpu

template <semiring S>
inline constexpr product_info product_of = {&info_of<S>, &on_cpu::multiply<S>};
template <semiring S>
inline constexpr product_info column_product_of = {&info_of<over_row<S>>,
                                                   &on_cpu::multiply_column<S>, true};

/// The operator of S's sums, or null if its results are no sums.
template <semiring S>
constexpr const operator_info* sum_operator() {
  if constexpr (is_same<output<S>, typename S::accum> && !has_finish<S>) return &add_of<S>;
  return nullptr;
}

/// A product whose results have elements of type Natural.
template <class Natural, class X, class Y>
call<Natural> product_of_operands(const char* name, const X& x, const Y& y, bool y_transposed,
                                  const product_info& by, const operator_info* sum) {
  call<Natural> made{{name, operation::kind::product}};
  fill_in(made.o.x, x);
  fill_in(made.o.y, y);
  made.o.y_transposed = y_transposed;
  made.o.product = &by;
  made.o.op = sum;
  return made;
}
template <semiring S, class X, class Y>
auto product_over(const char* name, const X& x, const Y& y, bool y_transposed,
                  const product_info& by) {
  static_assert(!is_indexed<output<S>>,
                "this semiring yields two arrays, and a sparse result has one");
  static_assert(is_loadable<typename X::value_type, typename S::left> &&
                    is_loadable<typename Y::value_type, typename S::right>,
                "the operands' elements do not convert to the types of the semiring");
  return product_of_operands<output<S>>(name, x, y, y_transposed, by, sum_operator<S>());
}
template <class TU, class TA, class S>
auto vxm_call(const vector<TU>& u, const matrix<TA>& a, S, const descriptor& desc) {
  require_type<S>();
  require_semiring<S>();
  if (desc.transpose_a)
    fail(errc::cannot, {"vxm: u is a vector, which is not transposed; leave transpose_a unset"});
  return product_over<S>("vxm", u, a, desc.transpose_b, product_of<S>);
}
template <class TA, class TU, class S>
auto mxv_call(const matrix<TA>& a, const vector<TU>& u, S, const descriptor& desc) {
  require_type<S>();
  require_semiring<S>();
  if (desc.transpose_b)
    fail(errc::cannot, {"mxv: u is a vector, which is not transposed; leave transpose_b unset"});
  return product_over<over_row<S>>("mxv", u, a, !desc.transpose_a, column_product_of<S>);
}
template <class Named, class Natural, class Mask>
auto new_column(call<Natural> made, const Mask& mask, const descriptor& desc) {
  return run_creating<vector<Natural>, Named>(std::move(made), mask, desc);
}
/// The product of two operands, of which one may be a vector.
template <container X, container Y, class S>
auto product_call(const X& x, const Y& y, S s, const descriptor& desc) {
  if constexpr (container_of<X>::is_vector) {
    return vxm_call(x, y, s, desc);
  } else if constexpr (container_of<Y>::is_vector) {
    return mxv_call(x, y, s, desc);
  } else {
    require_type<S>();
    require_semiring<S>();
    return product_over<S>("mxm", x, y, desc.transpose_b, product_of<S>);
  }
}
template <bool IsVector, class Natural, class Mask>
explanation explain_call(call<Natural> made, const Mask& mask, const descriptor& desc) {
  return or_out_of_memory("explain", [&] {
    fill_in<Natural, IsVector>(made.o, mask, desc);
    return explain(made.o);
  });
}
template <container X, container Y, class S, class Mask>
explanation explain_product(const X& x, const Y& y, S s, const Mask& mask, const descriptor& desc) {
  constexpr bool is_vector = container_of<X>::is_vector || container_of<Y>::is_vector;
  return explain_call<is_vector>(product_call(x, y, s, desc), mask, desc);
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
template <class Element = void, class TA, matrix_like B, class S, option_like Option = descriptor>
auto mxm(const matrix<TA>& a, const B& b, S s, const Option& option = {},
         const behind<Option>& desc = {}) {
  const descriptor& used = descriptor_among(option, desc);
  return run_creating<matrix<TA>, Element>(product_call(a, b, s, used), option, desc);
}
/// Into C: C⟨mask, replace⟩ = C ⊙ (A ⊕.⊗ B).
template <class TC, class TA, class TB, class S, option_like Option = descriptor>
void mxm(matrix<TC>& c, accumulator accum, const matrix<TA>& a, const matrix<TB>& b, S s,
         const Option& option = {}, const behind<Option>& desc = {}) {
  run_into(c, accum, product_call(a, b, s, descriptor_among(option, desc)), option, desc);
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
auto mxm(const dense<TA>& a, const dense<TB>& b, S s, const mask<matrix<TM>>& mask,
         const descriptor& desc = {}) {
  return run_creating<matrix<TA>, Element>(product_call(a, b, s, desc), mask, desc);
}
/// Into C: C⟨mask, replace⟩ = C ⊙ (A ⊕.⊗ B).
template <class TC, class TA, class TB, class S, class TM>
void mxm(matrix<TC>& c, accumulator accum, const dense<TA>& a, const dense<TB>& b, S s,
         const mask<matrix<TM>>& mask, const descriptor& desc = {}) {
  run_into(c, accum, product_call(a, b, s, desc), mask, desc);
}

/// @cond internal
/// Products that rig lacks, refused with one error.
template <class A, class B>
concept lacks_product = container<A> && container<B> &&
    (container_of<A>::is_sparse ? is_matrix<A>&& container_of<B>::is_vector
                                : !container_of<B>::is_vector);
template <class A, class B>
constexpr void refuse_product() {
  constexpr bool is_absent = sizeof(A) == 0;
  if constexpr (is_matrix<A>)
    static_assert(is_absent, "mxm: B is a vector; call rig::mxv(A, v, s)");
  else if constexpr (is_matrix<B>)
    static_assert(is_absent,
                  "mxm: A must be a matrix; the transpose of dense D times matrix A is "
                  "rig::mxm(A, D, s, {.transpose_a = true, .transpose_b = true})");
  else
    static_assert(is_absent,
                  "mxm: dense times dense needs a mask of a matrix, rig::structure(M); a product "
                  "with all places is a matter for BLAS");
}
template <class Mask>
inline constexpr bool is_matrix_mask = false;
template <class T>
inline constexpr bool is_matrix_mask<mask<matrix<T>>> = true;

template <class Element = void, class A, class B, class S>
requires lacks_product<A, B>
int mxm(const A&, const B&, S, const descriptor& = {}) {
  refuse_product<A, B>();
  return 0;
}
template <class Element = void, class A, class B, class S, mask_like Mask>
requires(lacks_product<A, B> && (is_matrix<A> || is_matrix<B> ||
                                 !is_matrix_mask<Mask>)) int mxm(const A&, const B&, S, const Mask&,
                                                                 const descriptor& = {}) {
  refuse_product<A, B>();
  return 0;
}
template <class C, class A, class B, class S, class... Rest>
requires lacks_product<A, B>
int mxm(C&, accumulator, const A&, const B&, S, const Rest&...) {
  refuse_product<A, B>();
  return 0;
}
/// @endcond

}  // namespace rig
