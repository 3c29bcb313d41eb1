#pragma once

// Lists of the rows of a pattern on a device, and the scratch of kernels that take rows by them.

#include <mutex>
#include <vector>

#include "cuda/analysis/row_statistics.hpp"
#include "cuda/runtime/launch.hpp"
#include "rig/kernels/list.hpp"

namespace rig::on_cuda {

/// Rows longer than the split length, and their segments.
struct split_lists {
  int64 split_length = 0;
  index segment_count = 0, split_count = 0;
  const row_segment* segments = nullptr;
  const split_row* split_rows = nullptr;
};

/// The lists that `split` and `spmv` read, in one allocation. A null list does not pay for this
/// pattern.
struct row_lists : derived, split_lists {
  static constexpr const char* name = "row lists";
  explicit row_lists(const pattern& of);
  std::size_t bytes() const override;

  split_lists of_warps;                   ///< in segments of one split length, for warps
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

/// The lists of the pattern by which A is read, held for the run.
const row_lists& lists_of(const pattern& oriented, workspace& work);

/// Sets the segments of split rows in `args`.
void set_segments(const split_lists& lists, arguments& args);

/// Sets `count` zero counters in `args`, for a launch that leaves them zero, and `bytes` for its
/// sums. The memory belongs to the lists if calls follow each other on a stream. The returned
/// buffer must live until the launch.
buffer scratch_for(const launch_stream& on, const row_lists& lists, std::size_t bytes,
                   std::size_t count, arguments& args, workspace& work);

/// Sets the segments in `args`, if there are any, with completion counters for each of `tiles`, and
/// `bytes` for the sums of each segment; the scratch is that of `lists`. The returned buffer must
/// live until the launch.
buffer split_into_segments(const launch_stream& on, const row_lists& lists,
                           const split_lists& segments, std::size_t bytes, int64 tiles,
                           arguments& args, workspace& work);

}  // namespace rig::on_cuda
