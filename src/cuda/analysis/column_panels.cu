// The entries of a pattern by panels of its columns. No hot loop: CUB scans.

#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <vector>

#include "cuda/analysis/column_panels.hpp"
#include "cuda/runtime/runtime.hpp"

namespace rig::on_cuda {
namespace {

constexpr int block = 256;

/// A block that goes on to another panel loads it in the time of so many packs. Computed, not
/// measured; docs/lab/spmv.md.
constexpr int64 packs_a_load = 2048;

unsigned blocks_for(int64 count) {
  const int64 wanted = (count + block - 1) / block;
  return static_cast<unsigned>(wanted < 65536 ? (wanted > 0 ? wanted : 1) : 65536);
}

/// begins[panel · rows + row]: the row's first entry in that panel or a later one. Entries from
/// `whole` on, behind the last full pack, are in no segment.
__global__ void find_segments(const int32* offsets, const index* entries, index rows, index width,
                              index panels, int32 whole, int32* begins) {
  const int64 count = (static_cast<int64>(panels) + 1) * rows;
  for (int64 s = static_cast<int64>(blockIdx.x) * block + threadIdx.x; s < count;
       s += static_cast<int64>(gridDim.x) * block) {
    const auto panel = static_cast<index>(s / rows), row = static_cast<index>(s % rows);
    const int64 column = static_cast<int64>(panel) * width;
    int32 low = offsets[row], high = offsets[row + 1];
    if (panel == panels) low = high;
    while (low < high) {
      const int32 middle = low + (high - low) / 2;
      if (entries[middle] < column)
        low = middle + 1;
      else
        high = middle;
    }
    begins[s] = low < whole ? low : whole;
  }
}

/// A segment without entries has one pack without codes, because every segment makes a sum.
__global__ void count_packs(const int32* begins, index rows, int64 segments, int32* counts) {
  for (int64 s = static_cast<int64>(blockIdx.x) * block + threadIdx.x; s <= segments;
       s += static_cast<int64>(gridDim.x) * block) {
    int32 count = 0;
    if (s < segments) {
      const int32 begin = begins[s], end = begins[s + rows];
      count = end > begin ? (end - 1) / pack_entries - begin / pack_entries + 1 : 1;
    }
    counts[s] = count;
  }
}

/// A warp takes a segment.
__global__ void fill_packs(const int32* begins, const index* entries, index rows, index width,
                           int32 whole, int64 segments, const int32* first_packs, pack_codes* codes,
                           unsigned* segment_ends, int32* segment_packs) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int64 s = (static_cast<int64>(blockIdx.x) * block + threadIdx.x) / 32; s < segments;
       s += static_cast<int64>(gridDim.x) * block / 32) {
    const int64 first_column = s / rows * width - first_code;
    const int32 begin = begins[s], end = begins[s + rows], first = first_packs[s],
                count = first_packs[s + 1] - first;
    for (int32 p = lane; p < count; p += 32) {
      unsigned code[pack_entries];
      for (int v = 0; v < pack_entries; ++v) {
        const int64 e = (int64{begin / pack_entries} + p) * pack_entries + v;
        code[v] = e >= begin && e < end ? static_cast<unsigned>(entries[e] - first_column) : 0;
      }
      codes[first + p] = {{code[0] | code[1] << 16, code[2] | code[3] << 16}};
    }
    if (lane == 0) {
      const int32 last = first + count - 1;
      atomicOr(segment_ends + last / 32, 1u << last % 32);
      // A segment without entries reads a pack that exists.
      const int32 pack = begin < whole ? begin / pack_entries : whole / pack_entries - 1;
      segment_packs[s] = pack - first;
    }
  }
}

/// starts[t] = the first segment that begins at pack targets[t] or later.
__global__ void find_starts(const int32* first_packs, int64 segments, const int32* targets,
                            int64 count, warp_start* starts) {
  for (int64 t = static_cast<int64>(blockIdx.x) * block + threadIdx.x; t < count;
       t += static_cast<int64>(gridDim.x) * block) {
    int64 low = 0, high = segments;
    while (low < high) {
      const int64 middle = low + (high - low) / 2;
      if (first_packs[middle] < targets[t])
        low = middle + 1;
      else
        high = middle;
    }
    starts[t] = {static_cast<int32>(low), first_packs[low]};
  }
}

/// The work of each block. Packs are dealt in shares, one per warp, counted from the beginning of
/// each panel. Panels of like contents are thus cut at like rows, and blocks that read neighbouring
/// values read them at about the same time. A panel takes whole shares, and some more for a block
/// that comes from the panel before.
struct dealt {
  std::vector<column_unit> units;
  std::vector<index> block_units;  ///< each block's first unit, then the end
  std::vector<int32> targets;      ///< packs from which warps search for their first segment
};

dealt deal(const std::vector<int32>& panel_packs, index columns, index width, index blocks) {
  const auto panels = static_cast<index>(panel_packs.size()) - 1;
  const auto packs_of = [&](index panel) {
    const auto p = static_cast<std::size_t>(panel);
    return int64{panel_packs[p + 1]} - panel_packs[p];
  };
  const auto shares_of = [&](index panel, int64 share) {
    return (packs_of(panel) + packs_a_load + share - 1) / share;
  };
  int64 share = 1, enough = int64{panel_packs.back()} + packs_a_load;
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
    const int64 shares = shares_of(p, share), packs = packs_of(p);
    const int64 column = int64{p} * width;
    for (int64 b = before / column_warps; b * column_warps < before + shares; ++b) {
      const auto pack_at = [&](int64 place) {
        return std::min(std::clamp<int64>(place - before, 0, shares) * share, packs);
      };
      const int64 first = pack_at(b * column_warps), last = pack_at((b + 1) * column_warps);
      if (first == last) continue;
      while (static_cast<int64>(out.block_units.size()) <= b)
        out.block_units.push_back(static_cast<index>(out.units.size()));
      out.units.push_back({static_cast<index>(column),
                           static_cast<index>(std::clamp<int64>(columns - column, 0, width))});
      for (int w = 0; w <= column_warps; ++w)
        out.targets.push_back(static_cast<int32>(panel_packs[static_cast<std::size_t>(p)] + first +
                                                 (last - first) * w / column_warps));
    }
    before += shares;
  }
  while (static_cast<index>(out.block_units.size()) <= blocks)
    out.block_units.push_back(static_cast<index>(out.units.size()));
  return out;
}

}  // namespace

