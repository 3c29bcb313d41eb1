#pragma once

// Maps floating-point numbers to integers of the same order, for selection by bits in every place.

#include <cstddef>

#include "rig/scalar.hpp"

namespace rig {

template <std::size_t Bytes>
struct word_of;
template <>
struct word_of<2> {
  using type = unsigned short;
  static constexpr type sign = type(1) << 15;
};
template <>
struct word_of<4> {
  using type = unsigned;
  static constexpr type sign = type(1) << 31;
};
template <>
struct word_of<8> {
  using type = unsigned long;
  static constexpr type sign = type(1) << 63;
};

/// An integer above 0 that orders as x does: NaN above all, −0 equal to +0.
template <class T>
constexpr auto sort_key(T x) {
  using word = typename word_of<sizeof(T)>::type;
  constexpr word sign = word_of<sizeof(T)>::sign;
  constexpr auto infinity = __builtin_bit_cast(word, convert<T>(highest<float>()));
  const auto bits = __builtin_bit_cast(word, x);
  const auto magnitude = static_cast<word>(bits & ~sign);
  const auto key = static_cast<word>(bits > sign ? ~bits : magnitude | sign);
  return magnitude > infinity ? static_cast<word>(~word(0)) : key;
}

/// The inverse of sort_key, except for the payload of NaN and the sign of 0.
template <class T>
constexpr T number_of_key(typename word_of<sizeof(T)>::type key) {
  using word = typename word_of<sizeof(T)>::type;
  constexpr word sign = word_of<sizeof(T)>::sign;
  return __builtin_bit_cast(T, static_cast<word>(key >= sign ? key & ~sign : ~key));
}

}  // namespace rig
