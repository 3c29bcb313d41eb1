// crc: a warp per row and tile of columns; entries pass through shared memory.
//
// Coalesced row caching: the lanes of a warp load 32 entries of its row at once and leave them in
// shared memory, from which all lanes read each entry in turn. Coarse-grained warp merging: a lane
// sums `Coarsening` columns, 32 apart, so that one staged entry serves them all. Source: GE-SpMM
// (Huang et al., SC 2020). Reproducible: one owner per output, entries in order. O(nnz · F) work;
// memory: the result. `row` shares loads by the caches instead (docs/lab/exact.md).

#pragma once

#include "cuda/device/gather.cuh"

namespace rig::on_cuda {

/// C(i, tile) = ⊕_k A(i,k) ⊗ B(k, tile), for tiles of 32 · Coarsening columns. Plain: as in `row`.
template <class S, class TB, int Coarsening, bool Plain>
__global__ void __launch_bounds__(row_threads) crc(const __grid_constant__ arguments args) {
  using left = typename S::left;
  using right = typename S::right;
  constexpr int warps = row_threads / 32;
  __shared__ index columns[warps][32];
  __shared__ __align__(16) unsigned char raw[warps * 32 * sizeof(left)];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  left* const values = reinterpret_cast<left*>(raw) + warp * 32;
  const int64 number = static_cast<int64>(blockIdx.x) * warps + warp;
  const unsigned tile = blockIdx.z * gridDim.y + blockIdx.y;
  if (number >= args.rows || static_cast<int64>(tile) * (32 * Coarsening) >= args.columns) return;
  const listed_row of = args.entries_of(static_cast<index>(number));
  const index first = static_cast<index>(tile) * (32 * Coarsening) + lane;
  typename S::accum sum[Coarsening][1];
  index mine[Coarsening];
  const char* b[Coarsening];
  for (int c = 0; c < Coarsening; ++c) {
    sum[c][0] = S::zero();
    // A lane beyond the last column reads the first column and drops it.
    mine[c] = first + c * 32 < args.columns ? first + c * 32 : 0;
    b[c] = reinterpret_cast<const char*>(static_cast<const TB*>(args.b) + mine[c]);
  }
  using b_reader = b_reader<S, TB, 1, Coarsening>;
  [[maybe_unused]] const b_reader reader(args, mine);
  [[maybe_unused]] typename S::accum factors = S::zero();
  for (unsigned staged = 0; staged < of.count; staged += 32) {
    const unsigned there = of.count - staged < 32 ? of.count - staged : 32;
    if (static_cast<unsigned>(lane) < there) {
      const int64 at = of.begin + staged + lane;
      columns[warp][lane] = args.entries[at];
      if constexpr (!is_ignoring_left<S>)
        values[lane] = args.a_values != nullptr ? static_cast<const left*>(args.a_values)[at]
                                                : iso_of<left>(args);
    }
    __syncwarp();
#pragma unroll 4
    for (unsigned e = 0; e < there; ++e) {
      const index k = columns[warp][e];
      left a = left();
      if constexpr (!is_ignoring_left<S>) a = values[e];
      if constexpr (b_reader::folds)
        factors = S::add(factors, product<S>(a, 1.0f, position{of.row, k}));
#pragma unroll
      for (int c = 0; c < Coarsening; ++c) {
        right value = right();
        if constexpr (!is_ignoring_right<S>)
          value = reader.value(load_vector<TB, 1>(at_row<TB>(b[c], k, args.b_row_bytes)), c, 0);
        sum[c][0] = S::add(sum[c][0], product<S>(a, value, position{of.row, k}));
      }
    }
    __syncwarp();
  }
  if constexpr (b_reader::folds)
    for (int c = 0; c < Coarsening; ++c) sum[c][0] = reader.unfold(sum[c][0], factors, c, 0);
  write_tile<S, 1, 32, Coarsening, Plain>(args, of.row, first, of.count, sum);
}

}  // namespace rig::on_cuda
