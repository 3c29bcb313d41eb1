#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = Σ_k A(i,k) · B(k,j): linear algebra. Integers wrap.
template <class T>
struct plus_times {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "plus_times";
  static constexpr bool annihilates = true;
  static constexpr reduction samples_as = reduction::sum;
  static constexpr bool linear = true;
  static constexpr T zero() { return T(0); }
  static constexpr T add(T x, T y) { return plus(x, y); }
  static constexpr T multiply(T a, T b) { return times(a, b); }
};

}  // namespace rig
