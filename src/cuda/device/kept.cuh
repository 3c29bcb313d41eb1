#pragma once

// Shared by the kernels of a cbsr: the part of a row that a warp takes, and its entries, one per
// lane.

#include "cuda/device/gather.cuh"

namespace rig::on_cuda {

/// The part of a row that a warp takes: the whole row, or one piece of a cut row.
struct row_part {
  index row;
  int64 begin;      ///< its first entry
  unsigned count;   ///< the number of its entries
  int64 whole;      ///< the number of entries of the row
  unsigned number;  ///< the place in the list of pieces, or of rows
  bool is_piece;

  /// Warps take the pieces of cut rows first, then the other rows. Returns false if nothing is left
  /// for this warp.
  __device__ bool take(const arguments& args) {
    const unsigned part = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const auto pieces = static_cast<unsigned>(args.piece_count);
    is_piece = part < pieces;
    number = is_piece ? part : part - pieces;
    if (!is_piece && number >= static_cast<unsigned>(args.rows)) return false;
    const listed_row all = is_piece                ? args.entries_of(args.pieces[number].row)
                           : args.order != nullptr ? args.order[number]
                                                   : args.entries_of(static_cast<index>(number));
    row = all.row;
    begin = all.begin;
    whole = all.count;
    const int64 first = is_piece ? args.pieces[number].number * args.cut : 0;
    begin += first;
    int64 mine = whole - first;
    if (args.cut > 0 && mine > args.cut) {
      if (!is_piece) return false;
      mine = args.cut;
    }
    count = static_cast<unsigned>(mine);
    return true;
  }

  /// Returns true to the last warp that finishes a piece of the row: the results of all pieces can
  /// be read then.
  __device__ bool is_last(const arguments& args, int lane, cut_row& of) const {
    const int32 cut_row_number = args.pieces[number].cut_row;
    of = args.cut_rows[cut_row_number];
    unsigned* const completion_counters =
        args.completion_counters + static_cast<int64>(blockIdx.y) * args.cut_count + cut_row_number;
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
struct alignas(sizeof(Index) * V) kept_columns {
  Index at[V];
};

}  // namespace rig::on_cuda
