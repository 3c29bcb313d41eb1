#pragma once

/// @file
/// Numbers as arguments: `scalar`, and `checked_number`.

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "rig/error.hpp"
#include "rig/scalar.hpp"

namespace rig {

class scalar;

/// @cond internal
/// Whether T is an integer type, or an enum that converts to one. Characters are text.
template <class T>
inline constexpr bool is_whole = (std::is_integral_v<T> && sizeof(T) <= sizeof(int64)) ||
                                 (std::is_enum_v<T> && std::is_convertible_v<T, int64>);
template <>
inline constexpr bool is_whole<char> = false;
template <>
inline constexpr bool is_whole<wchar_t> = false;
template <>
inline constexpr bool is_whole<char8_t> = false;
template <>
inline constexpr bool is_whole<char16_t> = false;
template <>
inline constexpr bool is_whole<char32_t> = false;

/// Whether a number for a T is checked: T has integers. A bool is "not 0", a float rounds.
template <class T>
inline constexpr bool has_limits =
    std::is_integral_v<T> && !is_same<T, bool> && sizeof(T) <= sizeof(int64);

/// An integer type, for messages.
struct integer_limits {
  const char* name;
  int64 least;
  std::uint64_t greatest;
};
template <class T>
constexpr integer_limits limits_of() {
  constexpr const char* names[2][4] = {{"uint8", "uint16", "uint32", "uint64"},
                                       {"int8", "int16", "int32", "int64"}};
  constexpr int size = sizeof(T) == 8 ? 3 : sizeof(T) / 2;
  using limits = std::numeric_limits<T>;
  return {names[limits::is_signed][size], static_cast<int64>(limits::min()),
          static_cast<std::uint64_t>(limits::max())};
}

/// Throws error(range), which names the call, its argument, the number and the type.
[[noreturn]] void refuse_number(const char* call, const char* argument, const scalar& number,
                                const integer_limits& type);
/// @endcond

/// A number of any storage or integer type, kept exactly; the type of `descriptor::fill`. Empty by
/// default.
/// @code
/// const rig::scalar fill = -1;
/// const float number = fill.as<float>();
/// @endcode
class scalar {
 public:
  /// Holds no number.
  constexpr scalar() = default;
  /// Holds `value`. Text, characters and pointers do not compile.
  template <class T>
  constexpr scalar(T value) {
    if constexpr (is_float<T> || is_small_float<T>) {
      state_ = state::real;
      real_ = convert<double>(value);
    } else if constexpr (is_whole<T>) {
      state_ = value < T(0) ? state::negative : state::natural;
      integer_ = static_cast<std::uint64_t>(value);
    } else {
      static_assert(sizeof(T) == 0,
                    "a fill is a number: of float, double, half, bfloat16 or an integer type");
    }
  }

  /// Whether it holds a number.
  constexpr bool has_value() const { return state_ != state::empty; }
  /// The number as a T, by `convert`.
  template <class T>
  constexpr T as() const {
    if (state_ == state::natural) return convert<T>(integer_);
    if (state_ == state::negative) return convert<T>(static_cast<int64>(integer_));
    return convert<T>(real_);
  }

  /// @cond internal
  /// Whether it lies between the least and the greatest number of an integer type.
  constexpr bool is_within(const integer_limits& type) const {
    if (state_ == state::natural) return integer_ <= type.greatest;
    if (state_ == state::negative) return static_cast<int64>(integer_) >= type.least;
    // The greatest number need not be a double; the one above it is.
    const std::uint64_t half = type.greatest / 2 + 1;
    return real_ >= static_cast<double>(type.least) && real_ < 2 * static_cast<double>(half);
  }
  /// Whether it has no fraction.
  constexpr bool is_integer() const {
    constexpr double exact = 1L << 53;  // from here on, doubles have none
    return !(real_ < exact && real_ > -exact) ||
           real_ == static_cast<double>(static_cast<int64>(real_));
  }
  /// The number as a T. Throws error(range) if T has integers and this is none of them.
  template <class T>
  constexpr T checked(const char* call, const char* argument) const {
    if constexpr (has_limits<T>)
      if (!is_within(limits_of<T>()) || !is_integer())
        refuse_number(call, argument, *this, limits_of<T>());
    return as<T>();
  }
  /// The number in a message.
  message_piece in_words() const {
    if (state_ == state::natural) return integer_;
    if (state_ == state::negative) return static_cast<int64>(integer_);
    return real_;
  }
  /// @endcond

 private:
  enum class state : unsigned char { empty, real, natural, negative };
  state state_ = state::empty;
  double real_ = 0;
  std::uint64_t integer_ = 0;
};

/// A number as an argument for elements of an integer type T. One that a T cannot hold, or that has
/// a fraction, is error(range), which names it and the call. A class, and an integer of more than 8
/// bytes, is converted to T first, by its own rule.
/// @code
/// try { rig::dense<int>(2, 2, 5'000'000'000); }
/// catch (const rig::error& e) { std::puts(e.what()); }
/// @endcode
template <class T>
class checked_number {
 public:
  /// 0.
  constexpr checked_number() = default;
  /// The number, which is checked when the call reads it.
  template <std::convertible_to<T> Number>
  constexpr checked_number(const Number& number) : number_(exact(number)) {}
  /// The number as a T; the words are for the message. Throws error(range).
  constexpr T as(const char* call, const char* argument) const {
    return number_.checked<T>(call, argument);
  }

 private:
  template <class Number>
  static constexpr scalar exact(const Number& number) {
    if constexpr (std::is_floating_point_v<Number>)
      return static_cast<double>(number);
    else if constexpr ((std::is_arithmetic_v<Number> || std::is_enum_v<Number>)&&sizeof(Number) <=
                       sizeof(int64))
      return +number;  // characters are numbers here
    else
      return +static_cast<T>(number);  // a class converts itself
  }

  scalar number_ = 0;
};

/// @cond internal
/// A T as an argument: checked if it is a number that T may not hold.
template <class T>
using argument = std::conditional_t<has_limits<T>, checked_number<T>, T>;
/// The argument as a T.
template <class T>
constexpr T read_argument(const argument<T>& given, const char* call, const char* name) {
  if constexpr (has_limits<T>)
    return given.as(call, name);
  else
    return given;
}
/// @endcond

}  // namespace rig
