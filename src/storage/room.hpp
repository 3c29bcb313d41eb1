#pragma once

// Vectors whose failed allocation names its bytes.

#include <new>
#include <vector>

#include "rig/buffer.hpp"

namespace rig {

/// Makes room for `count` elements. Throws error(out_of_memory) with the bytes.
template <class T>
void reserve(std::vector<T>& to, std::size_t count) {
  try {
    if (count <= to.max_size()) return to.reserve(count);
  } catch (const std::bad_alloc&) {
  }
  std::size_t bytes = 0;
  cannot_allocate(__builtin_mul_overflow(count, sizeof(T), &bytes) ? SIZE_MAX : bytes);
}

/// `count` elements of one value. Throws as `reserve`.
template <class T>
std::vector<T> filled(std::size_t count, T value = T()) {
  std::vector<T> out;
  reserve(out, count);
  out.resize(count, value);
  return out;
}

}  // namespace rig
