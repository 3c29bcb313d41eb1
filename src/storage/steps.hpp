#pragma once

// The arguments and results of the steps that operations consist of; backend.def lists the steps.

#include "rig/kernels/operation.hpp"

namespace rig {

/// What a merge does with a place, by who has an entry there.
enum class take : unsigned char { nothing, x, y, both };

/// The take of a place: rules[in_x + 2·in_y + 4·allowed + 8·in_region]. The mask allows places; the
/// region of `assign` is its rows and columns, and everything in other operations.
using merge_rules = std::array<take, 16>;

/// X merged with Y, or X alone, under the operation's mask.
struct merge_step {
  const operation& of;
  const sparse_operand *x, *y;  ///< y may be null
  merge_rules rules;
  const operator_info* op;  ///< null: no values
  unsigned char code = 0;
  const bool* keep = nullptr;                                    ///< null, or a flag per entry of X
  const bool *region_rows = nullptr, *region_columns = nullptr;  ///< null: all of them
};

/// An operator on each entry of X, in the order of entries.
struct map_step {
  const operation& of;
  const sparse_operand* x;
  const operator_info* op;
  unsigned char code = 0;
  element_source y = {};               ///< the other operand of a binary operator
  broadcast y_by = broadcast::absent;  ///< absent: y is a constant
  int64 y_stride = 0;
  bool y_first = false;
  type out_type = type::other;
  std::size_t out_bytes = 0;
  const dense_operand* into = nullptr;  ///< receives results where y would meet entries
  broadcast into_by = broadcast::absent;
};

/// A structure whose entries come from entries x[p] of X, and y[p] of Y unless y is empty.
struct rearranged {
  std::shared_ptr<const pattern> structure;
  buffer x, y;  ///< of int64
};

/// Flags of the rows and columns that `assign` writes to; no memory if it writes to all of them.
struct assigned_region {
  buffer rows, columns;
};

/// The first index of a list that is out of range, and its number in the list.
struct wrong_index {
  int64 number;  ///< the length of the list if all are in range
  index value;
};

inline element_source source_of(const operand& of) {
  return of.what == operand::kind::dense ? source_of(of.full) : source_of(of.sparse);
}
/// The scalar of an operation, as an operand.
inline element_source scalar_of(const operation& o) {
  return {nullptr,       static_cast<const unsigned char*>(o.scalar), nullptr, false, o.scalar_type,
          o.scalar_bytes};
}
/// The position in a dense that meets the entry (i, j).
constexpr int64 met_position(broadcast by, index i, index j, int64 stride) {
  return by == broadcast::rows      ? i * stride
         : by == broadcast::columns ? j * stride
         : by == broadcast::places  ? i * stride + j
                                    : 0;
}

/// Converts elements to the type of the result; they are its type already if it is not rig's.
inline const operator_info& converting(const operation& o) {
  return o.out_type == type::other ? copying() : builtin_binary(o.out_type);
}

}  // namespace rig
