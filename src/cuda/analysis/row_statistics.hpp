#pragma once

// Statistics of the rows of a pattern on a device: O(n), once. The choice of kernels and launch
// configurations depends on them.

#include <mutex>
#include <vector>

#include "cuda/device/arguments.cuh"
#include "cuda/runtime/device.hpp"
#include "rig/kernels/list.hpp"

namespace rig::on_cuda {

/// The split lengths, unless a row has millions of entries.
constexpr int split_length_count = 3;
constexpr int64 nth_split_length(int n) { return n == 0 ? 128 : n == 1 ? 512 : 1024; }

struct row_statistics : derived {
  static constexpr const char* name = "row statistics";
  row_statistics() = default;  ///< empty: tests of rules fill it in
  explicit row_statistics(const pattern& of);
  std::size_t bytes() const override { return sizeof(*this); }
  /// Estimated statistics of samples of `width` entries per row.
  row_statistics sampled(int width) const;

  int64 longest = 0;
  double mean_length = 0;  ///< of the rows that have entries
  double imbalance =
      1;  ///< the longest of four neighbouring rows over their mean, weighted by entries
  /// Rows longer than each split length, and their segments.
  index split_rows[split_length_count] = {}, segments[split_length_count] = {};
  int64 split_length = 0;  ///< entries per segment of a split row; 0: rows stay whole
  bool local = false;  ///< most entries lie near the diagonal, so neighbouring rows share columns
};

/// The lists that `split` and `spmv` read, in one allocation. A null list does not pay for this
/// pattern.
struct row_lists : derived {
  static constexpr const char* name = "row lists";
  explicit row_lists(const pattern& of);
  std::size_t bytes() const override;

  int64 split_length = 0;  ///< longer rows are split into segments of so many entries
  index segment_count = 0, split_count = 0;
  const row_segment* segments = nullptr;
  const split_row* split_rows = nullptr;
  const listed_row* by_length = nullptr;  ///< rows, longest first, to an eighth of an octave
  index chunk_count = 0;                  ///< chunks of `spmv`
  const index* chunk_rows = nullptr;      ///< the first row of each chunk, then the number of rows

  /// counters_of: `count` zero counters, for kernels on `stream` that leave them zero. sums_of:
  /// `bytes` for the sums of one launch. Calls on one stream get the same memory; a stream beyond
  /// the first few gets an empty buffer.
  buffer counters_of(void* stream, std::size_t count) const;
  buffer sums_of(void* stream, std::size_t bytes) const;

 private:
  struct scratch {
    void* stream;
    buffer counters, sums;
  };
  buffer cached(buffer scratch::*part, void* stream, std::size_t bytes) const;

  buffer memory;
  mutable std::mutex mutex_;
  mutable std::vector<scratch> of_streams_;
};

/// The statistics of the pattern by which A is read; empty if the call needs none.
inline const row_statistics& statistics_of(const problem& p) {
  // Never destroyed, because a product may run while the process ends.
  static const auto& none = *new const row_statistics;
  return p.statistics != nullptr ? static_cast<const row_statistics&>(*p.statistics) : none;
}

/// The lists of the pattern by which A is read, held for the run.
const row_lists& lists_of(const problem& p, workspace& work);

/// The rows by length if that order pays; null: as A stores them.
const listed_row* order_of(const problem& p, const row_lists& lists);

/// Sets the segments of split rows in `args`.
void set_segments(const row_lists& lists, arguments& args);

/// Sets `count` zero counters in `args`, for a launch that leaves them zero, and `bytes` for its
/// sums. The memory belongs to the lists if calls follow each other on a stream. The returned
/// buffer must live until the launch.
buffer scratch_for(const problem& p, const row_lists& lists, std::size_t bytes, std::size_t count,
                   arguments& args, workspace& work);

/// Sets the segments in `args`, if there are any, with completion counters for each of `tiles`, and
/// `bytes` for the sums of each segment. The returned buffer must live until the launch.
buffer split_into_segments(const problem& p, const row_lists& lists, std::size_t bytes, int64 tiles,
                           arguments& args, workspace& work);

/// `row_statistics::split_length` by the tuning table.
int64 split_length_of(const row_statistics& statistics, int64 nnz);

/// Returns whether one group of lanes would work on some row while others wait.
bool has_rows_to_split(const row_statistics& statistics);

/// Returns whether neighbouring rows differ in length, in a matrix small enough for that to cost
/// time.
bool is_skewed(const row_statistics& statistics, int64 nnz);

/// order_helps: returns whether taking rows by length pays. split_helps: whether that, or splitting
/// rows, pays.
bool order_helps(const problem& p, const row_statistics& statistics);
bool split_helps(const problem& p, const row_statistics& statistics);

/// Seconds that one group takes for a row of so many entries, with a batch of loads in flight.
double lone_row_seconds(int64 entries);

}  // namespace rig::on_cuda
