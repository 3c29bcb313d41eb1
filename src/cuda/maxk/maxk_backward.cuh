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

/// A lane's sums of a part of a row: E stored places of the cbsr, of which one is `first`. A
/// subwarp takes an entry. Eight loads in flight hide more latency than four (docs/lab/maxk.md).
template <class S, class TB, class Index, int TileLanes, int E>
struct retained_sums {
  using accum = typename S::accum;
  using right = typename S::right;
  static constexpr unsigned subwarps = 32 / TileLanes, in_flight = 8 / E;

  const arguments& args;
  const row_part& part;
  const unsigned subwarp;
  const index first;
  const char* b[E];
  accum sum[E];

  __device__ __forceinline__ retained_sums(const arguments& args, const row_part& part, int lane)
      : args(args),
        part(part),
        subwarp(static_cast<unsigned>(lane / TileLanes)),
        first(static_cast<index>(blockIdx.y) * (TileLanes * E) + lane % TileLanes) {
    const auto* const columns =
        static_cast<const Index*>(args.retained_columns) + static_cast<int64>(part.row) * args.k;
#pragma unroll
    for (int e = 0; e < E; ++e) {
      b[e] = reinterpret_cast<const char*>(static_cast<const TB*>(args.b) +
                                           (place(e) < args.k ? columns[place(e)] : 0));
      sum[e] = S::zero();
    }
  }
  __device__ __forceinline__ index place(int e) const { return first + e * TileLanes; }

  /// Adds the products of the first `slots` entries of the window.
  __device__ __forceinline__ void add(const entry_window<S>& window, unsigned slots) {
    for (unsigned slot = 0; slot < slots; slot += subwarps * in_flight) {
      index k[in_flight];
      typename S::left a[in_flight];
      [[maybe_unused]] TB values[in_flight][E];
#pragma unroll
      for (unsigned u = 0; u < in_flight; ++u) {
        const unsigned s = slot + u * subwarps + subwarp;
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
      for (unsigned u = 0; u < in_flight; ++u) {
        if (slot + u * subwarps + subwarp >= slots) continue;
#pragma unroll
        for (int e = 0; e < E; ++e) {
          right value = right();
          if constexpr (!is_ignoring_right<S>) value = convert<right>(values[u][e]);
          sum[e] = S::add(sum[e], product<S>(a[u], value, position{part.row, k[u]}));
        }
      }
    }
  }

  __device__ __forceinline__ void add_subwarps() {
    if constexpr (subwarps > 1)
#pragma unroll
      for (int distance = TileLanes; distance < 32; distance *= 2)
#pragma unroll
        for (int e = 0; e < E; ++e)
          sum[e] = S::add(sum[e], shuffle_xor(0xffffffffu, sum[e], distance));
  }

  /// Leaves the sums of a segment. Returns true to the row's last warp, which then has the sums of
  /// all segments, added in order.
  __device__ __forceinline__ bool add_segments(int lane) {
    auto* const sums = static_cast<accum*>(args.segment_sums);
#pragma unroll
    for (int e = 0; e < E; ++e)
      if (subwarp == 0 && place(e) < args.k)
        sums[static_cast<int64>(part.number) * args.k + place(e)] = sum[e];
    split_row of;
    if (!part.is_last(args, lane, of)) return false;
#pragma unroll
    for (int e = 0; e < E; ++e) {
      if (place(e) >= args.k) continue;
      const accum* const at = sums + static_cast<int64>(of.first_segment) * args.k + place(e);
      sum[e] = load_written(at);
#pragma unroll 4
      for (int32 q = 1; q < of.count; ++q)
        sum[e] = S::add(sum[e], load_written(at + static_cast<int64>(q) * args.k));
    }
    return true;
  }

  __device__ __forceinline__ void write() const {
    if (subwarp > 0) return;
#pragma unroll
    for (int e = 0; e < E; ++e)
      if (place(e) < args.k) write_any<S>(args, part.row, place(e), sum[e], part.whole);
  }
};

/// C(i, p) = ⊕_k A(i,k) ⊗ B(k, column(i,p)) for the stored places of a cbsr. A block of the grid's
/// y takes TileLanes · E places; `args.columns` is k here.
template <class S, class TB, class Index, int TileLanes, int E>
__global__ void __launch_bounds__(128) maxk_backward(const __grid_constant__ arguments args) {
  row_part part;
  if (!part.take(args)) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  retained_sums<S, TB, Index, TileLanes, E> mine(args, part, lane);
  for (unsigned base = 0; base < part.count; base += 32) {
    entry_window<S> window;
    window.load(args, part, base, lane);
    mine.add(window, part.count - base < 32 ? part.count - base : 32);
  }
  mine.add_subwarps();
  if (part.is_segment && !mine.add_segments(lane)) return;
  mine.write();
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
