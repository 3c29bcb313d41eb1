#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = (Σ_k A(i,k) · B(k,j)) / n, for n entries in row i. A mean of integers is rounded toward
/// zero.
template <class T>
struct mean_times {
  using left = T;
  using right = T;
  using accum = T;
  static constexpr const char* name = "mean_times";
  static constexpr bool annihilates = true;
  static constexpr reduction samples_as = reduction::mean;
  static constexpr bool linear = true;
  static constexpr T zero() { return T(0); }
  static constexpr T add(T x, T y) { return plus(x, y); }
  static constexpr T multiply(T a, T b) { return times(a, b); }
  static constexpr T finish(T x, int64 n) { return n > 0 ? mean_of(x, n) : x; }
};

}  // namespace rig
