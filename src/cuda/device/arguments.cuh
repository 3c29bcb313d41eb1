#pragma once

// The arguments of every kernel: one trivially copyable struct, so that kernels compiled ahead and
// kernels compiled at run time launch alike. NVRTC compiles the kernel files, so they include no
// header except rig's own.

#include "rig/accumulate.hpp"
#include "rig/kernels/sampling.hpp"
#include "rig/semiring.hpp"

namespace rig::on_cuda {

/// Split lengths per segment of a row that `row` splits: a block sums a segment, a few lanes a row
/// that is not split.
constexpr int64 splits_per_segment = 8;

/// A segment of one split row, which begins after `number` segments of the row. `split_row` is the
/// row's place in the list of split rows.
struct row_segment {
  index row;
  int32 number, split_row;
};

/// The sums of so many segments of a row are added one after the other, then those of such groups.
constexpr int32 segments_per_group = 16;

/// Threads per block of `row`.
constexpr int row_threads = 128;
constexpr int rest_unroll = 4;  ///< entries in flight of the columns beyond tiles
/// Entries that a thread of `permute_values` has in flight.
constexpr int values_in_flight = 4;

/// Rows plus entries of one chunk of `spmv`.
constexpr int chunk_items = 2044;

/// A row of `spmv` that crosses chunks is completed so many blocks after the block in which it
/// ends. By then its sums are mostly stored. The value is about the number of blocks that an H200
/// runs at once; other GPUs are unmeasured. Alternatives: docs/lab/spmv.md.
constexpr int64 blocks_behind = 1024;

/// A row and the place of its entries, so that a kernel with a list of rows does not wait for the
/// offsets as well.
struct alignas(16) listed_row {
  int64 begin;
  unsigned count;
  index row;
};

/// A split row: its segments are [first_segment, first_segment + count), in order.
struct split_row {
  index row;
  int32 first_segment, count;
};

/// Rows of A per panel of `maxk_backward_panels`; a block holds their rows of B in shared memory.
/// More rows make fewer and longer sums, and leave less of the L1 cache (docs/lab/maxk.md).
constexpr index panel_rows = 56;
constexpr int panel_place_bits = 26;
/// An entry in 32 bits: its row in the panel, and its place among the panel's entries in A.
constexpr unsigned panel_word(index row, int64 place) {
  return static_cast<unsigned>(row) << panel_place_bits | static_cast<unsigned>(place);
}

/// Segments [first, last) of one panel. The panel has `rows` rows from `row` on, and `entry` is its
/// first entry in A.
struct panel_unit {
  index row, rows;
  int64 entry;
  int32 first, last;
};

/// The entries of a panel in one column of A, which is a row of C. `place`: the place of their sum.
/// `begin`, `count`: their words.
struct alignas(16) panel_segment {
  index row;
  int32 place;
  int32 begin, count;
};

/// The bits of a number of any storage type.
struct alignas(16) any_value {
  unsigned char bytes[16];
};

/// Panels of columns of `spmv_panels` begin on multiples of this, so that their elements of B begin
/// on multiples of 16 bytes.
constexpr index panel_grain = 16;

/// Warps per block of `spmv_panels`, and entries that a lane takes at once: a vector. A vector
/// begins on a multiple of four entries of A, although a row's entries in a panel may not.
constexpr int column_warps = 32;
constexpr int vector_entries = 4;
/// The codes of a vector: the place of each entry's element of B in shared memory, or 0 if the
/// entry belongs to another row or panel. The panel's elements begin at place `first_code`.
constexpr index first_code = panel_grain;
struct alignas(8) vector_codes {
  unsigned pairs[2];  ///< codes 0 and 1, 2 and 3, the first in the low half
};

/// The columns of a panel of which a block takes some vectors. `warp_start`: a warp's first vector,
/// which is the first of a row, and the row's segment. A row in a panel is a segment, number panel
/// · rows + row.
struct column_unit {
  index column, columns;
};
struct warp_start {
  int32 segment, vector;
};

/// Windows of A for Tensor cores: rows per window, distinct columns per tile, and the greatest
/// number of entries in a row of a window with tiles, because one warp takes a window.
constexpr int window_height = 16;
constexpr int tile_slots = 8;
constexpr int64 longest_in_window = 32768;

/// Threads and rows of C per block of `multiply_rows`, and blocks that a multiprocessor holds; the
/// rows of W that a block holds in shared memory.
constexpr int update_threads = 256;
constexpr int update_rows = update_threads / 32 * 16;
constexpr int update_blocks = 3;
constexpr index weights_panel = 128;

/// The selector: a logistic regression over the columns of a window's tiles and their density. A
/// window runs on Tensor cores if its odds to win there are positive.
struct window_fit {
  float bias = 0, per_column = 0, per_density = 0;

  constexpr float odds(float columns, float density) const {
    return bias + per_column * columns + per_density * density;
  }
  constexpr bool selects(int64 entries, int64 tiles) const {
    const float columns = static_cast<float>(tiles) * tile_slots;
    return tiles > 0 && odds(columns, static_cast<float>(entries) / (window_height * columns)) > 0;
  }
};

/// Element `row` of the offsets of a pattern.
template <class Row>
constexpr int64 offset_at(const void* offsets, bool offsets_64, Row row) {
  return offsets_64 ? static_cast<const int64*>(offsets)[row]
                    : static_cast<const int32*>(offsets)[row];
}

/// The row that holds entry p: the last of low … high − 1 that begins at or before p.
constexpr index row_of_entry(const void* offsets, bool offsets_64, index low, index high, int64 p) {
  while (high - low > 1) {
    const index middle = low + (high - low) / 2;
    if (offset_at(offsets, offsets_64, middle) <= p)
      low = middle;
    else
      high = middle;
  }
  return low;
}

struct mask_arguments {
  enum kind : unsigned char { absent, matrix, dense };
  kind over = absent;
  bool structural = false, complemented = false, offsets_64 = false;
  type stored = type::other;
  const void* offsets = nullptr;
  const index* entries = nullptr;
  const void* values = nullptr;  ///< null: every entry is `iso`
  any_value iso = {};
  int64 stride = 0;  ///< row stride of a dense mask, whose elements are `values`

