#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = max_k min(A(i,k), B(k,j)): widest paths.
template <class T>
struct max_min {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "max_min";
  static constexpr bool selective = true;
  static constexpr bool annihilates = true;
  static constexpr T zero() { return lowest<T>(); }
  static constexpr T add(T x, T y) { return maximum(x, y); }
  static constexpr T multiply(T a, T b) { return minimum(a, b); }
};

}  // namespace rig
