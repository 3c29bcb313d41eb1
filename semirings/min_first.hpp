#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = min_k A(i,k): the lightest entry of row i.
template <class T>
struct min_first {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "min_first";
  static constexpr bool ignores_right = true;
  static constexpr reduction samples_as = reduction::extreme;
  static constexpr T zero() { return highest<T>(); }
  static constexpr T add(T x, T y) { return minimum(x, y); }
  static constexpr T multiply(T a, T) { return a; }
};

}  // namespace rig
