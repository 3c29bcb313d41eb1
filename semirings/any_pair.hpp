#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = 1 if the place has a product: whether a neighbour exists.
template <class T>
struct any_pair {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "any_pair";
  static constexpr bool ignores_left = true;
  static constexpr bool ignores_right = true;
  static constexpr bool logical = true;
  static constexpr T zero() { return T(0); }
  static constexpr T add(T x, T y) { return T(x != T(0) || y != T(0)); }
  static constexpr T multiply(T, T) { return T(1); }
  static constexpr T terminal() { return T(1); }
};

}  // namespace rig
