// The entries of a pattern by panels of its columns. No hot loop: CUB scans.

#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <vector>

#include "cuda/analysis/build.hpp"
#include "cuda/analysis/column_panels.hpp"

namespace rig::on_cuda {
namespace {

constexpr int block = build_threads;

/// A block that goes on to another panel loads it in the time of so many vectors. Computed, not
/// measured; docs/lab/spmv.md.
constexpr int64 vectors_per_load = 2048;

/// begins[panel · rows + row]: the row's first entry in that panel or a later one. Entries from
/// `whole` on, behind the last full vector, are in no segment.
__global__ void find_segments(const int32* offsets, const index* entries, index rows, index width,
                              index panels, int32 whole, int32* begins) {
  const int64 count = (static_cast<int64>(panels) + 1) * rows;
  for (int64 s = static_cast<int64>(blockIdx.x) * block + threadIdx.x; s < count;
       s += static_cast<int64>(gridDim.x) * block) {
    const auto panel = static_cast<index>(s / rows), row = static_cast<index>(s % rows);
    const int64 column = static_cast<int64>(panel) * width;
    int32 low = offsets[row], high = offsets[row + 1];
    if (panel == panels) low = high;
    low = first_where(low, high, [=](int32 e) { return entries[e] >= column; });
    begins[s] = low < whole ? low : whole;
  }
}

/// A segment without entries has one vector without codes, because every segment makes a sum.
__global__ void count_vectors(const int32* begins, index rows, int64 segments, int32* counts) {
  for (int64 s = static_cast<int64>(blockIdx.x) * block + threadIdx.x; s <= segments;
       s += static_cast<int64>(gridDim.x) * block) {
    int32 count = 0;
    if (s < segments) {
      const int32 begin = begins[s], end = begins[s + rows];
      count = end > begin ? (end - 1) / vector_entries - begin / vector_entries + 1 : 1;
    }
    counts[s] = count;
  }
}

/// A warp takes a segment.
__global__ void fill_vectors(const int32* begins, const index* entries, index rows, index width,
                             int32 whole, int64 segments, const int32* first_vectors,
                             vector_codes* codes, unsigned* segment_ends, int32* segment_vectors) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int64 s = (static_cast<int64>(blockIdx.x) * block + threadIdx.x) / 32; s < segments;
       s += static_cast<int64>(gridDim.x) * block / 32) {
    const int64 first_column = s / rows * width - first_code;
    const int32 begin = begins[s], end = begins[s + rows], first = first_vectors[s],
                count = first_vectors[s + 1] - first;
    for (int32 p = lane; p < count; p += 32) {
      unsigned code[vector_entries];
      for (int v = 0; v < vector_entries; ++v) {
        const int64 e = (int64{begin / vector_entries} + p) * vector_entries + v;
        code[v] = e >= begin && e < end ? static_cast<unsigned>(entries[e] - first_column) : 0;
      }
      codes[first + p] = {{code[0] | code[1] << 16, code[2] | code[3] << 16}};
    }
    if (lane == 0) {
      const int32 last = first + count - 1;
      atomicOr(segment_ends + last / 32, 1u << last % 32);
      // A segment without entries reads a vector that exists.
      const int32 vector = begin < whole ? begin / vector_entries : whole / vector_entries - 1;
      segment_vectors[s] = vector - first;
    }
  }
}

/// starts[t] = the first segment that begins at vector targets[t] or later.
__global__ void find_starts(const int32* first_vectors, int64 segments, const int32* targets,
                            int64 count, warp_start* starts) {
  for (int64 t = static_cast<int64>(blockIdx.x) * block + threadIdx.x; t < count;
       t += static_cast<int64>(gridDim.x) * block) {
    const int64 segment = first_where(
        int64{0}, segments,
        [first_vectors, target = targets[t]](int64 s) { return first_vectors[s] >= target; });
    starts[t] = {static_cast<int32>(segment), first_vectors[segment]};
  }
}

/// The work of each block. Warps get shares of vectors, counted from the beginning of each panel,
/// so that blocks read neighbouring values at about the same time. A panel takes whole shares, and
/// some more for a block that comes from the panel before.
struct dealt {
  std::vector<column_unit> units;
  std::vector<index> block_units;  ///< each block's first unit, then the end
  std::vector<int32> targets;      ///< vectors from which warps search for their first segment
};

dealt deal(const std::vector<int32>& panel_vectors, index columns, index width, index blocks) {
  const auto panels = static_cast<index>(panel_vectors.size()) - 1;
  const auto vectors_of = [&](index panel) {
    const auto p = static_cast<std::size_t>(panel);
    return int64{panel_vectors[p + 1]} - panel_vectors[p];
  };
  const auto shares_of = [&](index panel, int64 share) {
    return (vectors_of(panel) + vectors_per_load + share - 1) / share;
  };
  int64 share = 1, enough = int64{panel_vectors.back()} + vectors_per_load;
  while (share < enough) {
    const int64 middle = share + (enough - share) / 2;
    int64 shares = 0;
    for (index p = 0; p < panels; ++p) shares += shares_of(p, middle);
    if (shares > int64{blocks} * column_warps)
      share = middle + 1;
    else
      enough = middle;
  }
  dealt out;
  int64 before = 0;  // shares of the panels before
  for (index p = 0; p < panels; ++p) {
    const int64 shares = shares_of(p, share), vectors = vectors_of(p);
    const int64 column = int64{p} * width;
    for (int64 b = before / column_warps; b * column_warps < before + shares; ++b) {
      const auto vector_at = [&](int64 place) {
        return std::min(std::clamp<int64>(place - before, 0, shares) * share, vectors);
      };
      const int64 first = vector_at(b * column_warps), last = vector_at((b + 1) * column_warps);
      if (first == last) continue;
      while (static_cast<int64>(out.block_units.size()) <= b)
        out.block_units.push_back(static_cast<index>(out.units.size()));
      out.units.push_back({static_cast<index>(column),
                           static_cast<index>(std::clamp<int64>(columns - column, 0, width))});
      for (int w = 0; w <= column_warps; ++w)
        out.targets.push_back(static_cast<int32>(panel_vectors[static_cast<std::size_t>(p)] +
                                                 first + (last - first) * w / column_warps));
    }
    before += shares;
  }
  while (static_cast<index>(out.block_units.size()) <= blocks)
    out.block_units.push_back(static_cast<index>(out.units.size()));
  return out;
}

}  // namespace

