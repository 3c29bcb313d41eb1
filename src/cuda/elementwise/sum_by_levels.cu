// Sums along the arcs between neighbouring levels of a search, in one kernel whose blocks wait for
// each other after each level.

#include <cooperative_groups.h>

#include <algorithm>

#include "cuda/elementwise/work.hpp"
#include "cuda/runtime/kernels.hpp"
#include "storage/backend.hpp"

namespace rig::on_cuda {
namespace {

constexpr int sweep_threads = 512;
/// Arcs of a node that one lane reads; a warp reads those of others.
constexpr int64 arcs_of_lane = 32;

struct sweep_arguments {
  const void* offsets;
  const index* ends;  ///< of arcs
  const void* starts;
  const index* nodes;  ///< of levels
  const int32* levels;
  double* sums;
  index depth;
  bool offsets_64, starts_64, backwards;

  /// Every `step`th arc. Other blocks wrote these sums, so L1 may have older ones.
  __device__ double sum(int64 arc, int64 end, int step, int32 from) const {
    double out = 0;
    for (; arc < end; arc += step)
      if (const index j = ends[arc]; levels[j] == from) out += __ldcg(sums + j);
    return out;
  }
};

__global__ void __launch_bounds__(sweep_threads) sweep(sweep_arguments of) {
  const auto grid = cooperative_groups::this_grid();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (index k = 0; k < of.depth; ++k) {
    const index level = of.backwards ? of.depth - 1 - k : k;
    const int32 from = of.backwards ? level + 1 : level - 1;
    const int64 end = offset_at(of.starts, of.starts_64, level + 1);
    // A warp stays together: `at - lane` is the same in all of its lanes.
    for (int64 at =
             offset_at(of.starts, of.starts_64, level) + static_cast<int64>(grid.thread_rank());
         at - lane < end; at += static_cast<int64>(grid.num_threads())) {
      const index i = at < end ? of.nodes[at] : 0;
      const int64 arc = at < end ? offset_at(of.offsets, of.offsets_64, i) : 0,
                  last = at < end ? offset_at(of.offsets, of.offsets_64, i + 1) : 0;
      const bool is_long = last - arc > arcs_of_lane;
      double sum = is_long ? 0 : of.sum(arc, last, 1, from);
      for (unsigned rest = __ballot_sync(~0u, is_long); rest != 0; rest &= rest - 1) {
        const int owner = __ffs(static_cast<int>(rest)) - 1;
        double part =
            of.sum(__shfl_sync(~0u, arc, owner) + lane, __shfl_sync(~0u, last, owner), 32, from);
        for (int apart = 16; apart > 0; apart /= 2) part += __shfl_xor_sync(~0u, part, apart);
        if (lane == owner) sum = part;
      }
      if (at < end) of.sums[i] += sum;
    }
    grid.sync();
  }
}

}  // namespace

void sum_by_levels(const sparse_operand& arcs, const sparse_operand& nodes, index depth,
                   bool backwards, const dense_operand& levels, const dense_operand& sums,
                   const descriptor& desc) {
  if (depth == 0) return;
  const build by(arcs.where, stream_for(arcs.where.device, desc.stream), "sum_by_levels");
  const sweep_arguments of{arcs.offsets,
                           arcs.entries,
                           nodes.offsets,
                           nodes.entries,
                           static_cast<const int32*>(levels.data),
                           static_cast<double*>(sums.data),
                           depth,
                           arcs.offsets_64,
                           nodes.offsets_64,
                           backwards};
  const auto processors =
      static_cast<int64>(attribute_of(by.where.device, cudaDevAttrMultiProcessorCount));
  const auto blocks =
      static_cast<unsigned>(std::clamp<int64>(nodes.nnz / depth / sweep_threads, 1, processors));
  launch_together({by.where.device, by.stream, false},
                  kernel_by_nvcc(reinterpret_cast<const void*>(&sweep), "sweep"), blocks,
                  sweep_threads, &of);
}

}  // namespace rig::on_cuda
