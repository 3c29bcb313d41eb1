#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = Σ_k B(k,j) over the entries of row i: sum aggregation on an unweighted graph.
template <class T>
struct plus_second {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "plus_second";
  static constexpr bool ignores_left = true;
  static constexpr reduction samples_as = reduction::sum;
  static constexpr bool linear = true;
  static constexpr T zero() { return T(0); }
  static constexpr T add(T x, T y) { return plus(x, y); }
  static constexpr T multiply(T, T b) { return b; }
};

}  // namespace rig
