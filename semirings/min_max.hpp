#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = min_k max(A(i,k), B(k,j)): minimax paths, which minimise their greatest edge.
template <class T>
struct min_max {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "min_max";
  static constexpr bool selective = true;
  static constexpr bool annihilates = true;
  static constexpr T zero() { return highest<T>(); }
  static constexpr T add(T x, T y) { return minimum(x, y); }
  static constexpr T multiply(T a, T b) { return maximum(a, b); }
};

}  // namespace rig
