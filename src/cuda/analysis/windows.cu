// The windows of a pattern. A warp walks the union of the rows of a window, a lane per row, once to
// count the columns and once to store them: no sort, and no scratch memory but the counts.

#include <cub/device/device_scan.cuh>

#include "cuda/analysis/build.hpp"
#include "cuda/analysis/windows.hpp"
#include "cuda/tuning/table.hpp"

namespace rig::on_cuda {
namespace {

constexpr int block = build_threads;
constexpr index no_column = highest<index>();
constexpr unsigned warp = 0xffffffffu;

struct csr_view {
  const void* offsets;
  const index* entries;
  index rows;
  bool offsets_64;

  __device__ int64 offset(index row) const {
    return offsets_64 ? static_cast<const int64*>(offsets)[row]
                      : static_cast<const int32*>(offsets)[row];
  }
};

/// The entries of this lane's row of a window; none for lanes without a row.
struct lane_row {
  const index *next, *end;

  __device__ lane_row(const csr_view& a, int64 window) : next(nullptr), end(nullptr) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int64 row = window * window_height + lane;
    if (lane >= window_height || row >= a.rows) return;
    next = a.entries + a.offset(static_cast<index>(row));
    end = a.entries + a.offset(static_cast<index>(row) + 1);
  }
  __device__ unsigned length() const {
    constexpr int64 most = longest_in_window + 1;
    const int64 whole = end - next;
    return static_cast<unsigned>(whole < most ? whole : most);
  }
};

/// Calls visit(column, this lane's row has it) for each distinct column of the window, ascending.
template <class Visit>
__device__ void walk_columns(lane_row row, Visit visit) {
  index head = row.next < row.end ? *row.next : no_column;
  for (index least; (least = __reduce_min_sync(warp, head)) != no_column;) {
    const bool holds = head == least;
    visit(least, holds);
    if (!holds) continue;
    ++row.next;
    head = row.next < row.end ? *row.next : no_column;
  }
}

/// The tiles of a window, or 0 if it has fewer than `least` entries per tile, or a long row.
__device__ int32 tiles_of(const lane_row& row, int least, unsigned& entries) {
  const unsigned length = row.length(), longest = __reduce_max_sync(warp, length);
  entries = __reduce_add_sync(warp, length);
  if (longest == 0 || longest > longest_in_window) return 0;
  const auto too_few = [&](unsigned tiles) {
    return entries < static_cast<unsigned>(least) * tiles;
  };
  // The longest row alone may need too many tiles; then no column is counted.
  if (too_few((longest + tile_slots - 1) / tile_slots)) return 0;
  unsigned columns = 0;
  walk_columns(row, [&](index, bool) { ++columns; });
  const unsigned tiles = (columns + tile_slots - 1) / tile_slots;
  return too_few(tiles) ? 0 : static_cast<int32>(tiles);
}

__device__ void add(int64& to, int64 some) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&to), static_cast<unsigned long long>(some));
}

/// tiles[w] for each window, and 0 behind the last one.
__global__ void count_tiles(csr_view a, int64 count, int least, int32* tiles,
                            window_class* classes) {
  const int64 step = static_cast<int64>(gridDim.x) * (block / 32);
  for (int64 w = (static_cast<int64>(blockIdx.x) * block + threadIdx.x) / 32; w <= count;
       w += step) {
    unsigned entries = 0;
    const int32 found = tiles_of(lane_row(a, w), least, entries);
    if (threadIdx.x % 32 != 0) continue;
    tiles[w] = found;
    if (found == 0) continue;
    constexpr int each = window_height * tile_slots / window_classes;
    const int of = static_cast<int>(entries / (static_cast<unsigned>(found) * each));
    window_class& to = classes[of < window_classes ? of : window_classes - 1];
    add(to.windows, 1);
    add(to.tiles, found);
    add(to.entries, entries);
  }
}

__global__ void fill_tiles(csr_view a, int64 count, const int32* tiles, index* columns,
                           unsigned char* bits) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int64 step = static_cast<int64>(gridDim.x) * (block / 32);
  for (int64 w = (static_cast<int64>(blockIdx.x) * block + threadIdx.x) / 32; w < count;
       w += step) {
    if (tiles[w] == tiles[w + 1]) continue;
    index* const slots = columns + static_cast<int64>(tiles[w]) * tile_slots;
    unsigned char* const bytes = bits + static_cast<int64>(tiles[w]) * window_height;
    int slot = 0;
    unsigned byte = 0;
    index last = 0;
    const auto store = [&](int tile) {
      if (lane < window_height)
        bytes[tile * window_height + lane % 8 * 2 + lane / 8] = static_cast<unsigned char>(byte);
      byte = 0;
    };
    walk_columns(lane_row(a, w), [&](index column, bool holds) {
      if (holds) byte |= 1u << slot % tile_slots;
      if (lane == 0) slots[slot] = column;
      last = column;
      if (++slot % tile_slots == 0) store(slot / tile_slots - 1);
    });
    if (slot % tile_slots == 0) continue;
    store(slot / tile_slots);
    if (lane < tile_slots - slot % tile_slots) slots[slot + lane] = last;
  }
}

int least_entries(int64 nnz) {
  product_facts facts;
  facts[fact::nonzeros] = static_cast<double>(nnz);
  return current_table().find(section::windows, facts)[setting::least_entries];
}

}  // namespace

void prepare_windows(const pattern& of) {
  if (windows::serves(of.rows(), of.nnz())) of.derived_of<windows>();
}

windows::windows(const pattern& original) {
  const device_scope scope(original.where().device);
  const build in(original, name);
  const csr_view a = {original.offsets(), original.column_indices(), original.rows(),
                      original.offsets_64()};
  const int64 count = (int64{original.rows()} + window_height - 1) / window_height;
  tiles_ = in.room(count + 1, sizeof(int32));
  const buffer counts = in.room(count + 1, sizeof(int32));
  const buffer found = in.room(window_classes, sizeof(window_class));
  check(cudaMemsetAsync(found.data(), 0, found.bytes(), in.stream), name);
  count_tiles<<<blocks_for(32 * (count + 1)), block, 0, in.stream>>>(
      a, count, least_entries(original.nnz()), counts.data<int32>(), found.data<window_class>());
  in.check_launch();
  in.with_scratch([&](void* space, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(space, bytes, counts.data<const int32>(),
                                         tiles_.data<int32>(), count + 1, in.stream);
  });
  int32 all = 0;
  in.to_host(&all, tiles_.data<int32>() + count, sizeof(all));
  in.to_host(classes.data(), found.data(), found.bytes());
  in.wait();
  tiles = tiles_.data<int32>();
  if (all == 0) return;
  columns_ = in.room(int64{all} * tile_slots, sizeof(index));
  bits_ = in.room(all, window_height);
  columns = columns_.data<index>();
  bits = bits_.data<unsigned short>();
  fill_tiles<<<blocks_for(32 * count), block, 0, in.stream>>>(
      a, count, tiles, columns_.data<index>(), bits_.data<unsigned char>());
  in.check_launch();
  // One wait at creation, so that a call on any stream finds the structure complete.
  in.wait();
}

std::size_t windows::bytes() const { return tiles_.bytes() + columns_.bytes() + bits_.bytes(); }

}  // namespace rig::on_cuda
