#pragma once

#include "rig/accumulate.hpp"
#include "rig/scalar.hpp"

/// @file
/// Operators that the library compiles ahead. They are values, because operations that take them
/// are bound by memory, and one kernel serves them all.

namespace rig {

/// x ⊙ y. Comparisons yield bool, and compare with a number as it is: y is not rounded. On bool,
/// plus and maximum are "or", times and minimum are "and", minus is "xor", and divide returns x.
/// Integers wrap; division by 0 is as in `quotient`.
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

constexpr const char* name_of(binary op) {
  constexpr const char* names[] = {"plus",       "minus",       "times",   "divide",
                                   "minimum",    "maximum",     "first",   "second",
                                   "logical_or", "logical_and", "equal",   "not_equal",
                                   "less",       "less_equal",  "greater", "greater_equal"};
  return names[static_cast<unsigned char>(op)];
}

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

/// @cond internal

/// f(x) of a function of real numbers, for float and double.
template <class A>
constexpr A apply_real(unary op, A x) {
#ifdef __CUDA_ARCH__
#define RIG_REAL(name) (is_same<A, float> ? A(name##f(static_cast<float>(x))) : A(name(x)))
#else
#define RIG_REAL(name) \
  (is_same<A, float> ? A(__builtin_##name##f(static_cast<float>(x))) : A(__builtin_##name(x)))
#endif
  switch (op) {
    case unary::square_root:
      return RIG_REAL(sqrt);
    case unary::exponential:
      return RIG_REAL(exp);
    case unary::logarithm:
      return RIG_REAL(log);
    case unary::sigmoid:
      x = -x;
      return 1 / (1 + RIG_REAL(exp));
    case unary::hyperbolic_tangent:
      return RIG_REAL(tanh);
    case unary::floor:
      return RIG_REAL(floor);
    case unary::ceiling:
      return RIG_REAL(ceil);
    default:
      return RIG_REAL(round);
  }
#undef RIG_REAL
}

/// −x in an algebra type; integers wrap.
template <class A>
constexpr A negated(A x) {
  if constexpr (is_float<A>)
    return -x;
  else
    return difference(A(0), x);
}

/// f(x) in an algebra type.
template <class A>
constexpr A apply_unary(unary op, A x) {
  if constexpr (is_same<A, bool>) {
    return op == unary::one || (op == unary::logical_not ? !x : x);
  } else {
    switch (op) {
      case unary::identity:
        return x;
      case unary::negate:
        return negated(x);
      case unary::absolute:
        // The sum makes −0 positive; unlike a comparison it takes no branch.
        return plus(x < 0 ? negated(x) : x, A(0));
      case unary::reciprocal:
        return quotient(A(1), x);
      case unary::square:
        return times(x, x);
      case unary::relu:
        return maximum(x, A(0));
      case unary::sign:
        return x != x ? x : static_cast<A>((x > 0) - (x < 0));
      case unary::logical_not:
        return A(x == 0);
      case unary::one:
        return A(1);
      default:
        break;
    }
    if constexpr (is_float<A>)
      return apply_real(op, x);
    else
      return convert<A>(apply_real(op, static_cast<double>(x)));
  }
}

/// @endcond

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

constexpr const char* name_of(selection how) {
  constexpr const char* names[] = {"lower",       "upper",        "diagonal",       "off_diagonal",
                                   "row_at_most", "row_above",    "column_at_most", "column_above",
                                   "equal",       "not_equal",    "less",           "less_equal",
                                   "greater",     "greater_equal"};
  return names[static_cast<int>(how)];
}
/// The comparison of a value with y that a selection is, from `equal` on.
constexpr binary comparison_of(selection how) {
  return static_cast<binary>(static_cast<int>(how) - static_cast<int>(selection::equal) +
                             static_cast<int>(binary::equal));
}
static_assert(comparison_of(selection::greater_equal) == binary::greater_equal);
/// The selection that compares so.
constexpr selection selection_of(binary comparison) {
  return static_cast<selection>(static_cast<int>(comparison) - static_cast<int>(binary::equal) +
                                static_cast<int>(selection::equal));
}

/// Whether a selection by place retains (i, j).
constexpr bool is_selected(selection how, int64 i, int64 j, int64 y) {
  switch (how) {
    case selection::lower:
      return j - i <= y;
    case selection::upper:
      return j - i >= y;
    case selection::diagonal:
      return j - i == y;
    case selection::off_diagonal:
      return j - i != y;
    case selection::row_at_most:
      return i <= y;
    case selection::row_above:
      return i > y;
    case selection::column_at_most:
      return j <= y;
    default:
      return j > y;
  }
}
/// @endcond

}  // namespace rig
