#pragma once

/// @file
/// How a product joins the previous content of a result: `accumulator` and its arithmetic.

#include "rig/scalar.hpp"
#include "rig/semiring.hpp"

namespace rig {

/// How a result T joins the previous content of C: C = C ⊙ T, dense and sparse alike. It is
/// computed in the common type of C and T: the later of bool, int32, int64, float, double; `own` in
/// its own type. What is stored is rounded once, to C's type.
enum class accumulator : unsigned char {
  none,         ///< C = T
  own,          ///< the semiring's own add, unless it has a finish
  plus,         ///< c + t
  minus,        ///< c − t
  times,        ///< c · t
  divide,       ///< c / t
  minimum,      ///< min(c, t)
  maximum,      ///< max(c, t)
  first,        ///< c
  second,       ///< t
  logical_or,   ///< c ≠ 0 or t ≠ 0
  logical_and,  ///< c ≠ 0 and t ≠ 0
};
/// `accumulator::none`, for calls: mxm(C, rig::none, A, B, s).
inline constexpr accumulator none = accumulator::none;

/// c - t; integers wrap, bool is "xor".
template <class T>
constexpr T difference(T c, T t) {
  if constexpr (is_same<T, bool>)
    return c != t;
  else if constexpr (is_integer<T>) {
    using U = typename unsigned_twin<T>::type;
    return static_cast<T>(static_cast<U>(c) - static_cast<U>(t));
  } else
    return c - t;
}

/// c / t; an integer divided by 0 becomes the end of its range that has its sign, and 0/0 is 0;
/// bool is c.
template <class T>
constexpr T quotient(T c, T t) {
  if constexpr (is_same<T, bool>)
    return c;
  else if constexpr (is_integer<T>) {
    if (t == 0) return c == 0 ? T(0) : c > 0 ? highest<T>() : lowest<T>();
    if (t == -1) return times(c, T(-1));
    return c / t;
  } else
    return c / t;
}

/// c ⊙ t. Integers wrap; an integer divided by 0 becomes the end of its range that has its sign,
/// and 0/0 is 0. On bool, plus and maximum are "or", times and minimum are "and", minus is "xor",
/// and divide returns c.
template <class T>
constexpr T accumulate(accumulator how, T c, T t) {
  switch (how) {
    case accumulator::none:
    case accumulator::own:
    case accumulator::second:
      return t;
    case accumulator::first:
      return c;
    case accumulator::plus:
      return plus(c, t);
    case accumulator::minus:
      return difference(c, t);
    case accumulator::times:
      return times(c, t);
    case accumulator::divide:
      return quotient(c, t);
    case accumulator::minimum:
      return minimum(c, t);
    case accumulator::maximum:
      return maximum(c, t);
    case accumulator::logical_or:
      return T(c != T(0) || t != T(0));
    case accumulator::logical_and:
      return T(c != T(0) && t != T(0));
  }
  return t;
}

/// @cond internal

/// Algebra type of a stored element: float for half and bfloat16, else the type itself.
template <class T>
struct algebra_type {
  using type = T;
};
template <>
struct algebra_type<half> {
  using type = float;
};
template <>
struct algebra_type<bfloat16> {
  using type = float;
};
template <class T>
using algebra = typename algebra_type<T>::type;

/// The place of a type in the order bool, int32, int64, half and bfloat16, float, double.
template <class T>
inline constexpr int rank_of = is_same<T, bool>    ? 0
                               : is_same<T, int32> ? 1
                               : is_same<T, int64> ? 2
                               : is_small_float<T> ? 3
                               : is_same<T, float> ? 4
                                                   : 5;

/// The type in which a builtin operator joins elements of two types: theirs if they agree, else the
/// later of bool, int32, int64, float, double. Half with bfloat16 gives float.
template <class T, class U>
struct common_element {
  using type = float;
};
template <class T, class U>
requires(rank_of<T> != rank_of<U> || is_same<T, U>) struct common_element<T, U> {
  template <bool First, class A, class B>
  struct pick {
    using type = A;
  };
  template <class A, class B>
  struct pick<false, A, B> {
    using type = B;
  };
  using type = typename pick<(rank_of<T> >= rank_of<U>), T, U>::type;
};
/// @endcond

}  // namespace rig
