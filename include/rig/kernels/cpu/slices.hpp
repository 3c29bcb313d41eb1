#pragma once

#include "rig/pattern.hpp"

namespace rig {

/// The rows of a pattern in slices of like length, for `sell`. Within a window rows are sorted by
/// length; eight rows behind each other are a slice.
struct slices : derived {
  static constexpr const char* name = "slices";
  static constexpr index height = 8, window = 2048;

  explicit slices(const pattern& original);
  /// Whether rows have enough entries for slices to gain (docs/lab/cpu.md).
  static bool pays(int64 nnz, index rows) { return nnz >= least_mean * rows; }
  static constexpr int64 least_mean = 8;
  std::size_t bytes() const override {
    return rows.bytes() + columns.bytes() + begin.bytes() + work.bytes();
  }

  /// The first slice of piece `piece` of `pieces`, which have like numbers of rows and entries.
  index first_of(int piece, int pieces) const;
  /// The first slice of the window after that of a slice.
  static index window_after(index slice) {
    return (slice / (window / height) + 1) * (window / height);
  }

  index count = 0;  ///< slices
  buffer rows;      ///< int32: rows by length, counted from the first of their window
  buffer columns;   ///< index: of a slice the first column of each row, the second, …
  buffer begin;  ///< int64: where a slice's columns begin, as many of each row as of the shortest
  buffer work;   ///< int64: rows and entries before a slice
};

}  // namespace rig
