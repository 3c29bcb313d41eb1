#pragma once

// What a device knows of the rows of a matrix when it chooses plans of products. Parts of a matrix
// over ranks are read with the rows of the whole, so that their products have the same plans.

#include "rig/place.hpp"
#include "rig/scalar.hpp"

namespace rig::over_ranks {

/// The middle entry of every 16th row shows whether entries lie near the diagonal.
inline constexpr index sampled_rows = 16;
inline constexpr index near_share = 32;  ///< near: within 1/32 of the columns

struct whole_rows {
  index rows = 0, columns = 0;
  int64 nnz = 0, longest = 0;
  int64 quads = 0;  ///< four times the longest of each four neighbouring rows, added up
  int64 with_entries = 0;
  int64 looked_at = 0, near = 0;  ///< of the sampled rows
};

}  // namespace rig::over_ranks
