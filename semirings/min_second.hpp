#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = min_k B(k,j) over the entries of row i: min pooling, smallest labels.
template <class T>
struct min_second {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "min_second";
  static constexpr bool ignores_left = true;
  static constexpr reduction samples_as = reduction::extreme;
  static constexpr T zero() { return highest<T>(); }
  static constexpr T add(T x, T y) { return minimum(x, y); }
  static constexpr T multiply(T, T b) { return b; }
};

}  // namespace rig
