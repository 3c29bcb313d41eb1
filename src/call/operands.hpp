#pragma once

// The memory of operands: what shares it, and copies of dense ones.

#include "rig/kernels/problem.hpp"

namespace rig {

/// The bytes of an operand.
struct memory {
  const char* begin;
  std::size_t bytes;

  memory(const void* data, std::size_t size)
      : begin(static_cast<const char*>(data)), bytes(data != nullptr ? size : 0) {}
  memory(const dense_operand& of) : memory(of.data, of.extent()) {}

  bool overlaps(const memory& other) const {
    return bytes > 0 && other.bytes > 0 && begin < other.begin + other.bytes &&
           other.begin < begin + bytes;
  }
  bool overlaps(const sparse_operand& of) const;
};

/// The elements of `from` become those of `to`.
void copy(const dense_operand& from, const dense_operand& to, void* stream);

/// A dense with packed rows, and its memory.
struct dense_room {
  buffer memory;
  dense_operand full;
};

/// Memory for elements of this type in the shape and the place of a dense.
dense_room room_like(const dense_operand& of, type elements, std::size_t bytes, void* stream);

/// Turns the mask of a sparse vector, which is a row, into a column, for a dense result.
void turn_into_column(mask_operand& m);

}  // namespace rig
