#pragma once

// What every kernel is told: one trivially copyable struct, so that kernels compiled ahead and
// kernels compiled at run time launch alike. Kernel files compile under NVRTC: no header but rig's
// own.

#include "rig/accumulate.hpp"
#include "rig/kernels/sampling.hpp"
#include "rig/semiring.hpp"

namespace rig::on_cuda {

/// Entries number · cut … of one row, which is the cut_row of that number.
struct piece {
  index row;
  int32 number, cut_row;
};

/// Threads of a block of `row`.
constexpr int row_threads = 128;
/// Entries a thread of `permute_values` has in flight.
constexpr int values_in_flight = 4;

/// Rows and entries of a chunk of `spmv`, together.
constexpr int chunk_items = 2044;

/// A row of `spmv` that crosses chunks is completed so many blocks after the one in which it ends,
/// and then its sums are there: about what an H200 runs at once; others were not measured.
/// docs/lab/spmv.md has what was tried in its place.
constexpr int64 blocks_behind = 1024;

/// A row and where its entries lie: who takes a row from a list need not wait for its offsets too.
struct alignas(16) listed_row {
  int64 begin;
  unsigned count;
  index row;
};

/// A row that was cut: its pieces are first_piece … first_piece + count, in order.
struct cut_row {
  index row;
  int32 first_piece, count;
};

/// Rows of A whose rows of B a block of `maxk_backward_panels` holds in shared memory. Their
/// entries are told by words: the row in the panel, and the place among the panel's entries as A
/// stores them. Milliseconds of 28, 56 and 112 rows of 256 columns, k = 16, any order (the program
/// marked * in docs/lab/maxk.md): reddit-like 2.48, 2.20, 2.97; rmat:18:16 0.30, 0.26, 0.53: more
/// rows make fewer sums of more entries, and leave less of the L1 cache.
constexpr index panel_rows = 56;
constexpr int panel_place_bits = 26;
constexpr unsigned panel_word(index row, int64 place) {
  return static_cast<unsigned>(row) << panel_place_bits | static_cast<unsigned>(place);
}

/// Segments [first, last) of the panel of `rows` rows from `row` on, whose first entry is `entry`.
struct panel_unit {
  index row, rows;
  int64 entry;
  int32 first, last;
};

/// Entries of a panel in one column of A, which is a row of C; where their sum goes.
struct alignas(16) segment {
  index row;
  int32 place;
  int32 begin, count;
};

/// A number of any storage type, by its bits.
struct alignas(16) any_value {
  unsigned char bytes[16];
};

/// Panels of columns of `spmv_panels` begin on multiples of this, which is 16 bytes or more of B.
constexpr index panel_grain = 16;

/// Warps of a block of `spmv_panels`, and entries a lane takes at once: a pack, which begins on a
/// multiple of four entries of A, though a row in a panel may not.
constexpr int column_warps = 32;
constexpr int pack_entries = 4;
/// The codes of a pack: where an entry's element of B lies in shared memory, or 0 if the entry is
/// of another row or panel. Panels lie behind so many places.
constexpr index first_code = panel_grain;
struct alignas(8) pack_codes {
  unsigned pairs[2];  ///< codes 0 and 1, 2 and 3, the first in the low half
};

/// The columns of a panel that a block takes some packs of, and where a warp begins in it: at a
/// row's first pack. A row in a panel is a segment, number panel · rows + row.
struct column_unit {
  index column, columns;
};
struct warp_start {
  int32 segment, pack;
};

struct mask_arguments {
  enum kind : unsigned char { absent, matrix, dense };
  kind over = absent;
  bool structural = false, complemented = false, offsets_64 = false;
  type stored = type::other;
  const void* offsets = nullptr;
  const index* entries = nullptr;
  const void* values = nullptr;  ///< null: every entry is `iso`
  any_value iso = {};
  int64 stride = 0;  ///< of a dense mask, whose elements are `values`
};

struct arguments {
  // A
  index rows = 0;
  int64 nnz = 0;
  bool offsets_64 = false;
  type a_type = type::other;
  const void* offsets = nullptr;
  const index* entries = nullptr;
  const void* permutation =
      nullptr;  ///< value of entry p is a_values[permutation[p]]; only `permute_values` follows it
  const void* a_values =
      nullptr;  ///< null: every entry is `iso`; else of the semiring's left type, in order
  any_value iso = {};
  // B
  index columns = 0;
  const void* b = nullptr;
  unsigned b_row_bytes = 0;      ///< from one row of B to the next
  int64 b_tile_bytes = 0;        ///< from a tile of B to the next, less one of its rows
  const void* b_rest = nullptr;  ///< what tiles leave of B's rows, less a row of all tiles: kernels
                                 ///< add the number of a column
  unsigned b_rest_row_bytes = 0;
  const float *low = nullptr, *step = nullptr;  ///< of B's codes: one of each, or one a column
  // C
  void* c = nullptr;
  int64 c_stride = 0;
  int32* indices = nullptr;  ///< second array of an indexed result
  int64 indices_stride = 0;
  type c_type = type::other;
  accumulator accum = accumulator::none;
  bool outside_fills = false;
  bool c_packed = false;  ///< C may be stored by packs of the width B is loaded in
  any_value fill = {};    ///< in C's storage type
  mask_arguments mask;
  // Which entries: whole rows or samples of them, or also pieces of those that were cut
  sampling samples = sampling::none;
  int width = 0;
  bool rescales = false;  ///< sums of a sample stand for the whole row
  int64 cut = 0;          ///< rows longer than this come as pieces; 0: no row is cut
  const piece* pieces = nullptr;
  index piece_count = 0;
  const listed_row* order = nullptr;  ///< rows in this order; null: as they are
  const cut_row* cut_rows = nullptr;
  index cut_count = 0;
  void* piece_sums = nullptr;  ///< piece_count × columns accumulators
  /// Pieces that are done: cut_count a tile. Of `spmv`: sums that chunks sent. Zero between
  /// launches.
  unsigned* completion_counters = nullptr;
  // A cbsr, which is B or shapes C
  int k = 0;
  const void* kept = nullptr;  ///< k columns a row: unsigned char or unsigned short
  index tile = 0;              ///< columns whose sums a warp holds at a time
  // or even chunks of entries: of `spmv`
  const index* chunk_rows = nullptr;  ///< the first row of each chunk, and one more
  index chunk_count = 0;
  // or panels of rows: of `maxk_backward`
  const panel_unit* units = nullptr;
  const segment* segments = nullptr;
  const unsigned* words = nullptr;     ///< an entry each: `panel_word`
  const int32* first_place = nullptr;  ///< of each row's sums in `piece_sums`, and one more
  // or panels of columns: of `spmv_panels`, its sums panel by panel in `piece_sums`
  const pack_codes* codes = nullptr;
  const unsigned* segment_ends = nullptr;     ///< a bit a pack: the last of its segment
  const int32* segment_packs = nullptr;       ///< pack of A less pack of the blocks, per segment
  const warp_start* starts = nullptr;         ///< column_warps + 1 a unit
  const column_unit* column_units = nullptr;  ///< in the order of blocks
  const index* block_units = nullptr;         ///< the first of each block, and one more
  index panel_count = 0;

  constexpr int64 offset(index row) const {
    return offsets_64 ? static_cast<const int64*>(offsets)[row]
                      : static_cast<const int32*>(offsets)[row];
  }
  constexpr listed_row entries_of(index row) const {
    const int64 begin = offset(row);
    return {begin, static_cast<unsigned>(offset(row + 1) - begin), row};
  }
};

}  // namespace rig::on_cuda
