#pragma once

// The oracle's numbers: conversions and arithmetic of every type, written without the library.

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>

namespace oracle {

/// Holds every number of every storage type exactly.
using number = long double;
static_assert(std::numeric_limits<number>::digits >= 64);

enum class kind { boolean, int32, int64, float32, float64, half, bfloat16 };

inline bool is_integral(kind k) {
  return k == kind::boolean || k == kind::int32 || k == kind::int64;
}

/// The kind that computes with numbers of two kinds: the later of bool, int32, int64, float,
/// double.
inline kind common(kind x, kind y) {
  const auto in = [](kind k) { return k == kind::half || k == kind::bfloat16 ? kind::float32 : k; };
  return std::max(in(x), in(y));
}

/// x with `digits` significant bits and no bit below 2^least, ties to even; infinite from `beyond`.
inline number rounded(number x, int digits, int least, number beyond) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  const int quantum = std::max(exponent - digits, least);
  const number r = std::ldexp(std::nearbyint(std::ldexp(x, -quantum)), quantum);
  return std::fabs(r) >= beyond ? std::copysign(std::numeric_limits<number>::infinity(), x) : r;
}

inline number round_to_half(number x) { return rounded(x, 11, -24, 65536); }
inline number round_to_bfloat16(number x) { return rounded(x, 8, -133, 0x1p128L); }

/// The number of a 16-bit pattern: a sign, `exponent_bits` of exponent, then the fraction.
inline number decode(unsigned short bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  number x = 0;
  if (exponent == (1 << exponent_bits) - 1)
    x = fraction != 0 ? std::numeric_limits<number>::quiet_NaN()
                      : std::numeric_limits<number>::infinity();
  else if (exponent == 0)
    x = std::ldexp(static_cast<number>(fraction), 1 - bias - fraction_bits);
  else
    x = std::ldexp(static_cast<number>(fraction + (1 << fraction_bits)),
                   exponent - bias - fraction_bits);
  return (bits & 0x8000) != 0 ? -x : x;
}

/// The bits of a number that the format holds exactly; any NaN for NaN.
inline unsigned short encode(number x, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned sign = std::signbit(x) ? 0x8000u : 0u;
  const unsigned top = ((1u << exponent_bits) - 1) << fraction_bits;
  if (std::isnan(x)) return static_cast<unsigned short>(top | 1u << (fraction_bits - 1));
  if (std::isinf(x)) return static_cast<unsigned short>(sign | top);
  int exponent = 0;
  std::frexp(x, &exponent);
  const int least = 1 - bias - fraction_bits;
  const int quantum = x == 0 ? least : std::max(exponent - 1 - fraction_bits, least);
  const auto digits = static_cast<unsigned>(std::ldexp(std::fabs(x), -quantum));
  // The leading digit is included, so the addition carries it into the exponent field.
  const auto steps = static_cast<unsigned>(quantum - least);
  return static_cast<unsigned short>(sign | (digits + (steps << fraction_bits)));
}

/// The number x of type `from` as a number of type `to`.
inline number convert(kind from, kind to, number x) {
  switch (to) {
    case kind::boolean:
      return x != 0 ? 1 : 0;
    case kind::int32:
      if (is_integral(from)) return static_cast<int>(static_cast<unsigned>(static_cast<long>(x)));
      if (std::isnan(x)) return 0;
      return std::trunc(std::clamp(x, static_cast<number>(INT_MIN), static_cast<number>(INT_MAX)));
    case kind::int64:
      if (std::isnan(x)) return 0;
      return std::trunc(
          std::clamp(x, static_cast<number>(LONG_MIN), static_cast<number>(LONG_MAX)));
    case kind::float32:
      return static_cast<float>(x);
    case kind::float64:
      return static_cast<double>(x);
    case kind::half:
      return round_to_half(static_cast<float>(x));
    case kind::bfloat16:
      return round_to_bfloat16(static_cast<float>(x));
  }
  return x;
}

