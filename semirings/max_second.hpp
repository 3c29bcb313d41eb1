#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = max_k B(k,j) over the entries of row i: max pooling.
template <class T>
struct max_second {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "max_second";
  static constexpr bool ignores_left = true;
  static constexpr reduction samples_as = reduction::extreme;
  static constexpr T zero() { return lowest<T>(); }
  static constexpr T add(T x, T y) { return maximum(x, y); }
  static constexpr T multiply(T, T b) { return b; }
};

}  // namespace rig
