#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = max_k A(i,k) + B(k,j): longest paths, scores. Integers clamp; zero() means "no path".
template <class T>
struct max_plus {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "max_plus";
  static constexpr bool selective = true;
  static constexpr bool annihilates = true;
  static constexpr T zero() { return lowest<T>(); }
  static constexpr T add(T x, T y) { return maximum(x, y); }
  static constexpr T multiply(T a, T b) { return saturating_plus(a, b, zero()); }
};

}  // namespace rig
