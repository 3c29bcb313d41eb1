// The windows of a pattern: a pass counts the distinct columns of each window, a second one stores
// them. A warp walks the union of the rows of a short window, a lane per row. A block marks the
// columns of a long window as bits, because a walk would take a step per column.

#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>

#include "cuda/analysis/build.hpp"
#include "cuda/analysis/windows.hpp"

namespace rig::on_cuda {
namespace {

constexpr int block = build_threads, warps = block / 32;
constexpr index no_column = highest<index>();
constexpr unsigned whole_warp = 0xffffffffu;

struct csr_view {
  const void* offsets;
  const index* entries;
  index rows, columns;
  bool offsets_64;

  /// Entries of a window that a warp walks, at most. A block takes a step per range of columns.
  __device__ unsigned walked() const {
    return static_cast<unsigned>(columns > 512 * 512 ? columns / 512 : 512);
  }
  __device__ int64 offset(index row) const { return offset_at(offsets, offsets_64, row); }
};

/// The entries of one row of a window; none if A has no such row.
struct window_row {
  const index *next, *end;

  __device__ window_row(const csr_view& a, int64 window, int number) : next(nullptr), end(nullptr) {
    const int64 row = window * window_height + number;
    if (number >= window_height || row >= a.rows) return;
    next = a.entries + a.offset(static_cast<index>(row));
    end = a.entries + a.offset(static_cast<index>(row) + 1);
  }
  __device__ index head() const { return next < end ? *next : no_column; }
};

/// The entries of the window whose rows the lanes of a warp have.
struct window_size {
  unsigned entries, longest;

  __device__ explicit window_size(const window_row& row) {
    constexpr int64 most = longest_in_window + 1;
    const int64 whole = row.end - row.next;
    const auto length = static_cast<unsigned>(whole < most ? whole : most);
    entries = __reduce_add_sync(whole_warp, length);
    longest = __reduce_max_sync(whole_warp, length);
  }
  /// Tiles for so many columns, or 0 if they have fewer than `least` entries each.
  __device__ static unsigned tiles(unsigned entries, unsigned columns, int least) {
    const unsigned some = (columns + tile_slots - 1) / tile_slots;
    return entries < static_cast<unsigned>(least) * some ? 0 : some;
  }
  /// Whether it may have tiles. The longest row alone may need too many.
  __device__ bool may_be_dense(int least) const {
    return longest <= longest_in_window && tiles(entries, longest, least) > 0;
  }
};

/// Calls visit(column, this lane's row has it) for each distinct column of the window, ascending.
template <class Visit>
__device__ void walk_columns(window_row row, Visit visit) {
  index head = row.head();
  for (index least; (least = __reduce_min_sync(whole_warp, head)) != no_column;) {
    const bool holds = head == least;
    visit(least, holds);
    if (!holds) continue;
    ++row.next;
    head = row.head();
  }
}

/// Some neighbouring columns: which of them a window has, and their ranks in the window.
struct column_range {
  static constexpr int words = 2048, width = 32 * words, per_thread = words / block;
  unsigned bits[words];
  int before[words];  ///< distinct columns of the window before each word
  index first;
  cub::BlockScan<int, block>::TempStorage scan;

