#pragma once

/// @file
/// Scalars and their arithmetic: the only header that depends on the compiler that reads it. It
/// includes nothing, so g++, nvcc and NVRTC compile semirings from the same text.

#if __cplusplus < 202002L
#error "rig needs C++20: compile with -std=c++20"
#include "compile with -std=c++20"  // a missing file ends the compilation, #error does not
#endif

namespace rig {

/// The storage types by name. `code` is a byte of a `quantized`, whose ranges define its value;
/// only B has it. `other` is any further type, stored and computed unchanged.
enum class type : unsigned char {
  boolean,   ///< bool
  int32,     ///< rig::int32
  int64,     ///< rig::int64
  float32,   ///< float
  float64,   ///< double
  half,      ///< rig::half
  bfloat16,  ///< rig::bfloat16
  code,      ///< a byte of a quantized
  other,     ///< any further type
};

/// A signed integer of 4 bytes, and a storage type.
using int32 = int;
/// A signed integer of 8 bytes, and a storage type. It is long on every platform of rig.
using int64 = long;
static_assert(sizeof(int32) == 4 && sizeof(int64) == 8);

/// Rows, columns and ranks: matrices have fewer than 2^31 rows and columns. `<cstring>` declares
/// POSIX's function ::index. To avoid the clash, write rig::index, or `using rig::index;` in a
/// namespace or a function.
using index = int32;

/// IEEE binary16, a storage type that converts to and from float, rounding to nearest even. The
/// bits of a NaN differ by place.
/// @code
/// const rig::half third(1.0f / 3);
/// std::printf("%.7f\n", float(third));  // 0.3332520
/// @endcode
struct half {
  unsigned short bits = 0;  ///< sign, exponent and fraction
  /// 0.
  constexpr half() = default;
  /// The nearest number; of two that are as near, the even one.
  constexpr explicit half(float value) : bits(round(value)) {}
  /// The same number; no rounding.
  constexpr explicit operator float() const {
#ifdef __CUDA_ARCH__
    if (!__builtin_is_constant_evaluated()) {
      float wide;
      asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits));
      return wide;
    }
#endif
    const unsigned sign = (bits & 0x8000u) << 16;
    const unsigned exponent = (bits >> 10) & 0x1fu;
    const unsigned fraction = bits & 0x3ffu;
    if (exponent == 31) return __builtin_bit_cast(float, sign | 0x7f800000u | (fraction << 13));
    if (exponent != 0)
      return __builtin_bit_cast(float, sign | ((exponent + 112) << 23) | (fraction << 13));
    const float magnitude = static_cast<float>(fraction) * (1.0f / 16777216.0f);
    return sign != 0 ? -magnitude : magnitude;
  }

 private:
  static constexpr unsigned short round(float value) {
#ifdef __CUDA_ARCH__
    if (!__builtin_is_constant_evaluated()) {
      unsigned short bits;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
      return bits;
    }
#endif
    const unsigned word = __builtin_bit_cast(unsigned, value);
    const unsigned sign = (word >> 16) & 0x8000u;
    const unsigned magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<unsigned short>(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);
    unsigned kept = 0, rest = 0, halfway = 0;
    if (magnitude >= 0x38800000u) {
      kept = (magnitude - 0x38000000u) >> 13;
      rest = magnitude & 0x1fffu;
      halfway = 0x1000u;
    } else if (magnitude >= 0x33000000u) {  // subnormal: shift the explicit leading one into place
      const unsigned shift = 126 - (magnitude >> 23);
      const unsigned fraction = (magnitude & 0x7fffffu) | 0x800000u;
      kept = fraction >> shift;
      rest = fraction & ((1u << shift) - 1);
      halfway = 1u << (shift - 1);
    }
    if (rest > halfway || (rest == halfway && halfway != 0 && (kept & 1u) != 0)) ++kept;
    return static_cast<unsigned short>(sign | kept);
  }
};

/// The upper half of a float, a storage type that converts to and from float, rounding to nearest
/// even. The bits of a NaN differ by place.
/// @code
/// const rig::bfloat16 third(1.0f / 3);
/// std::printf("%.7f\n", float(third));  // 0.3339844
/// @endcode
struct bfloat16 {
  unsigned short bits = 0;  ///< sign, exponent and fraction
  /// 0.
  constexpr bfloat16() = default;
  /// The nearest number; of two that are as near, the even one.
  constexpr explicit bfloat16(float value) : bits(round(value)) {}
  /// The same number; no rounding.
  constexpr explicit operator float() const {
    return __builtin_bit_cast(float, static_cast<unsigned>(bits) << 16);
  }

