#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = Σ_k A(i,k): weighted degrees.
template <class T>
struct plus_first {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "plus_first";
  static constexpr bool ignores_right = true;
  static constexpr reduction samples_as = reduction::sum;
  static constexpr T zero() { return T(0); }
  static constexpr T add(T x, T y) { return plus(x, y); }
  static constexpr T multiply(T a, T) { return a; }
};

}  // namespace rig
