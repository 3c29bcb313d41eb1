// The entries of a pattern by panels of its rows. No hot loop: CUB sorts and scans.

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <vector>

#include "cuda/analysis/row_panels.hpp"
#include "cuda/runtime/runtime.hpp"

namespace rig::on_cuda {
namespace {

constexpr int block = 256;
/// Bits of the length by which segments of a panel are sorted; longer segments count as the
/// longest.
constexpr int length_bits = 6;
/// Segments per block, so that several blocks share a panel of hubs; docs/lab/maxk.md.
constexpr int32 unit_segments = 4096;

unsigned blocks_for(int64 count) {
  const int64 wanted = (count + block - 1) / block;
  return static_cast<unsigned>(wanted < 65536 ? (wanted > 0 ? wanted : 1) : 65536);
}

/// A warp takes a column of A and calls `starts(q, number)` for each entry that begins a segment,
/// numbered from `base` on. Returns the number of segments.
template <class Starts>
__device__ int32 walk_segments(const int32* offsets, const index* rows, index column, int32 base,
                               Starts starts) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int32 begin = offsets[column], end = offsets[column + 1];
  int32 count = 0;
  for (int32 q = begin + lane; q - lane < end; q += 32) {
    const bool is_start =
        q < end && (q == begin || rows[q] / panel_rows != rows[q - 1] / panel_rows);
    const unsigned all = __ballot_sync(0xffffffffu, is_start);
    if (is_start) starts(q, base + count + __popc(all & ((1u << lane) - 1)));
    count += __popc(all);
  }
  return count;
}

__global__ void count_segments(const int32* offsets, const index* rows, index columns,
                               int32* counts) {
  for (int64 j = (static_cast<int64>(blockIdx.x) * block + threadIdx.x) / 32; j <= columns;
       j += static_cast<int64>(gridDim.x) * block / 32) {
    const int32 count =
        j < columns ? walk_segments(offsets, rows, static_cast<index>(j), 0, [](int32, int32) {})
                    : 0;
    if (threadIdx.x % 32 == 0) counts[j] = count;
  }
}

/// begins[s], columns_of[s]: the first entry of segment s, and its column.
__global__ void list_segments(const int32* offsets, const index* rows, index columns,
                              const int32* first_place, int32* begins, index* columns_of) {
  for (int64 j = (static_cast<int64>(blockIdx.x) * block + threadIdx.x) / 32; j < columns;
       j += static_cast<int64>(gridDim.x) * block / 32)
    walk_segments(offsets, rows, static_cast<index>(j), first_place[j], [&](int32 q, int32 s) {
      begins[s] = q;
      columns_of[s] = static_cast<index>(j);
    });
}

/// The keys sort segments by panel, and the longest first within a panel.
__global__ void make_keys(const int32* begins, const index* rows, int32 count, unsigned* keys,
                          int32* numbers) {
  constexpr int32 most = (1 << length_bits) - 1;
  for (int64 s = static_cast<int64>(blockIdx.x) * block + threadIdx.x; s < count;
       s += static_cast<int64>(gridDim.x) * block) {
    const int32 length = begins[s + 1] - begins[s];
    keys[s] = static_cast<unsigned>(rows[begins[s]] / panel_rows) << length_bits |
              static_cast<unsigned>(most - (length < most ? length : most));
    numbers[s] = static_cast<int32>(s);
  }
}

__global__ void take_lengths(const int32* numbers, const int32* begins, int32 count,
                             int32* lengths) {
  for (int64 t = static_cast<int64>(blockIdx.x) * block + threadIdx.x; t < count;
       t += static_cast<int64>(gridDim.x) * block)
    lengths[t] = begins[numbers[t] + 1] - begins[numbers[t]];
}

__global__ void place_segments(const int32* numbers, const int32* begins, const index* columns_of,
                               const int32* sorted_begins, int32 count, const index* rows,
                               const int32* permutation, const int32* offsets_of_a,
                               segment* segments, unsigned* words) {
  for (int64 t = static_cast<int64>(blockIdx.x) * block + threadIdx.x; t < count;
       t += static_cast<int64>(gridDim.x) * block) {
    const int32 s = numbers[t], begin = begins[s], to = sorted_begins[t];
    const int32 length = begins[s + 1] - begin;
    const index first_row = rows[begin] / panel_rows * panel_rows;
    const int32 first_entry = offsets_of_a[first_row];
    for (int32 e = 0; e < length; ++e)
      words[to + e] = panel_word(rows[begin + e] - first_row, permutation[begin + e] - first_entry);
    segments[t] = {columns_of[s], s, to, length};
  }
}

/// Finds the first segment of each panel, by a search in the keys, and its first entry.
__global__ void find_panels(const unsigned* keys, int32 count, const int32* offsets_of_a,
                            index rows, index panel_count, int32* first_segments,
                            int32* first_entries) {
  for (int64 p = static_cast<int64>(blockIdx.x) * block + threadIdx.x; p <= panel_count;
       p += static_cast<int64>(gridDim.x) * block) {
    int32 low = 0, high = count;
    while (low < high) {
      const int32 middle = low + (high - low) / 2;
      if (static_cast<int64>(keys[middle] >> length_bits) < p)
        low = middle + 1;
      else
        high = middle;
    }
    first_segments[p] = low;
    const int64 row = p * panel_rows;
    first_entries[p] = offsets_of_a[row < rows ? row : rows];
  }
}

}  // namespace