/// Segments, panel by panel.
struct column_panels::segment_list {
  index width;  ///< columns per panel; the last may have fewer
  int64 count;
  int32 whole;                       ///< entries in full vectors
  buffer begins;                     ///< the first entry of each segment, then the end of each row
  buffer first_vectors;              ///< the first vector of each segment, then the end
  std::vector<int32> panel_vectors;  ///< the first vector of each panel, then the end
};

column_panels::column_panels(const pattern& original)
    : panel_count(column_panel_count(original.columns())) {
  const device_scope scope(original.where().device);
  if (original.rows() == 0) return;
  const build in(original, name);
  const segment_list segments = list_segments(in, original);
  vector_entries_of(in, original, segments);
  block_count = std::max<index>(attribute_of(in.where.device, cudaDevAttrMultiProcessorCount),
                                (panel_count - 1) / column_warps + 1);
  deal_out(in, original, segments);
}

column_panels::segment_list column_panels::list_segments(const build& in,
                                                         const pattern& original) const {
  const index rows = original.rows();
  const int64 count = int64{panel_count} * rows;
  segment_list out = {column_panel_width(original.columns()),
                      count,
                      static_cast<int32>(original.nnz() / vector_entries * vector_entries),
                      in.room(count + rows, sizeof(int32)),
                      in.room(count + 1, sizeof(int32)),
                      std::vector<int32>(static_cast<std::size_t>(panel_count) + 1)};
  in.start(&find_segments, count + rows, static_cast<const int32*>(original.offsets()),
           original.column_indices(), rows, out.width, panel_count, out.whole,
           out.begins.data<int32>());
  const buffer counts = in.room(count + 1, sizeof(int32));
  in.start(&count_vectors, count + 1, out.begins.data<int32>(), rows, count, counts.data<int32>());
  in.with_scratch([&](void* space, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(space, bytes, counts.data<const int32>(),
                                         out.first_vectors.data<int32>(), count + 1, in.stream);
  });
  for (std::size_t p = 0; p < out.panel_vectors.size(); ++p)
    in.to_host(&out.panel_vectors[p],
               out.first_vectors.data<int32>() + static_cast<int64>(p) * rows, sizeof(int32));
  in.wait();
  return out;
}

void column_panels::vector_entries_of(const build& in, const pattern& original,
                                      const segment_list& of) {
  const int64 vectors = of.panel_vectors.back();
  codes_ = in.room(vectors, sizeof(vector_codes));
  ends_ = in.room((vectors + 31) / 32, sizeof(unsigned));
  vectors_ = in.room(of.count + 1, sizeof(int32));  // lanes behind the last vector read one more
  codes = codes_.data<vector_codes>();
  segment_ends = ends_.data<unsigned>();
  segment_vectors = vectors_.data<int32>();
  check(cudaMemsetAsync(ends_.data(), 0, ends_.bytes(), in.stream), name);
  check(cudaMemsetAsync(vectors_.data(), 0, vectors_.bytes(), in.stream), name);
  in.start(&fill_vectors, 32 * of.count, of.begins.data<int32>(), original.column_indices(),
           original.rows(), of.width, of.whole, of.count, of.first_vectors.data<int32>(),
           codes_.data<vector_codes>(), ends_.data<unsigned>(), vectors_.data<int32>());
}

void column_panels::deal_out(const build& in, const pattern& original, const segment_list& of) {
  const dealt work = deal(of.panel_vectors, original.columns(), of.width, block_count);
  const auto count = static_cast<int64>(work.targets.size());
  const buffer targets = in.room(count, sizeof(int32));
  starts_ = in.room(count, sizeof(warp_start));
  units_ = in.room(static_cast<int64>(work.units.size()), sizeof(column_unit));
  block_units_ = in.room(static_cast<int64>(work.block_units.size()), sizeof(index));
  starts = starts_.data<warp_start>();
  units = units_.data<column_unit>();
  block_units = block_units_.data<index>();
  in.to_device(targets.data(), work.targets.data(), targets.bytes());
  in.to_device(units_.data(), work.units.data(), units_.bytes());
  in.to_device(block_units_.data(), work.block_units.data(), block_units_.bytes());
  in.start(&find_starts, count, of.first_vectors.data<int32>(), of.count, targets.data<int32>(),
           count, starts_.data<warp_start>());
  // One wait at creation, so that a call on any stream finds the structure complete.
  in.wait();
}

std::size_t column_panels::bytes() const {
  return codes_.bytes() + ends_.bytes() + vectors_.bytes() + starts_.bytes() + units_.bytes() +
         block_units_.bytes();
}

}  // namespace rig::on_cuda
