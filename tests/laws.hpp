#pragma once

// The laws a semiring must keep for its results not to depend on order, threads or kernel, checked
// on samples.

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "rig/semiring.hpp"

namespace laws {

/// Numbers of T on which mistakes show: both signs, ends of the range, infinities, NaN. Nothing
/// near overflow among floats: there sums are not associative, whatever the semiring.
template <class T>
std::vector<T> samples() {
  if constexpr (std::is_same_v<T, bool>)
    return {false, true};
  else if constexpr (std::is_floating_point_v<T>) {
    constexpr T inf = std::numeric_limits<T>::infinity();
    return {T(0),
            T(1),
            T(-1),
            T(2),
            T(-2.5),
            T(0.1),
            T(-7.3),
            T(1e30),
            T(-3e29),
            T(1e-30),
            inf,
            -inf,
            std::numeric_limits<T>::quiet_NaN()};
  } else if constexpr (std::is_integral_v<T>) {
    using limits = std::numeric_limits<T>;
    return {
        0, 1, -1, 2, 7, -13, limits::max(), limits::min(), limits::max() - 1, limits::min() + 1};
  } else {
    // value and index
    std::vector<T> out;
    for (const auto value : samples<decltype(T::value)>())
      for (const int index : {0, 5, std::numeric_limits<int>::max()}) out.push_back({value, index});
    return out;
  }
}

template <class T>
std::string text(const T& x) {
  if constexpr (rig::is_indexed<T>)
    return "(" + std::to_string(x.value) + ", " + std::to_string(x.index) + ")";
  else
    return std::to_string(x);
}

template <class T>
bool is_nan(const T& x) {
  return !(x == x);
}
template <class T>
bool is_nan(const rig::indexed<T>& x) {
  return !(x.value == x.value);
}

/// Equal, NaN to NaN; zeros of either sign are equal.
template <class T>
bool same(const T& x, const T& y) {
  return x == y || (is_nan(x) && is_nan(y));
}

/// Equal up to the rounding of two additions of numbers of this size.
template <class T>
bool close(const T& x, const T& y, const T& a, const T& b, const T& c) {
  if constexpr (std::is_floating_point_v<T>) {
    const T size = std::fabs(a) + std::fabs(b) + std::fabs(c);
    return same(x, y) || std::fabs(x - y) <= 2 * std::numeric_limits<T>::epsilon() * size;
  } else {
    return same(x, y);
  }
}

/// Samples a semiring takes: 0 and 1 for a logical one.
template <class S, class T>
std::vector<T> samples_of() {
  if constexpr (rig::is_logical<S>)
    return {T(0), T(1)};
  else
    return samples<T>();
}

/// Ordered and finite: where annihilation is claimed.
template <class T>
bool is_plain(const T& x) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isfinite(x);
  else
    return true;
}

/// Every law that S breaks, with the first values that show it; empty for a semiring.
template <rig::semiring S>
std::vector<std::string> broken() {
  using accum = typename S::accum;
  std::vector<std::string> out;
  const auto breaks = [&](std::string law, const auto&... values) {
    for (const std::string& found : out)
      if (found.starts_with(law)) return;
    ((law += " " + text(values)), ...);
    out.push_back(law);
  };
  const accum zero = S::zero();
  const std::vector<accum> all = samples_of<S, accum>();

  for (const accum& x : all) {
    if (!same(S::add(zero, x), x)) breaks("identity on the left", x);
    if (!same(S::add(x, zero), x)) breaks("identity on the right", x);
    if constexpr (rig::has_terminal<S>)
      if (!same(S::add(S::terminal(), x), S::terminal())) breaks("terminal", x);
    for (const accum& y : all) {
      if (!same(S::add(x, y), S::add(y, x))) breaks("commutativity", x, y);
      if (!rig::is_logical<S> && is_nan(x) && !is_nan(S::add(x, y))) breaks("NaN stays", x, y);
      for (const accum& z : all)
        if (!close(S::add(S::add(x, y), z), S::add(x, S::add(y, z)), x, y, z))
          breaks("associativity", x, y, z);
    }
  }

  const rig::position at{3, 5};
  using left = typename S::left;
  using right = typename S::right;
  for (const left& a : samples_of<S, left>())
    for (const right& b : samples_of<S, right>()) {
      const accum product = rig::product<S>(a, b, at);
      if (rig::is_ignoring_left<S> && !same(product, rig::product<S>(left{}, b, at)))
        breaks("ignores_left", a, b);
      if (rig::is_ignoring_right<S> && !same(product, rig::product<S>(a, right{}, at)))
        breaks("ignores_right", a, b);
      if constexpr (rig::is_annihilating<S>) {
        if (is_plain(b) && !same(rig::product<S>(zero, b, at), zero))
          breaks("annihilation on the left", b);
        if (is_plain(a) && !same(rig::product<S>(a, zero, at), zero))
          breaks("annihilation on the right", a);
      }
      if constexpr (rig::is_logical<S>)
        if (product != accum(0) && product != accum(1)) breaks("logical products are 0 or 1", a, b);
    }

  if (is_nan(rig::finished<S>(zero, 0))) breaks("finish(zero, 0) is NaN");
  return out;
}

}  // namespace laws
