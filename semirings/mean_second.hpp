#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = (Σ_k B(k,j)) / n over the n entries of row i: mean aggregation.
template <class T>
struct mean_second {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "mean_second";
  static constexpr bool ignores_left = true;
  static constexpr reduction samples_as = reduction::mean;
  static constexpr bool linear = true;
  static constexpr T zero() { return T(0); }
  static constexpr T add(T x, T y) { return plus(x, y); }
  static constexpr T multiply(T, T b) { return b; }
  static constexpr T finish(T x, int64 n) { return n > 0 ? mean_of(x, n) : x; }
};

}  // namespace rig
