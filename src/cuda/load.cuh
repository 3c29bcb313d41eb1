#pragma once

// How A's values and B's rows are read.

#include "arguments.cuh"

namespace rig::on_cuda {

/// Element `at` of an array of any storage type, converted; an algebra type that is no storage type is read as it is.
template <class To>
__device__ To load_as(const void* from, type stored, int64 at) {
  if constexpr (is_storage<To>) {
    switch (stored) {
      case type::boolean: return convert<To>(static_cast<const bool*>(from)[at]);
      case type::int32: return convert<To>(static_cast<const int32*>(from)[at]);
      case type::int64: return convert<To>(static_cast<const int64*>(from)[at]);
      case type::float32: return convert<To>(static_cast<const float*>(from)[at]);
      case type::float64: return convert<To>(static_cast<const double*>(from)[at]);
      case type::half: return convert<To>(static_cast<const half*>(from)[at]);
      case type::bfloat16: return convert<To>(static_cast<const bfloat16*>(from)[at]);
      case type::other: break;
    }
    return To();
  } else {
    return static_cast<const To*>(from)[at];
  }
}

/// Value of entry p of A as the semiring's left type; never read where the semiring ignores it.
template <class S>
__device__ typename S::left load_a(const arguments& args, int64 p) {
  using left = typename S::left;
  if constexpr (is_ignoring_left<S>) {
    return left();
  } else {
    if (args.a_values == nullptr) return load_as<left>(args.iso.bytes, args.a_type, 0);
    if (args.permutation != nullptr)
      p = args.wide ? static_cast<const int64*>(args.permutation)[p] : static_cast<const int32*>(args.permutation)[p];
    return load_as<left>(args.a_values, args.a_type, p);
  }
}

/// A register of any size from lane `from` of a group of `width` lanes.
template <class T>
__device__ T shuffle(unsigned members, T x, int from, int width) {
  static_assert(sizeof(T) <= 16);
  constexpr int words = (sizeof(T) + 3) / 4;
  unsigned parts[words] = {};
  memcpy(parts, &x, sizeof(T));
  for (int w = 0; w < words; ++w) parts[w] = __shfl_sync(members, parts[w], from, width);
  memcpy(&x, parts, sizeof(T));
  return x;
}

/// V neighbouring elements, loaded at once.
template <class T, int V>
struct alignas(sizeof(T) * V) pack {
  T element[V];
};

}  // namespace rig::on_cuda
