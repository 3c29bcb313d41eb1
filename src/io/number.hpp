#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "rig/scalar.hpp"

// Numbers in text, read without locale into a type that may be too small.

namespace rig::io {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
/// Whether `c` ends a word.
inline bool ends_word(char c, char separator) { return is_blank(c) || c == separator; }

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

/// The integers from −below to above.
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

/// Reads digits and moves `at` behind them; 20 bytes from there must be readable. Returns whether
/// there are any, and at most 19, which fit.
inline bool read_digits(const char*& at, std::uint64_t& number) {
  static_assert(std::endian::native == std::endian::little, "the first digit is the lowest byte");
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr int most = 19;
  std::uint64_t word;
  std::memcpy(&word, at, sizeof(word));
  word ^= ones * '0';
  // The high bits of bytes above 9 are set; behind the first of them, perhaps of others too.
  const std::uint64_t others = (word | (word + ones * (0x7f - 9))) & (ones * 0x80);
  const int count = others == 0 ? 8 : std::countr_zero(others) / 8;
  if (count == 0) return false;
  word <<= 64 - 8 * count;  // zeros come before the first digit
  // Neighbours are joined: digits, pairs of digits, and four digits.
  word = (word * (10 * 0x100 + 1) >> 8) & 0x00ff00ff00ff00ff;
  word = (word * (100 * 0x10000 + 1) >> 16) & 0x0000ffff0000ffff;
  number = word * (10000 * 0x100000000 + 1) >> 32;
  const char* const end = at + most;
  for (at += count; count == 8 && *at >= '0' && *at <= '9'; ++at) {
    if (at == end) return false;
    number = number * 10 + static_cast<unsigned char>(*at - '0');
  }
  return true;
}

/// Whether x converts to To with no loss except rounding: no fraction, no overflow. Every number
/// fits bool as "not 0".
template <class To, class From>
bool fits(From x) {
  if constexpr (is_float<From> && is_integer<To>) {
    const From limit = -static_cast<From>(lowest<To>());
    return x >= -limit && x < limit && static_cast<From>(static_cast<To>(x)) == x;
  } else if constexpr (is_integer<From> && is_integer<To>) {
    return static_cast<From>(static_cast<To>(x)) == x;
  } else if constexpr (is_same<From, double> && is_same<To, float>) {
    const float narrowed = static_cast<float>(x);
    return narrowed - narrowed == 0 || x - x != 0;  // inf and NaN convert to themselves
  } else {
    return true;
  }
}

/// A finite number as written, without its sign: 0.d₁d₂… · 10^point, with all digits.
class decimal {
 public:
  /// Parses a text that from_chars accepts.
  explicit decimal(std::string_view text) {
    const auto e = std::min(text.find_first_of("eE"), text.size());
    const auto dot = static_cast<int64>(std::min(text.find('.'), e));
    const auto first = text.substr(0, e).find_first_not_of("0."),
               last = text.substr(0, e).find_last_not_of("0.");
    if (first == std::string_view::npos) return;
    digits_ = text.substr(first, last - first + 1);
    const auto before = static_cast<int64>(first);
    point_ = dot - before + (dot < before ? 1 : 0);
    if (e < text.size()) point_ += exponent(text.substr(e + 1));
  }
  bool is_zero() const { return digits_.empty(); }
  bool is_less_than_one() const { return is_zero() || point_ <= 0; }
  /// Sets `number` and returns true if the value is an integer of 64 bits.
  bool as_integer(std::uint64_t& number) const {
    number = 0;
    constexpr int64 most_digits = 20;
    if (!is_zero() && point_ > most_digits) return false;
    int64 places = is_zero() ? 0 : point_;
    for (const char c : digits_)
      if (c != '.' && (--places < 0 || !append(static_cast<unsigned char>(c - '0'), number)))
        return false;
    while (places-- > 0)
      if (!append(0, number)) return false;
    return true;
  }

