#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = 1 if A(i,k) and B(k,j) are both nonzero for some k, else 0: reachability.
template <class T>
struct lor_land {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "lor_land";
  static constexpr bool annihilates = true;
  static constexpr bool logical = true;
  static constexpr T zero() { return T(0); }
  static constexpr T add(T x, T y) { return T(x != T(0) || y != T(0)); }
  static constexpr T multiply(T a, T b) { return T(a != T(0) && b != T(0)); }
  static constexpr T terminal() { return T(1); }
};

}  // namespace rig
