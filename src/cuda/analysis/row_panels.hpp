#pragma once

// A's entries by panels of its rows: the input of `maxk_backward` when it holds rows of B in shared
// memory.

#include "cuda/device/arguments.cuh"
#include "rig/pattern.hpp"

namespace rig::on_cuda {

/// The entries of each panel of `panel_rows` rows of A, by columns. The entries of one column are a
/// segment, and make one sum of a row of C = op(A)·B, op transposing. Memory: 4 bytes per entry, 16
/// per segment. Each row of C adds 4 bytes.
struct row_panels : derived {
  static constexpr const char* name = "row panels";
  explicit row_panels(const pattern& original);
  std::size_t bytes() const override;

  /// Entries are counted in 32 bits.
  static bool serves(const pattern& original) {
    constexpr int64 ahead = 4096;  // kernels count this far beyond the last segment or entry
    return !original.offsets_64() && original.nnz() <= highest<int32>() - ahead;
  }

  bool fits = true;  ///< no panel has more entries than a word can number
  index unit_count = 0;
  int32 segment_count = 0;
  const panel_unit* units = nullptr;        ///< the longest first
  const panel_segment* segments = nullptr;  ///< by panel, the longest first
  const unsigned* words = nullptr;          ///< one per entry, by segments: `panel_word`
  const int32* first_place = nullptr;       ///< the first place of each row's sums, then the end

 private:
  buffer memory_, segments_, words_, places_;
};

}  // namespace rig::on_cuda
