#pragma once

// Two sorted sparse operands, walked together: each place goes to the result by a table of rules.
//
// The places are cut, in the order of rows and columns, into tiles of equal work, one per block. In
// a tile each thread merges a share of the entries of both. Tiles are
// read twice: to count their entries, and to write them. Cost: two reads of the indices, one of the
// values, one write. Determinism: no atomics.

#include "cuda/device/element.cuh"

namespace rig::on_cuda {

/// Rows plus entries of a tile; one more if both operands have an entry at its end.
constexpr int merge_items = 2048;
constexpr int merge_room = merge_items + 4;

/// A sparse operand without its values.
struct merge_operand {
  const void* offsets = nullptr;  ///< null: no entries
  bool offsets_64 = false;
  const index* entries = nullptr;

  constexpr int64 offset(index row) const {
    if (offsets == nullptr) return 0;
    return offsets_64 ? static_cast<const int64*>(offsets)[row]
                      : static_cast<const int32*>(offsets)[row];
  }
  /// The first entry of a row whose column is not less.
  constexpr int64 first_from(index row, index column) const {
    int64 low = offset(row), high = offset(row + 1);
    while (low < high) {
      const int64 middle = low + (high - low) / 2;
      if (entries[middle] < column)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

/// A place before which everything belongs to earlier tiles, and the first entries after it.
struct merge_cut {
  index row, column;
  int64 x, y;
};

struct merge_arguments {
  merge_operand x, y;
  mask_arguments mask;
  unsigned rules = 0;          ///< two bits per state: nothing, x, y, both
  const bool* keep = nullptr;  ///< null, or a flag per entry of X
  const bool *region_rows = nullptr, *region_columns = nullptr;  ///< null: all of them
  const merge_cut* cuts = nullptr;                               ///< one per tile, and the end
  int64* counts = nullptr;  ///< of the entries of each tile; when writing, of those before it
  // Writing
  element_arguments elements;
  bool has_values = false;
  void* offsets = nullptr;
  bool offsets_64 = false;
  index* columns = nullptr;
};

/// One tile in shared memory.
struct merge_tile {
  int columns[merge_room];             ///< of X's entries, then of Y's
  unsigned short rows[merge_room];     ///< likewise, from the tile's first row on
  unsigned short x_begin[merge_room];  ///< each row's first entry of X, then the end
  unsigned short y_begin[merge_room];
  /// By places in order: which operand gives the entry (two bits), and the entry's number.
  unsigned short places[merge_room];
  unsigned short before[merge_room];  ///< the entries of the result before each place
  unsigned short chosen[merge_room];  ///< the places that are entries of the result
  int warp_sums[element_threads / 32];

  static constexpr unsigned number_bits = 12;
  static_assert(merge_room < 1 << number_bits);
};

/// The first of `count` ascending numbers that is greater than `key`.
__device__ __forceinline__ int first_above(const unsigned short* numbers, int count, int key) {
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (numbers[middle] <= key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Writes the row of each of `count` entries, whose rows begin at these.
__device__ inline void fill_rows(const unsigned short* begins, int rows, int count,
                                 unsigned short* to) {
  // Odd, so that the threads of a warp write to different banks.
  const int share = (count + element_threads - 1) / element_threads | 1;
  const int first = static_cast<int>(threadIdx.x) * share;
  const int last = first + share < count ? first + share : count;
  if (first >= last) return;
  int row = first_above(begins, rows + 1, first) - 1;
  for (int k = first; k < last; ++k) {
    while (k >= begins[row + 1]) ++row;
    to[k] = static_cast<unsigned short>(row);
  }
}

/// Reads the tile between two cuts.
__device__ inline void load_tile(const merge_arguments& args, const merge_cut& from,
                                 const merge_cut& to, merge_tile& tile) {
  const int nx = static_cast<int>(to.x - from.x), ny = static_cast<int>(to.y - from.y);
  const int rows = to.row - from.row + (to.column > 0);  // the last of which may go on
  const int thread = static_cast<int>(threadIdx.x);
  const auto begin = [](int64 offset, int64 first, int count) {
    const int64 at = offset - first;
    return static_cast<unsigned short>(at < 0 ? 0 : at > count ? count : at);
  };
  for (int r = thread; r <= rows; r += element_threads) {
    tile.x_begin[r] = r == rows ? static_cast<unsigned short>(nx)
                                : begin(args.x.offset(from.row + r), from.x, nx);
    tile.y_begin[r] = r == rows ? static_cast<unsigned short>(ny)
                                : begin(args.y.offset(from.row + r), from.y, ny);
  }
  for (int i = thread; i < nx; i += element_threads) tile.columns[i] = args.x.entries[from.x + i];
  for (int j = thread; j < ny; j += element_threads)
    tile.columns[nx + j] = args.y.entries[from.y + j];
  __syncthreads();
  fill_rows(tile.x_begin, rows, nx, tile.rows);
  fill_rows(tile.y_begin, rows, ny, tile.rows + nx);
  __syncthreads();
}

/// Which operand gives the entry at a place: 0 none, 1 X, 2 Y, 3 both.
__device__ __forceinline__ unsigned take_at(const merge_arguments& args, bool in_x, bool in_y,
                                            index row, index column) {
  const bool in_region = (args.region_rows == nullptr || args.region_rows[row]) &&
                         (args.region_columns == nullptr || args.region_columns[column]);
  const unsigned state = in_x + 2u * in_y + 4u * allows(args.mask, row, column) + 8u * in_region;
  return args.rules >> 2 * state & 3u;
}

/// Which entries a thread has merged, and which are next. A key is a row of the tile and a column.
struct merge_state {
  static constexpr unsigned long none = ~0ul;
  const merge_tile& tile;
  int nx, ny, i, j;
  unsigned long before, x, y;  ///< the keys of X's last entry and of the next ones

  /// Entry k of X, or entry k − nx of Y.
  __device__ __forceinline__ unsigned long key(int k) const {
    return static_cast<unsigned long>(tile.rows[k]) << 32 | static_cast<unsigned>(tile.columns[k]);
  }
  /// After `first` entries of both, in order; of equal ones X's comes first.
  __device__ merge_state(const merge_tile& of, int nx_, int ny_, int first)
      : tile(of), nx(nx_), ny(ny_) {
    int low = first > ny ? first - ny : 0, high = first < nx ? first : nx;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (key(middle) <= key(nx + first - 1 - middle))
        low = middle + 1;
      else
        high = middle;
    }
    i = low;
    j = first - low;
    before = i > 0 ? key(i - 1) : none;
    x = i < nx ? key(i) : none;
    y = j < ny ? key(nx + j) : none;
  }
};

/// The next entry in order: which operand gives the result's entry, and its number.
template <bool Plain>
__device__ __forceinline__ unsigned next_place(const merge_arguments& args, const merge_cut& from,
                                               merge_state& at) {
  const bool is_x = at.x <= at.y;
  const unsigned long key = is_x ? at.x : at.y;
  const bool in_y = !is_x || at.x == at.y, is_new = is_x || at.before != at.y;
  unsigned by = 0;
  if constexpr (Plain) {
    by = args.rules >> 2 * (12u + is_x + 2u * in_y) & 3u;
    if (!is_new) by = 0;  // X's entry has decided
  } else if (is_new) {
    const index row = from.row + static_cast<index>(key >> 32);
    const auto column = static_cast<index>(key & 0xffffffffu);
    const bool in_x = is_x && (args.keep == nullptr || args.keep[from.x + at.i]);
    by = take_at(args, in_x, in_y, row, column);
  }
  const auto number = static_cast<unsigned>(is_x && by != 2 ? at.i : at.j);
  if (is_x) {
    at.before = at.x;
    ++at.i;
    at.x = at.i < at.nx ? at.key(at.i) : merge_state::none;
  } else {
    ++at.j;
    at.y = at.j < at.ny ? at.key(at.nx + at.j) : merge_state::none;
  }
  return by << merge_tile::number_bits | number;
}

/// Puts each entry of the result at its place among all entries of the tile, and numbers the
/// entries in order, unless they are only counted. Returns their count.
template <bool Plain, bool Counts>
__device__ __forceinline__ int place_entries(const merge_arguments& args, const merge_cut& from,
                                             int nx, int ny, merge_tile& tile) {
  constexpr int each = (merge_room + element_threads - 1) / element_threads;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const int first = thread * each, count = nx + ny;
  unsigned places[each] = {};
  int mine = 0;
  if (first < count) {
    merge_state at(tile, nx, ny, first);
#pragma unroll
    for (int k = 0; k < each; ++k) {
      if (first + k < count) places[k] = next_place<Plain>(args, from, at);
      mine += places[k] >> merge_tile::number_bits != 0;
    }
  }
  int sum = mine;  // over the warp's threads up to this one
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31) tile.warp_sums[thread / 32] = sum;
  __syncthreads();
  int at = sum - mine, total = 0;
  for (int warp = 0; warp < element_threads / 32; ++warp) {
    if (warp < thread / 32) at += tile.warp_sums[warp];
    total += tile.warp_sums[warp];
  }
#pragma unroll
  for (int k = 0; k < each && !Counts; ++k) {
    if (first + k > count) break;
    tile.before[first + k] = static_cast<unsigned short>(at);
    tile.places[first + k] = static_cast<unsigned short>(places[k]);
    if (places[k] >> merge_tile::number_bits != 0)
      tile.chosen[at++] = static_cast<unsigned short>(first + k);
  }
  __syncthreads();
  return total;
}

/// Writes the columns and values of the tile's entries, from `base` on.
template <class Op>
__device__ void write_entries(const merge_arguments& args, const merge_cut& from, int nx, int total,
                              int64 base, const merge_tile& tile) {
  constexpr int n = elements_in_flight;
  constexpr unsigned number_mask = (1u << merge_tile::number_bits) - 1;
  for (int first = static_cast<int>(threadIdx.x); first < total; first += element_threads * n) {
    int64 at[n], x[n], y[n];
    const index unread[n] = {};
    for (int k = 0; k < n; ++k) {
      at[k] = x[k] = y[k] = -1;
      const int number = first + k * element_threads;
      if (number >= total) continue;
      const int place = tile.chosen[number];
      const unsigned by = tile.places[place] >> merge_tile::number_bits;
      const int entry = static_cast<int>(tile.places[place] & number_mask);
      at[k] = base + number;
      if (by != 2) x[k] = from.x + entry;
      if (by == 2) y[k] = from.y + entry;
      if (by == 3) y[k] = from.y + (place - entry);
      args.columns[at[k]] = tile.columns[by == 2 ? nx + entry : entry];
    }
    if (!args.has_values) continue;
    typename Op::result z[n];
    compute<Op>(args.elements, x, y, unread, unread, z);
    scatter(args.elements, at, z);
  }
}

/// One tile per block. `Op` is void when entries are only counted. Plain: no mask, flags or region.
template <class Op, bool Plain>
__global__ void __launch_bounds__(element_threads) merge_tiles(merge_arguments args) {
  __shared__ merge_tile tile;
  const merge_cut from = args.cuts[blockIdx.x], to = args.cuts[blockIdx.x + 1];
  const int nx = static_cast<int>(to.x - from.x), ny = static_cast<int>(to.y - from.y);
  load_tile(args, from, to, tile);
  const int total = place_entries<Plain, is_same<Op, void>>(args, from, nx, ny, tile);
  if constexpr (is_same<Op, void>) {
    if (threadIdx.x == 0) args.counts[blockIdx.x] = total;
  } else {
    const int64 base = args.counts[blockIdx.x];
    const index ended = to.row - from.row;  // rows that end in this tile
    for (int r = static_cast<int>(threadIdx.x); r < ended; r += element_threads) {
      const int64 end = base + tile.before[tile.x_begin[r + 1] + tile.y_begin[r + 1]];
      if (args.offsets_64)
        static_cast<int64*>(args.offsets)[from.row + r + 1] = end;
      else
        static_cast<int32*>(args.offsets)[from.row + r + 1] = static_cast<int32>(end);
    }
    write_entries<Op>(args, from, nx, total, base, tile);
  }
}

}  // namespace rig::on_cuda
