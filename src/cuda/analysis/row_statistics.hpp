#pragma once

// Statistics of the rows of a pattern on a device: O(n), once. The choice of kernels and launch
// configurations depends on them.

#include "cuda/device/arguments.cuh"
#include "rig/kernels/whole_rows.hpp"
#include "rig/pattern.hpp"

namespace rig::on_cuda {

/// The split lengths, unless a row has millions of entries.
constexpr int split_length_count = 5;
constexpr int64 nth_split_length(int n) {
  constexpr int64 lengths[split_length_count] = {32, 64, 128, 512, 1024};
  return lengths[n];
}

struct row_statistics : derived {
  static constexpr const char* name = "row statistics";
  row_statistics() = default;  ///< empty: tests of rules fill it in
  explicit row_statistics(const pattern& of);
  /// Those of a whole matrix, for a part of it.
  explicit row_statistics(const over_ranks::whole_rows& whole);
  std::size_t bytes() const override { return sizeof(*this); }
  /// Estimated statistics of samples of `width` entries per row.
  row_statistics sampled(int width) const;

  int64 longest = 0;
  double mean_length = 0;  ///< of the rows that have entries
  double imbalance =
      1;  ///< the longest of four neighbouring rows over their mean, weighted by entries
  /// Rows longer than each split length, and their segments of `splits_per_segment` such lengths.
  index split_rows[split_length_count] = {}, segments[split_length_count] = {};
  int64 split_length = 0;  ///< longer rows are split; 0: rows stay whole
  bool local = false;  ///< most entries lie near the diagonal, so neighbouring rows share columns
  /// The shape and the entries of the whole matrix, for a part of it; otherwise nnz is −1.
  index whole_rows = 0, whole_columns = 0;
  int64 whole_nnz = -1;

 private:
  void take(const over_ranks::whole_rows& of);
};

/// Returns whether one group of lanes would work on some row while others wait.
inline bool has_rows_to_split(const row_statistics& statistics) {
  return statistics.split_length > 0 && statistics.longest > statistics.split_length;
}

// The tuning table decides these two (src/cuda/tuning).

/// `row_statistics::split_length`.
int64 split_length_of(const row_statistics& statistics, int64 nnz);

/// Returns whether neighbouring rows differ in length, in a matrix small enough for that to cost
/// time.
bool is_skewed(const row_statistics& statistics, int64 nnz);

}  // namespace rig::on_cuda
