#pragma once

// Shared by the kernels of a cbsr: the part of a row that a warp takes, and its entries, one per
// lane.

#include "cuda/device/gather.cuh"

namespace rig::on_cuda {

/// The part of a row that a warp takes: the whole row, or one segment of a split row.
struct row_part {
  index row;
  int64 begin;      ///< its first entry
  unsigned count;   ///< the number of its entries
  int64 whole;      ///< the number of entries of the row
  unsigned number;  ///< the place in the list of segments, or of rows
  bool is_segment;

  /// Warps take the segments of split rows first, then the other rows. Returns false if nothing is
  /// left for this warp.
  __device__ bool take(const arguments& args) {
    const unsigned part = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const auto segments = static_cast<unsigned>(args.segment_count);
    is_segment = part < segments;
    number = is_segment ? part : part - segments;
    if (!is_segment && number >= static_cast<unsigned>(args.rows)) return false;
    const listed_row all = is_segment              ? args.entries_of(args.segments[number].row)
                           : args.order != nullptr ? args.order[number]
                                                   : args.entries_of(static_cast<index>(number));
    row = all.row;
    begin = all.begin;
    whole = all.count;
    const int64 first = is_segment ? args.segments[number].number * args.split_length : 0;
    begin += first;
    int64 mine = whole - first;
    if (args.split_length > 0 && mine > args.split_length) {
      if (!is_segment) return false;
      mine = args.split_length;
    }
    count = static_cast<unsigned>(mine);
    return true;
  }

  /// Returns true to the last warp that finishes a segment of the row: the results of all segments
  /// can be read then.
  __device__ bool is_last(const arguments& args, int lane, split_row& of) const {
    const int32 split_row_number = args.segments[number].split_row;
    of = args.split_rows[split_row_number];
    unsigned* const completion_counters = args.completion_counters +
                                          static_cast<int64>(blockIdx.y) * args.split_count +
                                          split_row_number;
    return arrive(completion_counters, of.count, 0xffffffffu, 0, lane == 0);
  }
};

/// The next 32 entries of a part, one per lane.
template <class S>
struct entry_window {
  index k = 0;
  typename S::left a = typename S::left();

  __device__ void load(const arguments& args, const row_part& of, unsigned first, int lane) {
    const unsigned e = first + static_cast<unsigned>(lane);
    if (e >= of.count) return;
    k = load_ahead(args.entries + of.begin + e);
    if constexpr (!is_ignoring_left<S>)
      a = args.a_values != nullptr
              ? load_ahead(static_cast<const typename S::left*>(args.a_values) + of.begin + e)
              : iso_of<typename S::left>(args);
  }
};

/// V neighbouring columns of a cbsr, loaded at once.
template <class Index, int V>
struct alignas(sizeof(Index) * V) retained_columns {
  Index at[V];
};

}  // namespace rig::on_cuda
