// The entries of a pattern by panels of its rows. No hot loop: CUB sorts and scans.

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <optional>
#include <vector>

#include "cuda/analysis/build.hpp"
#include "cuda/analysis/row_panels.hpp"

namespace rig::on_cuda {
namespace {

constexpr int block = build_threads;
/// Bits of the length by which segments of a panel are sorted; longer segments count as the
/// longest.
constexpr int length_bits = 6;
/// Segments per block, so that several blocks share a panel of hubs; docs/lab/maxk.md.
constexpr int32 unit_segments = 4096;

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
                               panel_segment* segments, unsigned* words) {
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
    first_segments[p] = first_where(
        0, count, [=](int32 s) { return static_cast<int64>(keys[s] >> length_bits) >= p; });
    const int64 row = p * panel_rows;
    first_entries[p] = offsets_of_a[row < rows ? row : rows];
  }
}

/// A's entries by columns: the transpose.
struct by_column {
  explicit by_column(const pattern& a)
      : transpose(a.derived_of<transposed>()),
        offsets(static_cast<const int32*>(transpose->structure->offsets())),
        rows(transpose->structure->column_indices()) {}
  std::shared_ptr<const transposed> transpose;
  const int32* offsets;
  const index* rows;
};

void scan(const build& in, const buffer& from, const buffer& to, int64 count) {
  in.with_scratch([&](void* space, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(space, bytes, from.data<const int32>(), to.data<int32>(),
                                         count, in.stream);
  });
}

/// The first place of each column's segments, then the number of all segments.
buffer number_segments(const build& in, const by_column& entries, index columns) {
  const int64 counted = static_cast<int64>(columns) + 1;
  const buffer counts = in.room(counted, sizeof(int32));
  buffer places = in.room(counted, sizeof(int32));
  in.start(&count_segments, 32 * counted, entries.offsets, entries.rows, columns,
           counts.data<int32>());
  scan(in, counts, places, counted);
  return places;
}

/// Segments column by column, which is the order of their sums.
struct listed_segments {
  buffer begins, columns;  ///< the first entry of each segment, then the end; and its column
};
listed_segments list_all(const build& in, const by_column& entries, const pattern& a,
                         const buffer& first_place, int32 count) {
  listed_segments out = {in.room(int64{count} + 1, sizeof(int32)), in.room(count, sizeof(index))};
  in.start(&list_segments, 32 * (static_cast<int64>(a.columns()) + 1), entries.offsets,
           entries.rows, a.columns(), first_place.data<int32>(), out.begins.data<int32>(),
           out.columns.data<index>());
  check(cudaMemcpyAsync(out.begins.data<int32>() + count, entries.offsets + a.columns(),
                        sizeof(int32), cudaMemcpyDeviceToDevice, in.stream),
        in.name);
  return out;
}

index panel_count_of(const pattern& a) { return (a.rows() - 1) / panel_rows + 1; }

/// Segments by panel, and the longest first within a panel.
struct sorted_segments {
  buffer keys, numbers;
  buffer begins;  ///< each segment's first entry in this order
};
sorted_segments sort_by_panel(const build& in, const by_column& entries, const pattern& a,
                              const listed_segments& of, int32 count) {
  const buffer keys = in.room(count, sizeof(unsigned)), numbers = in.room(count, sizeof(int32));
  in.start(&make_keys, count, of.begins.data<int32>(), entries.rows, count, keys.data<unsigned>(),
           numbers.data<int32>());
  int bits = length_bits;
  while (bits < 32 && (int64{1} << (bits - length_bits)) < panel_count_of(a)) ++bits;
  sorted_segments out = {in.room(count, sizeof(unsigned)), in.room(count, sizeof(int32)),
                         in.room(count, sizeof(int32))};
  in.with_scratch([&](void* space, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(space, bytes, keys.data<const unsigned>(),
                                           out.keys.data<unsigned>(), numbers.data<const int32>(),
                                           out.numbers.data<int32>(), count, 0, bits, in.stream);
  });
  const buffer lengths = in.room(count, sizeof(int32));
  in.start(&take_lengths, count, out.numbers.data<int32>(), of.begins.data<int32>(), count,
           lengths.data<int32>());
  scan(in, lengths, out.begins, count);
  return out;
}