/// The operators by name, in the order of rig::binary; then that of some semirings.
enum class op {
  plus,
  minus,
  times,
  divide,
  minimum,
  maximum,
  first,
  second,
  logical_or,
  logical_and,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  pair
};

/// The operator of the same name in the library's list.
template <class Binary>
constexpr op named_as(Binary of) {
  const auto agree = [](Binary theirs, op ours) { return int(theirs) == int(ours); };
  static_assert(agree(Binary::plus, op::plus) && agree(Binary::logical_and, op::logical_and) &&
                agree(Binary::equal, op::equal) && agree(Binary::greater_equal, op::greater_equal));
  return static_cast<op>(of);
}

inline number least(kind k) {
  if (k == kind::boolean) return 0;
  if (k == kind::int32) return INT_MIN;
  if (k == kind::int64) return static_cast<number>(LONG_MIN);
  return -std::numeric_limits<number>::infinity();
}
inline number greatest(kind k) {
  if (k == kind::boolean) return 1;
  if (k == kind::int32) return INT_MAX;
  if (k == kind::int64) return static_cast<number>(LONG_MAX);
  return std::numeric_limits<number>::infinity();
}

/// Integer arithmetic modulo 2^64, then modulo the type.
inline number apply_to_integers(op o, kind k, number a, number b) {
  const auto x = static_cast<unsigned long>(static_cast<long>(a));
  const auto y = static_cast<unsigned long>(static_cast<long>(b));
  unsigned long z = 0;
  if (o == op::plus) z = x + y;
  if (o == op::minus) z = x - y;
  if (o == op::times) z = x * y;
  if (o == op::divide) {
    if (b == 0) return a == 0 ? 0 : a > 0 ? greatest(k) : least(k);
    z = b == -1 ? 0 - x : static_cast<unsigned long>(static_cast<long>(a) / static_cast<long>(b));
  }
  return k == kind::int32 ? static_cast<number>(static_cast<int>(static_cast<unsigned>(z)))
                          : static_cast<number>(static_cast<long>(z));
}

inline number apply_to_floats(op o, kind k, number a, number b) {
  const auto x = static_cast<double>(a), y = static_cast<double>(b);
  const double z = o == op::plus ? x + y : o == op::minus ? x - y : o == op::times ? x * y : x / y;
  // Rounding a double result of two floats to float is exact, because 53 ≥ 2·24 + 2.
  return k == kind::float32 ? static_cast<number>(static_cast<float>(z)) : z;
}

/// a ∘ b for numbers of type k, correctly rounded.
inline number apply(op o, kind k, number a, number b) {
  switch (o) {
    case op::first:
      return a;
    case op::second:
      return b;
    case op::pair:
      return 1;
    case op::minimum:
      return std::isnan(a) ? a : std::isnan(b) ? b : a < b ? a : b;
    case op::maximum:
      return std::isnan(a) ? a : std::isnan(b) ? b : a > b ? a : b;
    case op::logical_or:
      return a != 0 || b != 0 ? 1 : 0;
    case op::logical_and:
      return a != 0 && b != 0 ? 1 : 0;
    case op::equal:
      return a == b ? 1 : 0;
    case op::not_equal:
      return a != b ? 1 : 0;
    case op::less:
      return a < b ? 1 : 0;
    case op::less_equal:
      return a <= b ? 1 : 0;
    case op::greater:
      return a > b ? 1 : 0;
    case op::greater_equal:
      return a >= b ? 1 : 0;
    default:
      break;
  }
  if (k == kind::boolean) {
    if (o == op::plus) return a != 0 || b != 0 ? 1 : 0;
    if (o == op::minus) return (a != 0) != (b != 0) ? 1 : 0;
    return o == op::times ? a * b : a;
  }
  return is_integral(k) ? apply_to_integers(o, k, a, b) : apply_to_floats(o, k, a, b);
}

}  // namespace oracle
