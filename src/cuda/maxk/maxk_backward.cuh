// maxk_backward (sparse × dense under a cbsr): k sums per row, in registers; or by panels.
//
// A warp takes a row, or a segment of a split row. An entry of A gathers k numbers from a row of B.
// It gathers the whole row if that is narrow and k is at least half of it. The order is fixed, so
// results are deterministic. The transpose that training needs is A's derived structure.
// maxk_panels.cuh wins when few columns are retained or when rows share neighbours: it reads less
// and holds more sums.
// Source: MaxK-GNN (Peng et al., ASPLOS 2024), whose kernel is an outer product by atomics, one row
// of B at a time. Cost: O(nnz · k). Scratch: segment_count · k accumulators, at most twice that for
// whole rows. Measured: suite maxk.

#pragma once

#include "cuda/device/retained.cuh"

namespace rig::on_cuda {

/// C(i, p) = ⊕_k A(i,k) ⊗ B(k, column(i,p)) for the stored places of a cbsr. A block of the grid's
/// y takes TileLanes · E places; `args.columns` is k here. Eight loads in flight hide more latency
/// than four (docs/lab/maxk.md).
template <class S, class TB, class Index, int TileLanes, int E>
__global__ void __launch_bounds__(128) maxk_backward(const __grid_constant__ arguments args) {
  using accum = typename S::accum;
  using right = typename S::right;
  constexpr int subwarps = 32 / TileLanes, in_flight = 8 / E;
  row_part part;
  if (!part.take(args)) return;
  const int lane = static_cast<int>(threadIdx.x) % 32, subwarp = lane / TileLanes;
  const index first = static_cast<index>(blockIdx.y) * (TileLanes * E) + lane % TileLanes;
  const auto* const columns =
      static_cast<const Index*>(args.retained_columns) + static_cast<int64>(part.row) * args.k;
  [[maybe_unused]] const char* b[E];
  accum sum[E];
#pragma unroll
  for (int e = 0; e < E; ++e) {
    const index p = first + e * TileLanes;
    b[e] = reinterpret_cast<const char*>(static_cast<const TB*>(args.b) +
                                         (p < args.k ? columns[p] : 0));
    sum[e] = S::zero();
  }
  for (unsigned base = 0; base < part.count; base += 32) {
    entry_window<S> window;
    window.load(args, part, base, lane);
    const unsigned slots = part.count - base < 32 ? part.count - base : 32;
    for (unsigned slot = 0; slot < slots; slot += subwarps * in_flight) {
      index k[in_flight];
      typename S::left a[in_flight];
      [[maybe_unused]] TB values[in_flight][E];
#pragma unroll
      for (int u = 0; u < in_flight; ++u) {
        const unsigned s = slot + static_cast<unsigned>(u * subwarps + subwarp);
        k[u] = __shfl_sync(0xffffffffu, window.k, static_cast<int>(s % 32));
        if constexpr (!is_ignoring_left<S>)
          a[u] = shuffle_from(0xffffffffu, window.a, static_cast<int>(s % 32));
        if constexpr (!is_ignoring_right<S>)
          if (s < slots)
#pragma unroll
            for (int e = 0; e < E; ++e)
              values[u][e] =
                  load_vector<TB, 1>(at_row<TB>(b[e], k[u], args.b_row_bytes)).element[0];
      }
#pragma unroll
      for (int u = 0; u < in_flight; ++u) {
        if (slot + static_cast<unsigned>(u * subwarps + subwarp) >= slots) continue;
#pragma unroll
        for (int e = 0; e < E; ++e) {
          right value = right();
          if constexpr (!is_ignoring_right<S>) value = convert<right>(values[u][e]);
          sum[e] = S::add(sum[e], product<S>(a[u], value, position{part.row, k[u]}));
        }
      }
    }
  }
  if constexpr (subwarps > 1)
#pragma unroll
    for (int distance = TileLanes; distance < 32; distance *= 2)
#pragma unroll
      for (int e = 0; e < E; ++e)
        sum[e] = S::add(sum[e], shuffle_xor(0xffffffffu, sum[e], distance));
  if (part.is_segment) {
    auto* const segment_sums = static_cast<accum*>(args.segment_sums);
    for (int e = 0; e < E; ++e)
      if (subwarp == 0 && first + e * TileLanes < args.k)
        segment_sums[static_cast<int64>(part.number) * args.k + first + e * TileLanes] = sum[e];
    split_row of;
    if (!part.is_last(args, lane, of)) return;
    for (int e = 0; e < E; ++e) {
      if (first + e * TileLanes >= args.k) continue;
      const accum* const at =
          segment_sums + static_cast<int64>(of.first_segment) * args.k + first + e * TileLanes;
      sum[e] = load_written(at);
#pragma unroll 4
      for (int32 q = 1; q < of.count; ++q)
        sum[e] = S::add(sum[e], load_written(at + static_cast<int64>(q) * args.k));
    }
  }
  if (subwarp > 0) return;
  for (int e = 0; e < E; ++e)
    if (first + e * TileLanes < args.k)
      write_any<S>(args, part.row, first + e * TileLanes, sum[e], part.whole);
}

/// `maxk_backward` with sums for all columns, one vector per lane; the retained places are selected
/// at the end. It wins if most sectors of B's rows are read anyway, because the cbsr retains many
/// places. The launch bounds give float sums 48 registers and eight-byte sums 64.
template <class S, class TB, class Index, int V>
__global__ void __launch_bounds__(128, sizeof(typename S::accum) > 4 ? 8 : 10)
    maxk_backward_whole(const __grid_constant__ arguments args) {
  using accum = typename S::accum;
  row_part part;
  if (!part.take(args)) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const index first = lane * V;
  accum sum[1][V];
  gather<S, TB, lane_plan{V, 32, 32, 4, 1}>(
      args, part.row, entry_range<S, true>(args, part.begin, 0, part.count), lane, first, sum);
  if (part.is_segment) {
    auto* const sums = static_cast<accum*>(args.segment_sums) + first;
    const bool is_column = first < args.columns;  // a row is a whole number of vectors
    for (int v = 0; v < V; ++v)
      if (is_column) sums[static_cast<int64>(part.number) * args.columns + v] = sum[0][v];
    split_row of;
    if (!part.is_last(args, lane, of)) return;
    for (int v = 0; v < V; ++v) {
      if (!is_column) continue;
      const accum* const at = sums + static_cast<int64>(of.first_segment) * args.columns + v;
      sum[0][v] = load_written(at);
#pragma unroll 4
      for (int32 q = 1; q < of.count; ++q)
        sum[0][v] = S::add(sum[0][v], load_written(at + static_cast<int64>(q) * args.columns));
    }
  }
  const auto* const columns =
      static_cast<const Index*>(args.retained_columns) + static_cast<int64>(part.row) * args.k;
  for (index base = 0; base < args.k; base += 32) {
    const index p = base + lane;
    const int from = p < args.k ? columns[p] : 0;
    accum picked = S::zero();
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const accum x = shuffle_from(0xffffffffu, sum[0][v], from / V);
      if (from % V == v) picked = x;
    }
    if (p < args.k) write_any<S>(args, part.row, p, picked, part.whole);
  }
}

}  // namespace rig::on_cuda