  /// Marks the entries from `next` on that lie in the range, by a warp, and returns their number.
  /// Loads do not wait for each other.
  __device__ unsigned mark(const window_row& row) {
    constexpr int at_once = 4;
    unsigned marked = 0;
    bool goes_on = true;
    for (const index* at = row.next + threadIdx.x % 32; goes_on; at += 32 * at_once) {
      index column[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i) column[i] = at + 32 * i < row.end ? at[32 * i] : -1;
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        goes_on = column[i] >= 0 && column[i] - first < width;
        if (!goes_on) break;
        atomicOr(&bits[(column[i] - first) / 32], 1u << (column[i] - first) % 32);
        ++marked;
      }
    }
    return __reduce_add_sync(whole_warp, marked);
  }
  __device__ int rank(index column) const {
    const int at = column - first;
    return before[at / 32] + __popc(bits[at / 32] & ((1u << at % 32) - 1));
  }
  /// Sets `before` from `bits`, and returns the number of columns.
  __device__ int count(int columns_before) {
    const int own = static_cast<int>(threadIdx.x) * per_thread;
    int each[per_thread], all;
#pragma unroll
    for (int i = 0; i < per_thread; ++i) each[i] = __popc(bits[own + i]);
    cub::BlockScan<int, block>(scan).ExclusiveSum(each, each, all);
#pragma unroll
    for (int i = 0; i < per_thread; ++i) before[own + i] = columns_before + each[i];
    return all;
  }
};

/// Calls visit(row of the window, column, rank of the column) for each entry of a window, by all
/// threads of a block, and returns the number of distinct columns.
template <class Visit>
__device__ int rank_columns(const csr_view& a, int64 window, column_range& range, Visit visit) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  window_row rows[] = {{a, window, warp}, {a, window, warp + warps}};
  static_assert(window_height == 2 * warps);
  for (int columns = 0;;) {
    __syncthreads();
    if (threadIdx.x == 0) range.first = no_column;
    for (int i = static_cast<int>(threadIdx.x); i < range.words; i += block) range.bits[i] = 0;
    __syncthreads();
    if (lane == 0) atomicMin(&range.first, min(rows[0].head(), rows[1].head()));
    __syncthreads();
    if (range.first == no_column) return columns;
    const unsigned held[] = {range.mark(rows[0]), range.mark(rows[1])};
    __syncthreads();
    columns += range.count(columns);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      for (unsigned k = static_cast<unsigned>(lane); k < held[r]; k += 32)
        visit(warp + r * warps, rows[r].next[k], range.rank(rows[r].next[k]));
      rows[r].next += held[r];
    }
  }
}

/// Calls by_warp(window, this lane's row, entries) for short windows with wanted(window, size), and
/// by_block(window, entries) for long ones.
template <class Wanted, class ByWarp, class ByBlock>
__device__ void each_window(const csr_view& a, int64 count, Wanted wanted, ByWarp by_warp,
                            ByBlock by_block) {
  __shared__ unsigned long_entries[warps];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  for (int64 first = int64{blockIdx.x} * warps; first < count; first += int64{gridDim.x} * warps) {
    const window_row row(a, first + warp, lane);
    const window_size size(row);
    const bool is_wanted = first + warp < count && wanted(first + warp, size);
    const bool is_long = size.entries > a.walked();
    if (is_wanted && !is_long) by_warp(first + warp, row, size.entries);
    if (lane == 0) long_entries[warp] = is_wanted && is_long ? size.entries : 0;
    __syncthreads();
    for (int i = 0; i < warps; ++i)
      if (long_entries[i] > 0) by_block(first + i, long_entries[i]);
    __syncthreads();
  }
}

__device__ void add(int64& to, int64 some) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(some));
}

/// Stores the tiles of each window. Windows that are not dense keep 0.
__global__ void __launch_bounds__(block)
    count_tiles(csr_view a, int64 count, int least, int32* tiles, window_class* classes) {
  __shared__ column_range range;
  const auto store = [&](int64 window, unsigned entries, unsigned columns) {
    const unsigned found = window_size::tiles(entries, columns, least);
    if (found == 0) return;
    tiles[window] = static_cast<int32>(found);
    constexpr int each = window_height * tile_slots / window_classes;
    const unsigned of = entries / (found * each);
    window_class& to = classes[of < window_classes ? of : window_classes - 1];
    add(to.windows, 1);
    add(to.tiles, found);
    add(to.entries, entries);
  };
  each_window(
      a, count, [&](int64, const window_size& size) { return size.may_be_dense(least); },
      [&](int64 window, const window_row& row, unsigned entries) {
        unsigned columns = 0;
        walk_columns(row, [&](index, bool) { ++columns; });
        if (threadIdx.x % 32 == 0) store(window, entries, columns);
      },
      [&](int64 window, unsigned entries) {
        const int columns = rank_columns(a, window, range, [](int, index, int) {});
        if (threadIdx.x == 0) store(window, entries, static_cast<unsigned>(columns));
      });
}

/// The tiles of one window, to be filled in.
struct window_tiles {
  index* columns;
  unsigned char* bits;

