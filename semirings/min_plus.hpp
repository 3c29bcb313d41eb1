#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = min_k A(i,k) + B(k,j): shortest paths. Integers clamp; zero() means "no path".
template <class T>
struct min_plus {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "min_plus";
  static constexpr bool selective = true;
  static constexpr bool annihilates = true;
  static constexpr T zero() { return highest<T>(); }
  static constexpr T add(T x, T y) { return minimum(x, y); }
  static constexpr T multiply(T a, T b) { return saturating_plus(a, b, zero()); }
};

}  // namespace rig
