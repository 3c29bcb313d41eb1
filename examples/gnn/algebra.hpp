#pragma once

#include "rig/user_semiring.hpp"

// The operators and semirings of graph neural networks that rig does not list. Each runs on the
// CPU and, by its text, on CUDA.

namespace gnn {

/// Dropout: x / (1 − p) with probability 1 − p, else 0. The number holds p in units of 2^-16 in its
/// low bits, and the seed above them. An element's fate is a hash of its place and the seed, so the
/// gradient passes the same elements and nothing is stored.
RIG_OPERATOR(
    dropped,
    template <class T> static constexpr T apply(T x, rig::index i, rig::index j, rig::int64 key) {
      unsigned long h = static_cast<unsigned long>(key) ^
                        (static_cast<unsigned long>(i) << 32 | static_cast<unsigned long>(j));
      h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ul;  // splitmix64's finaliser, twice
      h = (h ^ (h >> 27)) * 0x94d049bb133111ebul;
      h = (h ^ (h >> 31)) + 0x9e3779b97f4a7c15ul;
      h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ul;
      h = (h ^ (h >> 27)) * 0x94d049bb133111ebul;
      const unsigned long p = static_cast<unsigned long>(key) & 0xfffful;
      return (h >> 48) < p ? T(0) : x * (T(65536) / static_cast<T>(65536 - p));
    });

/// LeakyReLU, and its derivative.
RIG_OPERATOR(
    leaky_relu, template <class T> static constexpr T apply(T x, rig::index, rig::index, T slope) {
      return x > T(0) ? x : slope * x;
    });
RIG_OPERATOR(
    leaky_slope, template <class T> static constexpr T apply(T x, rig::index, rig::index, T slope) {
      return x > T(0) ? T(1) : slope;
    });

/// A semiring that pairs a gradient with the node that won a maximum, and the semiring that
/// passes it on: in a product over Aᵀ, at.row is the node k that may have won.
#define GNN_GRADIENT_OF_MAX(T)                                                             \
  RIG_SEMIRING(                                                                            \
      paired_##T, using left = T; using right = rig::int32; using accum = rig::indexed<T>; \
      static constexpr accum zero() {                                                      \
        return accum{T(0), -1};                                                            \
      } static constexpr accum add(accum x, accum y) {                                     \
        return x.index < 0 ? y : x;                                                        \
      } static constexpr accum multiply(T gradient, rig::int32 winner) {                   \
        return accum{gradient, winner};                                                    \
      });                                                                                  \
  RIG_SEMIRING(                                                                            \
      gradient_of_max_##T, using left = T; using right = rig::indexed<T>; using accum = T; \
      static constexpr bool ignores_left = true;                                           \
      static constexpr T zero() { return 0; } static constexpr T add(T x, T y) {           \
        return x + y;                                                                      \
      } static constexpr T multiply(T, rig::indexed<T> b, rig::position at) {              \
        return b.index == at.row ? b.value : T(0);                                         \
      })
GNN_GRADIENT_OF_MAX(float);
GNN_GRADIENT_OF_MAX(double);
#undef GNN_GRADIENT_OF_MAX

template <class T>
struct of_max {
  using paired = paired_float;
  using gradient = gradient_of_max_float;
};
template <>
struct of_max<double> {
  using paired = paired_double;
  using gradient = gradient_of_max_double;
};

}  // namespace gnn