void prepare_row_panels(const pattern& of) {
  if (row_panels::serves(of)) of.derived_of<row_panels>();
}

row_panels::row_panels(const pattern& original) {
  const auto transpose = original.derived_of<transposed>();
  const pattern& by_column = *transpose->structure;
  const place where = original.where();
  const device_scope scope(where.device);
  const auto stream = static_cast<cudaStream_t>(original.stream());
  const index columns = original.columns(), rows = original.rows();
  const auto room = [&](int64 count, std::size_t bytes) {
    return buffer::allocate(static_cast<std::size_t>(count) * bytes, where, stream);
  };
  const auto launched_well = [&] {
    check(cudaGetLastError(), name);
    launched(where.device, name);
  };
  std::size_t bytes = 0;
  buffer scratch;
  const auto with_scratch = [&](auto run) {
    check(run(nullptr), name);
    scratch = buffer::allocate(bytes, where, stream);
    check(run(scratch.data()), name);
  };
  const auto scan = [&](const int32* from, int32* to, int64 count) {
    with_scratch([&](void* space) {
      return cub::DeviceScan::ExclusiveSum(space, bytes, from, to, count, stream);
    });
  };
  const auto* const offsets = static_cast<const int32*>(by_column.offsets());
  const auto* const offsets_of_a = static_cast<const int32*>(original.offsets());
  const index* const rows_of = by_column.column_indices();

  // Segments column by column, which is the order of their sums.
  const int64 counted = static_cast<int64>(columns) + 1;
  const buffer counts = room(counted, sizeof(int32));
  places_ = room(counted, sizeof(int32));
  first_place = places_.data<int32>();
  count_segments<<<blocks_for(32 * counted), block, 0, stream>>>(offsets, rows_of, columns,
                                                                 counts.data<int32>());
  launched_well();
  scan(counts.data<int32>(), places_.data<int32>(), counted);
  check(cudaMemcpyAsync(&segment_count, first_place + columns, sizeof(int32),
                        cudaMemcpyDeviceToHost, stream),
        name);
  check(cudaStreamSynchronize(stream), name);
  const int32 count = segment_count;
  if (count == 0) return;
  const buffer begins = room(int64{count} + 1, sizeof(int32)), of = room(count, sizeof(index));
  list_segments<<<blocks_for(32 * counted), block, 0, stream>>>(
      offsets, rows_of, columns, first_place, begins.data<int32>(), of.data<index>());
  launched_well();
  const auto nnz = static_cast<int32>(original.nnz());
  check(cudaMemcpyAsync(begins.data<int32>() + count, &nnz, sizeof(int32), cudaMemcpyHostToDevice,
                        stream),
        name);

  // Segments by panel and length, and their entries in this order.
  const buffer keys = room(count, sizeof(unsigned)), sorted_keys = room(count, sizeof(unsigned)),
               numbers = room(count, sizeof(int32)), sorted = room(count, sizeof(int32));
  make_keys<<<blocks_for(count), block, 0, stream>>>(begins.data<int32>(), rows_of, count,
                                                     keys.data<unsigned>(), numbers.data<int32>());
  launched_well();
  const index panel_count = (rows - 1) / panel_rows + 1;
  int bits = length_bits;
  while (bits < 32 && (int64{1} << (bits - length_bits)) < panel_count) ++bits;
  with_scratch([&](void* space) {
    return cub::DeviceRadixSort::SortPairs(
        space, bytes, keys.data<const unsigned>(), sorted_keys.data<unsigned>(),
        numbers.data<const int32>(), sorted.data<int32>(), count, 0, bits, stream);
  });
  const buffer lengths = room(count, sizeof(int32)), sorted_begins = room(count, sizeof(int32));
  take_lengths<<<blocks_for(count), block, 0, stream>>>(sorted.data<int32>(), begins.data<int32>(),
                                                        count, lengths.data<int32>());
  launched_well();
  scan(lengths.data<int32>(), sorted_begins.data<int32>(), count);
  segments_ = room(count, sizeof(segment));
  words_ = room(nnz, sizeof(unsigned));
  segments = segments_.data<segment>();
  words = words_.data<unsigned>();
  place_segments<<<blocks_for(count), block, 0, stream>>>(
      sorted.data<int32>(), begins.data<int32>(), of.data<index>(), sorted_begins.data<int32>(),
      count, rows_of, transpose->permutation.data<int32>(), offsets_of_a, segments_.data<segment>(),
      words_.data<unsigned>());
  launched_well();

  // The work of the blocks.
  const int64 bounds = int64{panel_count} + 1;
  const buffer edges = room(2 * bounds, sizeof(int32));
  find_panels<<<blocks_for(bounds), block, 0, stream>>>(
      sorted_keys.data<unsigned>(), count, offsets_of_a, rows, panel_count, edges.data<int32>(),
      edges.data<int32>() + bounds);
  launched_well();
  std::vector<int32> on_host(static_cast<std::size_t>(2 * bounds));
  check(
      cudaMemcpyAsync(on_host.data(), edges.data(), edges.bytes(), cudaMemcpyDeviceToHost, stream),
      name);
  check(cudaStreamSynchronize(stream), name);
  std::vector<panel_unit> made;
  for (index p = 0; p < panel_count; ++p) {
    const auto at = static_cast<std::size_t>(p);
    const int32 first = on_host[at], last = on_host[at + 1];
    const int32 entry = on_host[at + static_cast<std::size_t>(bounds)];
    if (on_host[at + 1 + static_cast<std::size_t>(bounds)] - entry > 1 << panel_place_bits) {
      fits = false;
      segments_ = words_ = {};
      segments = nullptr;
      words = nullptr;
      return;
    }
    const index row = p * panel_rows;
    for (int32 s = first; s < last; s += std::min(unit_segments, last - s))
      made.push_back(
          {row, std::min(panel_rows, rows - row), entry, s, s + std::min(unit_segments, last - s)});
  }
  std::stable_sort(made.begin(), made.end(), [](const panel_unit& x, const panel_unit& y) {
    return (x.last - x.first) / 2048 > (y.last - y.first) / 2048;
  });
  unit_count = static_cast<index>(made.size());
  memory_ = room(unit_count, sizeof(panel_unit));
  units = memory_.data<panel_unit>();
  check(
      cudaMemcpyAsync(memory_.data(), made.data(), memory_.bytes(), cudaMemcpyHostToDevice, stream),
      name);
  // One wait at creation, so that a call on any stream finds the structure complete.
  check(cudaStreamSynchronize(stream), name);
}

std::size_t row_panels::bytes() const {
  return memory_.bytes() + segments_.bytes() + words_.bytes() + places_.bytes();
}

}  // namespace rig::on_cuda
