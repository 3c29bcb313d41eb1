// Hooks trees of nodes along arcs and compresses them, without a wait. Source: Jaiganesh &
// Burtscher, ECL-CC, HPDC 2018; Sutton, Ben-Nun & Barak, Afforest, IPDPS 2018.

#include "cuda/analysis/build.hpp"
#include "cuda/device/element.cuh"
#include "storage/backend.hpp"

namespace rig::on_cuda {
namespace {

/// Arcs, and a forest: a parent is below its node, except that a root is its own. Threads only
/// replace a parent by a lower node of the same tree, so each one sees an ancestor.
struct forest {
  volatile int32* parents;
  const void* offsets;
  const index* columns;
  int64 arcs;
  index nodes;
  bool offsets_64, skips_greatest;

  __device__ int64 offset(int64 row) const { return offset_at(offsets, offsets_64, row); }
  /// The root of a node's tree; halves the path to it.
  __device__ index root(index node) const {
    index above = parents[node];
    for (index next = parents[above]; next != above; next = parents[above]) {
      parents[node] = next;
      node = above;
      above = next;
    }
    return above;
  }
  /// The root becomes the parent. No other parent is set, because another thread may set that one.
  __device__ void compress(index node) const {
    index above = parents[node];
    for (index next = parents[above]; next != above; next = parents[above]) above = next;
    parents[node] = above;
  }
  /// Hangs the tree of one node below the other's, whose root is less.
  __device__ void hook(index i, index j) const {
    if (parents[i] == parents[j]) return;
    index x = root(i), y = root(j);
    while (x != y) {
      const index high = x > y ? x : y;
      y = x > y ? y : x;
      const index seen = atomicCAS(const_cast<int32*>(parents) + high, high, y);
      if (seen == high) return;
      x = root(seen);
    }
  }
  /// The row of an arc, between two rows.
  __device__ index row_of(int64 arc, index low, index high) const {
    while (low < high) {
      const index middle = high - (high - low) / 2;
      if (offset(middle) <= arc)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }
};

/// The arcs of each row that are hooked before the others: most nodes join one tree by them.
constexpr int64 first_arcs = 2;
/// The arcs that a warp takes at once, whose rows it looks up together.
constexpr int64 arcs_of_warp = 256;

__global__ void __launch_bounds__(build_threads) hook_first_arcs(forest all) {
  for (int64 i = static_cast<int64>(blockIdx.x) * build_threads + threadIdx.x; i < all.nodes;
       i += static_cast<int64>(gridDim.x) * build_threads)
    for (int64 e = all.offset(i); e < min(all.offset(i) + first_arcs, all.offset(i + 1)); ++e)
      all.hook(static_cast<index>(i), all.columns[e]);
}

__global__ void __launch_bounds__(build_threads) hook_arcs(forest all) {
  // An arc from the greatest tree is the reverse of one that another node has, or joins nothing.
  const index greatest = all.skips_greatest ? all.parents[all.columns[all.arcs / 2]] : -1;
  constexpr int64 warps = build_threads / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int64 first = (blockIdx.x * warps + threadIdx.x / 32) * arcs_of_warp; first < all.arcs;
       first += gridDim.x * warps * arcs_of_warp) {
    const int64 end = min(first + arcs_of_warp, all.arcs);
    const index low = all.row_of(first, 0, all.nodes - 1),
                high = all.row_of(end - 1, low, all.nodes - 1);
    for (int64 e = first + lane; e < end; e += 32) {
      const index row = all.row_of(e, low, high);
      if (all.parents[row] != greatest) all.hook(row, all.columns[e]);
    }
  }
}

__global__ void __launch_bounds__(build_threads) compress_trees(forest all) {
  for (int64 i = static_cast<int64>(blockIdx.x) * build_threads + threadIdx.x; i < all.nodes;
       i += static_cast<int64>(gridDim.x) * build_threads)
    all.compress(static_cast<index>(i));
}

}  // namespace

void join(const sparse_operand& arcs, const dense_operand& labels, bool symmetric,
          const descriptor& desc) {
  const build by(arcs.where, stream_for(arcs.where.device, desc.stream), "join");
  const forest all{static_cast<int32*>(labels.data),
                   arcs.offsets,
                   arcs.entries,
                   arcs.nnz,
                   arcs.rows,
                   arcs.offsets_64,
                   symmetric};
  by.start(&hook_first_arcs, all.nodes, all);
  by.start(&compress_trees, all.nodes, all);
  by.start(&hook_arcs, (all.arcs + arcs_of_warp - 1) / arcs_of_warp * 32, all);
  by.start(&compress_trees, all.nodes, all);
}

}  // namespace rig::on_cuda