/// The first segment of each panel, then the end; and the first entry of each, then the end.
struct panel_edges {
  std::vector<int32> segments, entries;
};
panel_edges edges_of(const build& in, const pattern& a, const sorted_segments& sorted,
                     int32 count) {
  const index panel_count = panel_count_of(a);
  const int64 bounds = int64{panel_count} + 1;
  const buffer edges = in.room(2 * bounds, sizeof(int32));
  int32* const entries = edges.data<int32>() + bounds;
  in.start(&find_panels, bounds, sorted.keys.data<unsigned>(), count,
           static_cast<const int32*>(a.offsets()), a.rows(), panel_count, edges.data<int32>(),
           entries);
  const auto size = static_cast<std::size_t>(bounds);
  panel_edges out = {std::vector<int32>(size), std::vector<int32>(size)};
  in.to_host(out.segments.data(), edges.data(), size * sizeof(int32));
  in.to_host(out.entries.data(), entries, size * sizeof(int32));
  in.wait();
  return out;
}

/// The work of the blocks, the longest first; none if a panel has more entries than a word can
/// number.
std::optional<std::vector<panel_unit>> units_of(const panel_edges& edges, index rows) {
  std::vector<panel_unit> out;
  for (std::size_t p = 0; p + 1 < edges.segments.size(); ++p) {
    const int32 last = edges.segments[p + 1], entry = edges.entries[p];
    if (edges.entries[p + 1] - entry > 1 << panel_place_bits) return std::nullopt;
    const index row = static_cast<index>(p) * panel_rows;
    for (int32 s = edges.segments[p]; s < last; s += std::min(unit_segments, last - s))
      out.push_back(
          {row, std::min(panel_rows, rows - row), entry, s, s + std::min(unit_segments, last - s)});
  }
  std::stable_sort(out.begin(), out.end(), [](const panel_unit& x, const panel_unit& y) {
    return (x.last - x.first) / 2048 > (y.last - y.first) / 2048;
  });
  return out;
}

}  // namespace

row_panels::row_panels(const pattern& original) {
  const by_column entries(original);
  const device_scope scope(original.where().device);
  const build in(original, name);
  places_ = number_segments(in, entries, original.columns());
  first_place = places_.data<int32>();
  in.to_host(&segment_count, first_place + original.columns(), sizeof(int32));
  in.wait();
  const int32 count = segment_count;
  if (count == 0) return;

  const listed_segments listed = list_all(in, entries, original, places_, count);
  const sorted_segments sorted = sort_by_panel(in, entries, original, listed, count);
  segments_ = in.room(count, sizeof(panel_segment));
  words_ = in.room(original.nnz(), sizeof(unsigned));
  in.start(&place_segments, count, sorted.numbers.data<int32>(), listed.begins.data<int32>(),
           listed.columns.data<index>(), sorted.begins.data<int32>(), count, entries.rows,
           entries.transpose->permutation.data<int32>(),
           static_cast<const int32*>(original.offsets()), segments_.data<panel_segment>(),
           words_.data<unsigned>());

  const auto made = units_of(edges_of(in, original, sorted, count), original.rows());
  if (!made) {
    fits = false;
    segments_ = words_ = {};
    return;
  }
  unit_count = static_cast<index>(made->size());
  memory_ = in.room(unit_count, sizeof(panel_unit));
  in.to_device(memory_.data(), made->data(), memory_.bytes());
  units = memory_.data<panel_unit>();
  segments = segments_.data<panel_segment>();
  words = words_.data<unsigned>();
  // One wait at creation, so that a call on any stream finds the structure complete.
  in.wait();
}

std::size_t row_panels::bytes() const {
  return memory_.bytes() + segments_.bytes() + words_.bytes() + places_.bytes();
}

}  // namespace rig::on_cuda
