#pragma once

#include "rig/accumulate.hpp"
#include "rig/scalar.hpp"

/// @file
/// Operators that the library compiles ahead. They are values, because operations that take them
/// are bound by memory, and one kernel serves them all.

namespace rig {

/// x ⊙ y. Comparisons yield bool. On bool, plus and maximum are "or", times and minimum are "and",
/// minus is "xor", and divide returns x. Integers wrap; division by 0 is as in `quotient`.
enum class binary : unsigned char {
  plus,           ///< x + y
  minus,          ///< x − y
  times,          ///< x · y
  divide,         ///< x / y
  minimum,        ///< the lesser
  maximum,        ///< the greater
  first,          ///< x
  second,         ///< y
  logical_or,     ///< x ≠ 0 or y ≠ 0
  logical_and,    ///< x ≠ 0 and y ≠ 0
  equal,          ///< x = y
  not_equal,      ///< x ≠ y
  less,           ///< x < y
  less_equal,     ///< x ≤ y
  greater,        ///< x > y
  greater_equal,  ///< x ≥ y
};

/// @cond internal
constexpr bool is_comparison(binary op) { return op >= binary::equal; }

/// The operator that accumulates alike. Not for comparisons.
constexpr accumulator as_accumulator(binary op) {
  return static_cast<accumulator>(static_cast<unsigned char>(op) +
                                  static_cast<unsigned char>(accumulator::plus));
}
static_assert(as_accumulator(binary::logical_and) == accumulator::logical_and);

template <class T>
constexpr bool compare(binary op, T x, T y) {
  switch (op) {
    case binary::equal:
      return x == y;
    case binary::not_equal:
      return x != y;
    case binary::less:
      return x < y;
    case binary::less_equal:
      return x <= y;
    case binary::greater:
      return x > y;
    default:
      return x >= y;
  }
}

/// @endcond

/// f(x). On integers the functions of real numbers are computed in double and converted back; on
/// bool every operator except logical_not and one returns x.
enum class unary : unsigned char {
  identity,            ///< x
  negate,              ///< −x
  absolute,            ///< |x|
  reciprocal,          ///< 1 / x, as `quotient`
  square,              ///< x · x
  square_root,         ///< √x
  exponential,         ///< e^x
  logarithm,           ///< the natural logarithm
  sigmoid,             ///< 1 / (1 + e^−x)
  hyperbolic_tangent,  ///< tanh x
  relu,                ///< maximum(x, 0)
  sign,                ///< −1, 0 or 1; NaN stays
  floor,               ///< the greatest integer ≤ x
  ceiling,             ///< the least integer ≥ x
  round,               ///< halves away from zero
  logical_not,         ///< 1 if x = 0, else 0
  one,                 ///< 1
};

/// Which entries `select` retains. i and j are the row and column of an entry, x its value, y the
/// number given.
enum class selection : unsigned char {
  lower,           ///< j ≤ i + y
  upper,           ///< j ≥ i + y
  diagonal,        ///< j = i + y
  off_diagonal,    ///< j ≠ i + y
  row_at_most,     ///< i ≤ y
  row_above,       ///< i > y
  column_at_most,  ///< j ≤ y
  column_above,    ///< j > y
  equal,           ///< x = y
  not_equal,       ///< x ≠ y
  less,            ///< x < y
  less_equal,      ///< x ≤ y
  greater,         ///< x > y
  greater_equal,   ///< x ≥ y
};

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
