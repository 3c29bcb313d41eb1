#pragma once

#include "rig/kernels/problem.hpp"

namespace rig {

/// Turns the mask of a sparse vector, which is a row, into a column, for a dense result.
inline void as_column(mask_operand& m) {
  const auto flipped = m.structure->derived_of<transposed>();
  const pattern& column = *flipped->structure;  // its permutation is the identity
  m.sparse.rows = column.rows();
  m.sparse.columns = column.columns();
  m.sparse.offsets = column.offsets();
  m.sparse.entries = column.column_indices();
  m.sparse.offsets_64 = column.offsets_64();
  m.structure = std::shared_ptr<const pattern>(flipped, &column);
  m.is_vector = false;
}

}  // namespace rig