void prepare_column_panels(const pattern& of) {
  if (column_panels::serves(of.offsets_64(), of.rows(), of.columns(), of.nnz()))
    of.derived_of<column_panels>();
}

column_panels::column_panels(const pattern& original)
    : panel_count(column_panel_count(original.columns())) {
  const index width = column_panel_width(original.columns());  // the last panel may have fewer
  const place where = original.where();
  const device_scope scope(where.device);
  const auto stream = static_cast<cudaStream_t>(original.stream());
  const index rows = original.rows();
  if (rows == 0) return;
  const int64 segments = int64{panel_count} * rows;
  const auto whole = static_cast<int32>(original.nnz() / pack_entries * pack_entries);
  const auto room = [&](int64 count, std::size_t bytes) {
    return buffer::allocate(static_cast<std::size_t>(count) * bytes, where, stream);
  };
  const auto launched_well = [&] {
    check(cudaGetLastError(), name);
    launched(where.device, name);
  };
  const auto to_host = [&](void* to, const void* from, std::size_t bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), name);
  };
  const auto to_device = [&](const buffer& to, const void* from) {
    check(cudaMemcpyAsync(to.data(), from, to.bytes(), cudaMemcpyHostToDevice, stream), name);
  };

  // Segments, panel by panel, and their packs.
  const buffer begins = room(segments + rows, sizeof(int32)),
               counts = room(segments + 1, sizeof(int32)),
               first_packs = room(segments + 1, sizeof(int32));
  find_segments<<<blocks_for(segments + rows), block, 0, stream>>>(
      static_cast<const int32*>(original.offsets()), original.column_indices(), rows, width,
      panel_count, whole, begins.data<int32>());
  launched_well();
  count_packs<<<blocks_for(segments + 1), block, 0, stream>>>(begins.data<int32>(), rows, segments,
                                                              counts.data<int32>());
  launched_well();
  std::size_t bytes = 0;
  const auto scan = [&](void* space) {
    check(cub::DeviceScan::ExclusiveSum(space, bytes, counts.data<const int32>(),
                                        first_packs.data<int32>(), segments + 1, stream),
          name);
  };
  scan(nullptr);
  const buffer scratch = buffer::allocate(bytes, where, stream);
  scan(scratch.data());
  std::vector<int32> panel_packs(static_cast<std::size_t>(panel_count) + 1);
  for (std::size_t p = 0; p < panel_packs.size(); ++p)
    to_host(&panel_packs[p], first_packs.data<int32>() + static_cast<int64>(p) * rows,
            sizeof(int32));
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, where.device), name);
  check(cudaStreamSynchronize(stream), name);
  const int64 packs = panel_packs.back();

  codes_ = room(packs, sizeof(pack_codes));
  ends_ = room((packs + 31) / 32, sizeof(unsigned));
  packs_ = room(segments + 1, sizeof(int32));  // lanes behind the last pack read one more
  codes = codes_.data<pack_codes>();
  segment_ends = ends_.data<unsigned>();
  segment_packs = packs_.data<int32>();
  check(cudaMemsetAsync(ends_.data(), 0, ends_.bytes(), stream), name);
  check(cudaMemsetAsync(packs_.data(), 0, packs_.bytes(), stream), name);
  fill_packs<<<blocks_for(32 * segments), block, 0, stream>>>(
      begins.data<int32>(), original.column_indices(), rows, width, whole, segments,
      first_packs.data<int32>(), codes_.data<pack_codes>(), ends_.data<unsigned>(),
      packs_.data<int32>());
  launched_well();

  // The work of the blocks.
  block_count = std::max<index>(processors, (panel_count - 1) / column_warps + 1);
  const dealt work = deal(panel_packs, original.columns(), width, block_count);
  const auto count = static_cast<int64>(work.targets.size());
  const buffer targets = room(count, sizeof(int32));
  starts_ = room(count, sizeof(warp_start));
  units_ = room(static_cast<int64>(work.units.size()), sizeof(column_unit));
  block_units_ = room(static_cast<int64>(work.block_units.size()), sizeof(index));
  starts = starts_.data<warp_start>();
  units = units_.data<column_unit>();
  block_units = block_units_.data<index>();
  to_device(targets, work.targets.data());
  to_device(units_, work.units.data());
  to_device(block_units_, work.block_units.data());
  find_starts<<<blocks_for(count), block, 0, stream>>>(first_packs.data<int32>(), segments,
                                                       targets.data<int32>(), count,
                                                       starts_.data<warp_start>());
  launched_well();
  // One wait at creation, so that a call on any stream finds the structure complete.
  check(cudaStreamSynchronize(stream), name);
}

std::size_t column_panels::bytes() const {
  return codes_.bytes() + ends_.bytes() + packs_.bytes() + starts_.bytes() + units_.bytes() +
         block_units_.bytes();
}

}  // namespace rig::on_cuda