  constexpr int64 offset(index row) const {
    return offsets_64 ? static_cast<const int64*>(offsets)[row]
                      : static_cast<const int32*>(offsets)[row];
  }
};

/// The entries of a row that are read. full: all. prefix: the first ones. sampled: any of a row
/// longer than the width. mostly_full: the same, compiled for whole rows, because few rows are
/// sampled.
enum class entries_read { full, prefix, sampled, mostly_full };

struct arguments {
  // A
  index rows = 0;
  int64 nnz = 0;
  bool offsets_64 = false;
  type a_type = type::other;
  const void* offsets = nullptr;
  const index* entries = nullptr;
  const void* permutation =
      nullptr;  ///< value of entry p is a_values[permutation[p]]; only `permute_values` reads it
  const void* a_values =
      nullptr;  ///< null: every entry is `iso`; else of the semiring's left type, in order
  any_value iso = {};
  // B
  index columns = 0;
  const void* b = nullptr;
  unsigned b_row_bytes = 0;      ///< bytes from one row of B to the next
  int64 b_tile_bytes = 0;        ///< bytes from one tile of B to the next, less one row of a tile
  const void* b_rest = nullptr;  ///< the columns of B beyond the tiles, less one row of all tiles:
                                 ///< kernels add the number of a column
  unsigned b_rest_row_bytes = 0;
  const float *low = nullptr, *step = nullptr;  ///< of B's codes: one range, or one per column
  // C
  void* c = nullptr;
  int64 c_stride = 0;
  int32* indices = nullptr;  ///< the second array of an indexed result
  int64 indices_stride = 0;
  type c_type = type::other;
  accumulator accum = accumulator::none;
  bool outside_fills = false;
  bool c_in_vectors = false;  ///< C can be stored in vectors of the width in which B is loaded
  any_value fill = {};        ///< in C's storage type
  mask_arguments mask;
  // The entries to sum: whole rows, samples of rows, or segments of split rows
  sampling samples = sampling::whole;
  int width = 0;
  bool rescales = false;   ///< the sum of a sample is scaled to the whole row
  int64 split_length = 0;  ///< rows longer than this come in segments; 0: no row is split
  const row_segment* segments = nullptr;
  index segment_count = 0;
  const listed_row* order = nullptr;  ///< the order of rows; null: as A stores them
  const split_row* split_rows = nullptr;
  index split_count = 0;
  void* segment_sums = nullptr;  ///< segment_count × columns accumulators
  /// Per tile: finished segments, or groups of segments, of each split row; then finished segments
  /// of each group. In `spmv`: sums that chunks have sent. Zero between launches.
  unsigned* completion_counters = nullptr;
  // A cbsr, which is B or the pattern of C
  int k = 0;
  const void* retained_columns = nullptr;  ///< k columns per row: unsigned char or unsigned short
  index tile = 0;                          ///< columns whose sums a warp holds at a time
  // Chunks of equal work: `spmv`
  const index* chunk_rows = nullptr;  ///< the first row of each chunk, then the number of rows
  index chunk_count = 0;
  // Panels of rows: `maxk_backward`
  const panel_unit* units = nullptr;
  const panel_segment* panel_segments = nullptr;
  const unsigned* words = nullptr;     ///< one per entry: `panel_word`
  const int32* first_place = nullptr;  ///< each row's first sum in `segment_sums`, then the end
  // Panels of columns: `spmv_panels`, with its sums in `segment_sums`, panel by panel
  const vector_codes* codes = nullptr;
  const unsigned* panel_segment_ends = nullptr;  ///< one bit per vector: the last of its segment
  const int32* panel_segment_vectors = nullptr;  ///< vector of A less vector of `codes`
  const warp_start* starts = nullptr;            ///< column_warps + 1 per unit
  const column_unit* column_units = nullptr;     ///< in the order of blocks
  const index* block_units = nullptr;            ///< each block's first unit, then the end
  index panel_count = 0;
  // Windows of 16 rows: `hybrid`
  const int32* window_tiles = nullptr;          ///< each window's first tile, then the end
  const index* window_columns = nullptr;        ///< tile_slots per tile, the last one repeated
  const unsigned short* window_bits = nullptr;  ///< 8 per tile: slots of rows g and g + 8
  window_fit fit = {};
  // C · W: `update`
  const float* weights = nullptr;
  int64 weights_stride = 0;
  index update_columns = 0;
  float* updated = nullptr;
  int64 updated_stride = 0;

  constexpr int64 offset(index row) const {
    return offsets_64 ? static_cast<const int64*>(offsets)[row]
                      : static_cast<const int32*>(offsets)[row];
  }
  constexpr int64 counters_per_tile() const {
    return int64{split_count} + segment_count / segments_per_group + 1;
  }
  constexpr listed_row entries_of(index row) const {
    const int64 begin = offset(row);
    return {begin, static_cast<unsigned>(offset(row + 1) - begin), row};
  }
};

}  // namespace rig::on_cuda
