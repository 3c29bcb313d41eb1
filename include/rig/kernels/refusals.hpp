#pragma once

#include "rig/kernels/call.hpp"

// Calls that fit no overload, by their mistake: each is refused with one error, which has the
// remedy. Without these overloads the compiler would list every candidate.

namespace rig {

/// What can stand as an operand or a result.
template <class X>
inline constexpr bool is_operand = container<X> || dense_like<X> || has_indices<X>;
template <class... Arguments>
concept operands_all = (is_operand<Arguments> && ...);

template <class... Arguments>
constexpr int refuse_without_accumulator() {
  static_assert(sizeof...(Arguments) == 0,
                "an accumulator follows an existing result: rig::mxm(C, rig::none, A, B, s), or "
                "rig::accumulator::plus in place of rig::none");
  return 0;
}
template <class... Arguments>
constexpr int refuse_two_descriptors() {
  static_assert(sizeof...(Arguments) == 0,
                "a call has one descriptor: write all options in it, rig::mxm(A, B, s, "
                "{.transpose_a = true, .threads = 1}); before it stands at most a mask");
  return 0;
}
template <class... Arguments>
constexpr int refuse_without_operator() {
  static_assert(sizeof...(Arguments) == 0,
                "a semiring follows the operands of a product, rig::mxm(A, B, "
                "rig::plus_times<float>{}), and an operator others, rig::binary::plus");
  return 0;
}

// An argument in braces is a descriptor, because a template parameter cannot be deduced from it.
#define RIG_REFUSE_TWO_OPTIONS(call)                                                \
  template <class Named = void, operands_all X, class Y, class Op>                  \
  int call(const X&, const Y&, const Op&, const descriptor&, const descriptor&) {   \
    return refuse_two_descriptors<X>();                                             \
  }                                                                                 \
  template <operands_all C, operands_all X, class Y, class Op>                      \
  int call(const C&, accumulator, const X&, const Y&, const Op&, const descriptor&, \
           const descriptor&) {                                                     \
    return refuse_two_descriptors<X>();                                             \
  }                                                                                 \
  template <class Named = void, class... Arguments>                                 \
  requires has_two_masks<Arguments...>                                              \
  void call(const Arguments&...) { refuse_two_masks<Arguments...>(); }
#define RIG_REFUSE_MISTAKES(call)                                                                 \
  RIG_REFUSE_TWO_OPTIONS(call)                                                                    \
  template <class Named = void, operands_all X, operands_all Y>                                   \
  int call(const X&, const Y&) {                                                                  \
    return refuse_without_operator<X>();                                                          \
  }                                                                                               \
  template <class Named = void, operands_all C, operands_all X, operands_all Y, class Op,         \
            class Option = descriptor>                                                            \
  int call(const C&, const X&, const Y&, const Op&, const Option& = {}, const descriptor& = {}) { \
    return refuse_without_accumulator<C>();                                                       \
  }
RIG_REFUSE_MISTAKES(mxm)
RIG_REFUSE_MISTAKES(mxv)
RIG_REFUSE_MISTAKES(vxm)
RIG_REFUSE_MISTAKES(ewise_add)
RIG_REFUSE_MISTAKES(ewise_mult)
RIG_REFUSE_TWO_OPTIONS(apply)
RIG_REFUSE_TWO_OPTIONS(select)
#undef RIG_REFUSE_MISTAKES
#undef RIG_REFUSE_TWO_OPTIONS

template <class Named = void, operands_all C, operands_all X, class... Rest>
int apply(const C&, const X&, const Rest&...) {
  return refuse_without_accumulator<C>();
}
template <class Named = void, operands_all C, operands_all X, class... Rest>
int select(const C&, const X&, const Rest&...) {
  return refuse_without_accumulator<C>();
}
template <class Named = void, container X>
int apply(const X&, unary, const descriptor&, const descriptor&) {
  return refuse_two_descriptors<X>();
}
/// Two containers, or a number that the operator does not take.
template <class Named = void, container X, operands_all Y, class Option = descriptor>
int apply(const X&, binary, const Y&, const Option& = {}, const descriptor& = {}) {
  static_assert(sizeof(X) == 0,
                "apply joins a container and a number; two containers join by rig::ewise_add(A, B, "
                "op), at the entries of either, or rig::ewise_mult(A, B, op), of both");
  return 0;
}
template <class Named = void, container X, class Y, class Option = descriptor>
requires(!option_like<Y>) int apply(const X&, unary, const Y&, const Option& = {},
                                    const descriptor& = {}) {
  static_assert(sizeof(X) == 0,
                "a rig::unary takes no number: rig::apply(A, rig::unary::absolute); a rig::binary "
                "takes one: rig::apply(A, rig::binary::plus, 1.0f)");
  return 0;
}
template <class Named = void, container X, class Y, class Option = descriptor>
requires(!sparse_like<X>) int select(const X&, selection, const Y&, const Option& = {},
                                     const descriptor& = {}) {
  static_assert(sizeof(X) == 0,
                "select keeps entries of a matrix or a vector, and a dense has every element: make "
                "a matrix of it first, rig::matrix<T>::from(X)");
  return 0;
}

/// One index where a list is due.
template <class Named = void, container X, class... Rest>
requires((std::is_integral_v<Rest> || ...)) int extract(const X&, const Rest&...) {
  static_assert(sizeof(X) == 0,
                "an index of extract is a list, std::vector{1}, a rig::range or rig::all; an "
                "element is rig::at(A, 1, 2), and a row rig::extract_row(A, 1)");
  return 0;
}
template <class Named = void, sparse_like C, sparse_like X, class... Rest>
requires(sizeof...(Rest) > 0) int extract(const C&, const X&, const Rest&...) {
  return refuse_without_accumulator<C>();
}

}  // namespace rig