 private:
  static int64 exponent(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    constexpr int64 huge = int64(1) << 60;
    int64 size = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), size);
    if (result.ec != std::errc() || size > huge) size = huge;
    return negative ? -size : size;
  }
  static bool append(std::uint64_t digit, std::uint64_t& number) {
    return !__builtin_mul_overflow(number, std::uint64_t(10), &number) &&
           !__builtin_add_overflow(number, digit, &number);
  }

  std::string_view digits_;  // from the first nonzero digit to the last, perhaps with a point
  int64 point_ = 0;
};

/// One line, read word by word; blanks separate and surround words.
class word_reader {
 public:
  /// If `separator` is not a blank, it also ends words.
  explicit word_reader(std::string_view line, char separator = ' ')
      : at_(line.data()), end_(line.data() + line.size()), separator_(separator) {}

  bool at_end() {
    while (at_ != end_ && is_blank(*at_)) ++at_;
    return at_ == end_;
  }
  /// The next character; there must be one.
  char front() const { return *at_; }
  /// The rest of the line, without its outer blanks.
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
    while (!is_end(last)) ++last;
    return {at_, static_cast<std::size_t>(last - at_)};
  }
  /// Skips the separator; returns false if another character comes next.
  bool take_separator() {
    if (is_blank(separator_)) return true;
    if (at_end() || *at_ != separator_) return false;
    ++at_;
    return true;
  }
  std::string_view next() {
    const std::string_view word = peek();
    at_ += word.size();
    return word;
  }

  /// Reads the next word as an integer within `allowed`. A word that is not good stays unread.
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

  /// Reads the next word as a decimal number, inf or NaN. A float type rounds to nearest, and
  /// underflow becomes 0. An integer type requires an integral number; a bool is "not 0". A word
  /// that is not good stays unread.
  template <class T>
  verdict real(T& value) {
    if constexpr (is_integer<T>)  // the common notation, and fast
      if (integer(range_of<T>(), value) == verdict::good) return verdict::good;
    at_end();
    const char* at = at_;
    const bool negative = take_sign(at);
    if (at != end_ && *at == '-') return verdict::not_a_number;
    std::conditional_t<is_float<T>, T, double> nearest = 0;
    const auto result = std::from_chars(at, end_, nearest);
    if (result.ec == std::errc::invalid_argument || !is_end(result.ptr))
      return verdict::not_a_number;
    const std::string_view text(at, static_cast<std::size_t>(result.ptr - at));
    if constexpr (is_float<T>) {
      if (result.ec == std::errc::result_out_of_range) {
        if (!decimal(text).is_less_than_one()) return verdict::does_not_fit;
        nearest = 0;
      }
      value = negative ? -nearest : nearest;
    } else if (!exact(text, negative, value)) {
      return verdict::does_not_fit;
    }
    at_ = result.ptr;
    return verdict::good;
  }

 private:
  bool is_end(const char* at) const { return at == end_ || ends_word(*at, separator_); }
  /// Converts a number to an integer or a bool from its digits, because a double would round it.
  template <class T>
  static bool exact(std::string_view text, bool negative, T& value) {
    const bool finite = text[0] == '.' || (text[0] >= '0' && text[0] <= '9');
    if constexpr (is_same<T, bool>) {
      value = !finite || !decimal(text).is_zero();
      return true;
    } else {
      constexpr integer_range range = range_of<T>();
      std::uint64_t magnitude = 0;
      if (!finite || !decimal(text).as_integer(magnitude)) return false;
      value = static_cast<T>(negative ? 0 - magnitude : magnitude);
      return magnitude <= (negative ? range.below : range.above);
    }
  }
  // from_chars does not accept "+".
  bool take_sign(const char*& at) const {
    if (at == end_ || (*at != '-' && *at != '+')) return false;
    return *at++ == '-';
  }

  const char* at_;
  const char* end_;
  char separator_;
};

}  // namespace rig::io
