#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = max_k A(i,k): the heaviest entry of row i.
template <class T>
struct max_first {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "max_first";
  static constexpr bool ignores_right = true;
  static constexpr reduction samples_as = reduction::extreme;
  static constexpr T zero() { return lowest<T>(); }
  static constexpr T add(T x, T y) { return maximum(x, y); }
  static constexpr T multiply(T a, T) { return a; }
};

}  // namespace rig
