#pragma once

#include "rig/user_semiring.hpp"

// The operators of graph neural networks that rig does not list. Each runs on the CPU and, by its
// text, on CUDA.

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

}  // namespace gnn
