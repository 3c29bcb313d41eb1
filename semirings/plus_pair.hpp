#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = the number of products: degrees, common neighbours.
template <class T>
struct plus_pair {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "plus_pair";
  static constexpr bool ignores_left = true;
  static constexpr bool ignores_right = true;
  static constexpr reduction samples_as = reduction::sum;
  static constexpr T zero() { return T(0); }
  static constexpr T add(T x, T y) { return plus(x, y); }
  static constexpr T multiply(T, T) { return T(1); }
};

}  // namespace rig
