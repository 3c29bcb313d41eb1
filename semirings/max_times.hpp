#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = max_k A(i,k) · B(k,j): most likely paths. Integers wrap.
template <class T>
struct max_times {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "max_times";
  static constexpr reduction samples_as = reduction::extreme;
  static constexpr T zero() { return lowest<T>(); }
  static constexpr T add(T x, T y) { return maximum(x, y); }
  static constexpr T multiply(T a, T b) { return times(a, b); }
};

}  // namespace rig