 private:
  static constexpr unsigned short round(float value) {
#ifdef __CUDA_ARCH__
    if (!__builtin_is_constant_evaluated()) {
      unsigned short bits;
      asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
      return bits;
    }
#endif
    const unsigned word = __builtin_bit_cast(unsigned, value);
    if ((word & 0x7fffffffu) > 0x7f800000u)
      return static_cast<unsigned short>((word >> 16) | 0x40u);
    return static_cast<unsigned short>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
};

/// A value with its index: the accumulator of arg-max and arg-min.
template <class T>
struct indexed {
  T value;      ///< the value
  int32 index;  ///< the inner index k of its product
  /// Whether value and index are equal.
  friend constexpr bool operator==(const indexed& x, const indexed& y) {
    return x.value == y.value && x.index == y.index;
  }
};

/// The storage type that T is; `other` for any further type.
template <class T>
inline constexpr type type_of = type::other;
/// @cond internal
template <>
inline constexpr type type_of<bool> = type::boolean;
template <>
inline constexpr type type_of<int32> = type::int32;
template <>
inline constexpr type type_of<int64> = type::int64;
template <>
inline constexpr type type_of<float> = type::float32;
template <>
inline constexpr type type_of<double> = type::float64;
template <>
inline constexpr type type_of<half> = type::half;
template <>
inline constexpr type type_of<bfloat16> = type::bfloat16;
/// @endcond

/// Whether T is a storage type: float, double, int32, int64, bool, half or bfloat16.
template <class T>
inline constexpr bool is_storage = type_of<T> != type::other;
/// Whether T is half or bfloat16.
template <class T>
inline constexpr bool is_small_float = false;
/// @cond internal
template <>
inline constexpr bool is_small_float<half> = true;
template <>
inline constexpr bool is_small_float<bfloat16> = true;
/// @endcond
/// Whether T is float or double.
template <class T>
inline constexpr bool is_float = false;
/// @cond internal
template <>
inline constexpr bool is_float<float> = true;
template <>
inline constexpr bool is_float<double> = true;
/// @endcond
/// Whether T is int32 or int64.
template <class T>
inline constexpr bool is_integer = false;
/// @cond internal
template <>
inline constexpr bool is_integer<int32> = true;
template <>
inline constexpr bool is_integer<int64> = true;
/// @endcond
/// Whether T is U.
template <class T, class U>
inline constexpr bool is_same = false;
/// @cond internal
template <class T>
inline constexpr bool is_same<T, T> = true;

template <class T>
struct unsigned_twin {
  using type = T;
};
template <>
struct unsigned_twin<int32> {
  using type = unsigned;
};
template <>
struct unsigned_twin<int64> {
  using type = unsigned long;
};
/// @endcond

/// The least value of T, the identity of max: -inf for floats.
template <class T>
constexpr T lowest() {
  if constexpr (is_same<T, float>)
    return __builtin_bit_cast(float, 0xff800000u);
  else if constexpr (is_same<T, double>)
    return __builtin_bit_cast(double, 0xfff0000000000000ul);
  else if constexpr (is_same<T, bool>)
    return false;
  else
    return static_cast<T>(static_cast<typename unsigned_twin<T>::type>(1) << (8 * sizeof(T) - 1));
}

/// The greatest value of T, the identity of min: +inf for floats.
template <class T>
constexpr T highest() {
  if constexpr (is_same<T, float>)
    return __builtin_bit_cast(float, 0x7f800000u);
  else if constexpr (is_same<T, double>)
    return __builtin_bit_cast(double, 0x7ff0000000000000ul);
  else if constexpr (is_same<T, bool>)
    return true;
  else
    return static_cast<T>(~static_cast<typename unsigned_twin<T>::type>(lowest<T>()));
}

/// max(x, y); NaN wins. The sign of a zero tie is unspecified.
template <class T>
constexpr T maximum(T x, T y) {
#ifdef __CUDA_ARCH__
  if constexpr (is_same<T, float>) {
    if (!__builtin_is_constant_evaluated()) {
      asm("max.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(x), "f"(y));
      return x;
    }
  }
#endif
  // The machine's instruction, which yields x if either is NaN, and a test for y alone, which is no
  // sum that the next test waits for. Other forms become branches, or more instructions.
  const T larger = y > x ? y : x;
  return y == y ? larger : y;
}

/// min(x, y); NaN wins. The sign of a zero tie is unspecified.
template <class T>
constexpr T minimum(T x, T y) {
#ifdef __CUDA_ARCH__
  if constexpr (is_same<T, float>) {
    if (!__builtin_is_constant_evaluated()) {
      asm("min.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(x), "f"(y));
      return x;
    }
  }
#endif
  const T smaller = y < x ? y : x;
  return y == y ? smaller : y;
}

/// x + y; integers wrap, bool is "or".
template <class T>
constexpr T plus(T x, T y) {
  if constexpr (is_same<T, bool>)
    return x | y;
  else if constexpr (is_integer<T>) {
    using U = typename unsigned_twin<T>::type;
    return static_cast<T>(static_cast<U>(x) + static_cast<U>(y));
  } else
    return x + y;
}

/// x · y; integers wrap, bool is "and".
template <class T>
constexpr T times(T x, T y) {
  if constexpr (is_same<T, bool>)
    return x & y;
  else if constexpr (is_integer<T>) {
    using U = typename unsigned_twin<T>::type;
    return static_cast<T>(static_cast<U>(x) * static_cast<U>(y));
  } else
    return x * y;
}

/// x / n, for n > 0 terms; integers round toward zero. On CUDA a normal float is the nearest one, a
/// subnormal one is within one unit in the last place, and −0 becomes 0.
template <class T>
constexpr T mean_of(T x, int64 n) {
#ifdef __CUDA_ARCH__
  // One reciprocal serves all columns of a row; a residual then rounds each quotient correctly
  // (Markstein 1990). Tested for n to 4 096, and once on an H200 for n to 2^24, 64 values of x
  // each. Intrinsics, because the compiler repeats assembly for each element.
  if constexpr (is_same<T, float>) {
    const float d =
        n <= highest<int32>() ? static_cast<float>(static_cast<int32>(n)) : static_cast<float>(n);
    const float r = __frcp_rn(d), q = __fmul_rn(x, r);
    // The residual of an infinity is NaN, for which fmaxf returns the other operand.
    const float rest = fmaxf(__fmaf_rn(-q, d, x), -3.402823466e38f);
    return __fmaf_rn(rest, r, q);
  }
#endif
  return static_cast<T>(x / static_cast<T>(n));
}

/// x + y for shortest and longest paths. `zero` (no path) absorbs; integers clamp at their limits;
/// floats follow IEEE.
template <class T>
constexpr T saturating_plus(T x, T y, T zero) {
  if constexpr (is_integer<T> || is_same<T, bool>)
    if (x == zero || y == zero) return zero;
  if constexpr (is_integer<T>) {
    if (y > 0 && x > highest<T>() - y) return highest<T>();
    if (y < 0 && x < lowest<T>() - y) return lowest<T>();
  }
  return plus(x, y);
}

/// Conversion between storage and algebra types. To bool: "not 0". A float becomes the nearest
/// integer toward zero, clamped; NaN becomes 0. Integers wrap. Half and bfloat16 go through float.
template <class To, class From>
constexpr To convert(const From& x) {
  if constexpr (is_same<To, From>)
    return x;
  else if constexpr (is_small_float<From>)
    return convert<To>(static_cast<float>(x));
  else if constexpr (is_small_float<To>)
    return To(static_cast<float>(x));
  else if constexpr (is_same<To, bool>)
    return x != From(0);
  else if constexpr (is_integer<To> && is_float<From>) {
    // 2^31 and 2^63 are exact in both float types; highest<To>() need not be.
    const From limit = -static_cast<From>(lowest<To>());
    if (x >= limit) return highest<To>();
    if (x <= -limit) return lowest<To>();
    return x == x ? static_cast<To>(x) : To(0);
  } else
    return static_cast<To>(x);
}

/// @cond internal
/// The first number from low on for which `reached` holds, as it does for all after it; `high` if
/// none before that does. A search in halves.
template <class Number, class Reached>
constexpr Number first_where(Number low, Number high, Reached reached) {
  while (low < high) {
    const Number middle = low + (high - low) / 2;
    if (reached(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Whether elements of type T compare by ==; half and bfloat16 do as floats.
template <class T>
concept comparable = is_small_float<T> || requires(const T& x) {
  {x == x};
};
template <comparable T>
constexpr bool is_equal(const T& x, const T& y) {
  if constexpr (is_small_float<T>)
    return static_cast<float>(x) == static_cast<float>(y);
  else
    return x == y;
}
/// @endcond

}  // namespace rig
