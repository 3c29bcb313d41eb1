#pragma once

#include "rig/semiring.hpp"

namespace rig {

/// C(i,j) = the greatest (min: the least) B(k,j) over the entries of row i, and its k. Among equal
/// values the lowest k counts, and NaN beats every number. Without products the value is add's
/// identity, and the index is −1.
template <class T, bool Greatest>
struct arg_second {
  using left = T;
  using right = T;
  using accum = indexed<T>;
  static constexpr const char* name = Greatest ? "arg_max_second" : "arg_min_second";
  static constexpr bool ignores_left = true;
  static constexpr reduction samples_as = reduction::extreme;
  static constexpr accum zero() {
    return {Greatest ? lowest<T>() : highest<T>(), highest<int32>()};
  }
  static constexpr accum add(accum x, accum y) {
    const bool ahead = (Greatest ? x.value > y.value : x.value < y.value) |
                       ((x.value != x.value) & (y.value == y.value));
    const bool tied = (x.value == y.value) | ((x.value != x.value) & (y.value != y.value));
    return ahead | (tied & (x.index < y.index)) ? x : y;
  }
  static constexpr bool replaces(accum sum, accum x) {
    const bool ahead = Greatest ? x.value >= sum.value : x.value <= sum.value;
    return ahead | (x.value != x.value);
  }
  static constexpr accum multiply(T, T b, position at) { return {b, at.inner}; }
  static constexpr accum finish(accum x, int64) {
    return {x.value, x.index == highest<int32>() ? -1 : x.index};
  }
};

/// `arg_second` that returns the greatest value.
template <class T>
using arg_max_second = arg_second<T, true>;

}  // namespace rig
