#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "rig/scalar.hpp"

// Numbers in text, read without locale into a type that may not hold them.

namespace rig::io {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

enum class verdict : unsigned char { good, not_a_number, not_an_integer, does_not_fit };

template <class T>
inline constexpr const char* name_of = "";
template <>
inline constexpr const char* name_of<bool> = "bool";
template <>
inline constexpr const char* name_of<int32> = "int32";
template <>
inline constexpr const char* name_of<int64> = "int64";
template <>
inline constexpr const char* name_of<float> = "float32";
template <>
inline constexpr const char* name_of<double> = "float64";

/// The integers −below … above.
struct integer_range {
  std::uint64_t below = UINT64_MAX, above = UINT64_MAX;
};
template <class T>
constexpr integer_range range_of() {
  if constexpr (!is_integer<T>)
    return {};
  else
    return {static_cast<std::uint64_t>(highest<T>()) + 1, static_cast<std::uint64_t>(highest<T>())};
}

/// Whether x becomes a To without losing more than rounding does: no fraction and no overflow.
/// Every number is a bool: "not 0".
template <class To, class From>
bool fits(From x) {
  if constexpr (is_float<From> && is_integer<To>) {
    const From limit = -static_cast<From>(lowest<To>());
    return x >= -limit && x < limit && static_cast<From>(static_cast<To>(x)) == x;
  } else if constexpr (is_integer<From> && is_integer<To>) {
    return static_cast<From>(static_cast<To>(x)) == x;
  } else if constexpr (is_same<From, double> && is_same<To, float>) {
    const float narrow = static_cast<float>(x);
    return narrow - narrow == 0 || x - x != 0;  // inf and NaN are themselves
  } else {
    return true;
  }
}

/// Whether a decimal that is out of a float type's range is too small, not too large.
inline bool is_tiny(std::string_view digits) {
  int64 exponent = 0;
  if (const auto at = digits.find_first_of("eE"); at != std::string_view::npos) {
    std::string_view tail = digits.substr(at + 1);
    const bool negative = tail.starts_with('-');
    if (negative || tail.starts_with('+')) tail.remove_prefix(1);
    constexpr int64 huge = int64(1) << 60;
    const auto result = std::from_chars(tail.data(), tail.data() + tail.size(), exponent);
    if (result.ec != std::errc() || exponent > huge) exponent = huge;
    if (negative) exponent = -exponent;
    digits = digits.substr(0, at);
  }
  const auto first = static_cast<int64>(digits.find_first_not_of("0."));
  const auto point = static_cast<int64>(
      digits.find('.') == std::string_view::npos ? digits.size() : digits.find('.'));
  return point - first + exponent <= 0;
}

/// One line, read word by word; blanks are between words and around them.
class word_reader {
 public:
  explicit word_reader(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

  bool at_end() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
    return at_ == end_;
  }
  /// The next character, where there is one.
  char front() const { return *at_; }
  /// What is left, without its outer blanks.
  std::string_view rest() {
    at_end();
    const char* last = end_;
    while (last != at_ && is_blank(last[-1])) --last;
    return {at_, static_cast<std::size_t>(last - at_)};
  }
  /// The next word; empty at the end.
  std::string_view peek() {
    at_end();
    const char* last = at_;
    while (last != end_ && !is_blank(*last)) ++last;
    return {at_, static_cast<std::size_t>(last - at_)};
  }
  std::string_view next() {
    const std::string_view word = peek();
    at_ += word.size();
    return word;
  }

  /// The next word as an integer of `allowed`, written as one. A word that is not good stays the
  /// next.
  template <class T>
  verdict integer(integer_range allowed, T& value) {
    at_end();
    const char* at = at_;
    const bool negative = take_sign(at);
    const char* const first = at;
    std::uint64_t magnitude = 0;
    while (at != end_ && *at >= '0' && *at <= '9')
      magnitude = magnitude * 10 + static_cast<unsigned char>(*at++ - '0');
    if (at == first || !is_end(at)) return verdict::not_an_integer;
    constexpr int safe_digits = 19;
    const bool fits_64 =
        at - first <= safe_digits || std::from_chars(first, at, magnitude).ec == std::errc();
    if (!fits_64 || magnitude > (negative ? allowed.below : allowed.above))
      return verdict::does_not_fit;
    if constexpr (is_integer<T>)
      value = static_cast<T>(negative ? 0 - magnitude : magnitude);
    else if constexpr (is_same<T, bool>)
      value = magnitude != 0;
    else
      value = negative ? -static_cast<T>(magnitude) : static_cast<T>(magnitude);
    at_ = at;
    return verdict::good;
  }

  /// The next word as a decimal number, inf or NaN, rounded to nearest; what is too small becomes
  /// 0. An integer takes it if it is integral, a bool is "not 0". A word that is not good stays the
  /// next.
  template <class T>
  verdict real(T& value) {
    if constexpr (is_float<T>) {
      at_end();
      const char* at = at_;
      const bool negative = take_sign(at);
      if (at != end_ && *at == '-') return verdict::not_a_number;
      const auto result = std::from_chars(at, end_, value);
      if (result.ec == std::errc::invalid_argument || !is_end(result.ptr))
        return verdict::not_a_number;
      if (result.ec == std::errc::result_out_of_range) {
        if (!is_tiny({at, static_cast<std::size_t>(result.ptr - at)})) return verdict::does_not_fit;
        value = 0;
      }
      if (negative) value = -value;
      at_ = result.ptr;
    } else {
      if constexpr (is_integer<T>)  // exact where a double is not
        if (integer(range_of<T>(), value) == verdict::good) return verdict::good;
      const char* const before = at_;
      double wide = 0;
      if (const verdict said = real(wide); said != verdict::good) return said;
      if (!fits<T>(wide)) {
        at_ = before;
        return verdict::does_not_fit;
      }
      value = convert<T>(wide);
    }
    return verdict::good;
  }

 private:
  bool is_end(const char* at) const { return at == end_ || is_blank(*at); }
  // from_chars knows no "+".
  bool take_sign(const char*& at) const {
    if (at == end_ || (*at != '-' && *at != '+')) return false;
    return *at++ == '-';
  }

  const char* at_;
  const char* end_;
};

}  // namespace rig::io