  /// Row r of a tile has a byte: rows g and g + 8 are neighbours.
  __device__ static int byte_of(int tile, int row) {
    return tile * window_height + row % 8 * 2 + row / 8;
  }
  /// Sets the bit of an entry, which a byte shares with entries of other threads.
  __device__ void mark(int row, int slot) const {
    const int byte = byte_of(slot / tile_slots, row);
    atomicOr(reinterpret_cast<unsigned*>(bits) + byte / 4,
             1u << (byte % 4 * 8 + slot % tile_slots));
  }
  /// Repeats the last one of `count` columns to the end of its tile. All threads of a warp call it.
  __device__ void pad(int count, index last) const {
    const int slot = count + static_cast<int>(threadIdx.x) % 32;
    if (slot < (count + tile_slots - 1) / tile_slots * tile_slots) columns[slot] = last;
  }
};

__device__ void fill_by_walk(const window_row& row, const window_tiles& to) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int slot = 0;
  unsigned byte = 0;
  index last = 0;
  const auto store = [&](int tile) {
    if (lane < window_height)
      to.bits[window_tiles::byte_of(tile, lane)] = static_cast<unsigned char>(byte);
    byte = 0;
  };
  walk_columns(row, [&](index column, bool holds) {
    if (holds) byte |= 1u << slot % tile_slots;
    if (lane == 0) to.columns[slot] = column;
    last = column;
    if (++slot % tile_slots == 0) store(slot / tile_slots - 1);
  });
  if (slot % tile_slots != 0) store(slot / tile_slots);
  to.pad(slot, last);
}

/// Fills tiles whose bits are 0.
__global__ void __launch_bounds__(block)
    fill_tiles(csr_view a, int64 count, const int32* tiles, index* columns, unsigned char* bits) {
  __shared__ column_range range;
  const auto tiles_of = [&](int64 window) {
    return window_tiles{columns + int64{tiles[window]} * tile_slots,
                        bits + int64{tiles[window]} * window_height};
  };
  each_window(
      a, count, [&](int64 window, const window_size&) { return tiles[window] < tiles[window + 1]; },
      [&](int64 window, const window_row& row, unsigned) { fill_by_walk(row, tiles_of(window)); },
      [&](int64 window, unsigned) {
        const window_tiles to = tiles_of(window);
        const int found = rank_columns(a, window, range, [&](int row, index column, int slot) {
          to.columns[slot] = column;  // the same one from each of its rows
          to.mark(row, slot);
        });
        if (threadIdx.x < 32) to.pad(found, to.columns[found - 1]);
      });
}

}  // namespace

windows::windows(const pattern& original) {
  const device_scope scope(original.where().device);
  const build in(original, name);
  const csr_view a = {original.offsets(), original.column_indices(), original.rows(),
                      original.columns(), original.offsets_64()};
  const int64 count = (int64{original.rows()} + window_height - 1) / window_height;
  tiles_ = in.room(count + 1, sizeof(int32));
  // The classes, then the tiles of each window.
  const std::size_t of_classes = sizeof(classes);
  const buffer counted =
      in.room(static_cast<int64>(of_classes) + (count + 1) * static_cast<int64>(sizeof(int32)), 1);
  auto* const found = counted.data<window_class>();
  auto* const counts = reinterpret_cast<int32*>(found + window_classes);
  in.clear(counted);
  in.start(&count_tiles, 32 * count, a, count, least_entries_per_tile(original.nnz()), counts,
           found);
  in.with_scratch([&](void* space, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(space, bytes, counts, tiles_.data<int32>(), count + 1,
                                         in.stream);
  });
  in.to_host(classes.data(), found, of_classes);
  in.wait();
  tiles = tiles_.data<int32>();
  int64 all = 0;
  for (const window_class& one : classes) all += one.tiles;
  if (all == 0) return;
  columns_ = in.room(all * tile_slots, sizeof(index));
  bits_ = in.room(all, window_height);
  in.clear(bits_);
  columns = columns_.data<index>();
  bits = bits_.data<unsigned short>();
  in.start(&fill_tiles, 32 * count, a, count, tiles, columns_.data<index>(),
           bits_.data<unsigned char>());
  // One wait at creation, so that a call on any stream finds the structure complete.
  in.wait();
}

std::size_t windows::bytes() const { return tiles_.bytes() + columns_.bytes() + bits_.bytes(); }

}  // namespace rig::on_cuda
