// maxk (forward, sparse × cbsr): one warp per row, with the row's sums in shared memory.
//
// A warp takes a row, or a segment of a split row. Each of its subwarps holds a set of sums
// in shared memory, one tile of columns at a time. An entry of A adds k products at distinct
// columns. Wins when k is small beside f: a float32 entry with f ≤ 256 reads 5·k bytes instead of
// 4·f. Sums of subwarps and segments are added in a fixed order without float atomics, so results
// are deterministic.
// Source: MaxK-GNN (Peng et al., ASPLOS 2024), whose kernel adds by atomics. Cost per tile: O(nnz ·
// k) and rows · f; scratch: segment_count · f accumulators. Measured: suite maxk.

#pragma once

#include "cuda/device/retained.cuh"

namespace rig::on_cuda {

/// The number of accumulators of neighbouring columns that one access moves.
template <class S>
inline constexpr int chunk = is_storage<typename S::accum>
                                 ? static_cast<int>(16 / sizeof(typename S::accum))
                                 : 1;
template <class S>
struct alignas(is_storage<typename S::accum> ? 16 : alignof(typename S::accum)) sum_chunk {
  typename S::accum of[chunk<S>];
};

/// Writes the sums of a chunk of columns to C; `marked` flags the columns that have products.
template <class S, bool HasFlags, bool Plain>
__device__ __forceinline__ void write_chunk(const arguments& args, index row, index column, int64 n,
                                            const sum_chunk<S>& sums,
                                            const bool (&marked)[chunk<S>]) {
  if constexpr (Plain && !HasFlags) {
    const typename S::accum(&sum)[1][chunk<S>] =
        reinterpret_cast<const typename S::accum(&)[1][chunk<S>]>(sums.of);
    write_tile<S, chunk<S>, 32, 1, true>(args, row, column, n, sum);
  } else {
    for (int v = 0; v < chunk<S>; ++v)
      if (column + v < args.columns)
        write_any<S>(args, row, column + v, sums.of[v], !HasFlags || marked[v] ? n : 0);
  }
}

/// Writes C(i, tile): the sums of the row's segments, added in order. It is a separate function
/// because it runs rarely and would cost every row registers.
template <class S, bool HasFlags, bool Plain>
__device__ __noinline__ void add_segments_of_tile(const arguments& args, const split_row& of,
                                                  int64 n, index first, unsigned end, int lane) {
  constexpr unsigned many = chunk<S>;
  const auto* const segment_sums = static_cast<const typename S::accum*>(args.segment_sums);
  [[maybe_unused]] const auto* const segment_marks = reinterpret_cast<const unsigned char*>(
      segment_sums + static_cast<int64>(args.segment_count) * args.columns);
  for (unsigned j = static_cast<unsigned>(lane) * many; j < end; j += 32 * many) {
    sum_chunk<S> sum;
    bool marked[many] = {};
    for (unsigned v = 0; v < many; ++v) {
      if (j + v >= end) continue;
      const int64 at = static_cast<int64>(of.first_segment) * args.columns + first + j + v;
      sum.of[v] = load_written(segment_sums + at);
#pragma unroll 4
      for (int32 q = 1; q < of.count; ++q)
        sum.of[v] = S::add(sum.of[v],
                           load_written(segment_sums + at + static_cast<int64>(q) * args.columns));
      if constexpr (HasFlags)
        for (int32 q = 0; q < of.count && !marked[v]; ++q)
          marked[v] = load_written(segment_marks + at + static_cast<int64>(q) * args.columns) != 0;
    }
    write_chunk<S, HasFlags, Plain>(args, of.row, first + static_cast<index>(j), n, sum, marked);
  }
}

/// Adds the products of one entry to a subwarp's sums `mine`, at the columns that the lane loaded.
template <class S, class TB, class Index, int V, bool HasFlags, bool Whole>
__device__ __forceinline__ void add_entry(const typename S::left& a,
                                          [[maybe_unused]] const vector_of<TB, V>& values,
                                          const retained_columns<Index, V>& at,
                                          const position& place, index first, unsigned width,
                                          typename S::accum* mine,
                                          [[maybe_unused]] unsigned char* marked) {
  using right = typename S::right;
  typename S::accum sum[V];
  bool here[V];
  unsigned j[V];
#pragma unroll
  for (int v = 0; v < V; ++v) {
    j[v] = at.at[v] - (Whole ? 0u : static_cast<unsigned>(first));
    here[v] = Whole || j[v] < width;
    if (here[v]) sum[v] = mine[j[v]];
  }
#pragma unroll
  for (int v = 0; v < V; ++v) {
    if (!here[v]) continue;
    right value = right();
    if constexpr (!is_ignoring_right<S>) value = convert<right>(values.element[v]);
    mine[j[v]] = S::add(sum[v], product<S>(a, value, place));
    if constexpr (HasFlags) marked[j[v]] = 1;
  }
}

/// Adds the products of a row's part to the warp's sums; a subwarp takes an entry, and `mine` and
/// `marked` are its set. Whole: one tile holds all columns.
template <class S, class TB, class Index, int V, int TileLanes, bool HasFlags, bool Whole>
__device__ __forceinline__ void add_part(const arguments& args, const row_part& part, index first,
                                         unsigned width, int lane, int subwarp,
                                         typename S::accum* mine, unsigned char* marked) {
  constexpr unsigned subwarps = 32 / TileLanes, in_flight = V == 4 ? 2 : 4;
  const int from = lane % TileLanes * V;
  const auto* const b = reinterpret_cast<const char*>(static_cast<const TB*>(args.b) + from);
  const auto* const columns =
      reinterpret_cast<const char*>(static_cast<const Index*>(args.retained_columns) + from);
  const unsigned b_bytes = static_cast<unsigned>(args.k) * sizeof(TB),
                 column_bytes = static_cast<unsigned>(args.k) * sizeof(Index);
  for (unsigned base = 0; base < part.count; base += 32) {
    entry_window<S> window;
    window.load(args, part, base, lane);
    const unsigned slots = part.count - base < 32 ? part.count - base : 32;
    for (unsigned slot = 0; slot < slots; slot += subwarps * in_flight)
      for (int p = 0; Whole ? p == 0 : p < args.k; p += V * TileLanes) {
        index k[in_flight];
        typename S::left a[in_flight];
        bool there[in_flight];
        [[maybe_unused]] vector_of<TB, V> values[in_flight];
        retained_columns<Index, V> at[in_flight];
#pragma unroll
        for (unsigned u = 0; u < in_flight; ++u) {
          const unsigned s = slot + u * subwarps + static_cast<unsigned>(subwarp);
          k[u] = __shfl_sync(0xffffffffu, window.k, static_cast<int>(s % 32));
          if constexpr (!is_ignoring_left<S>)
            a[u] = shuffle_from(0xffffffffu, window.a, static_cast<int>(s % 32));
          there[u] = s < slots && p + from < args.k;
          if (!there[u]) continue;
          if constexpr (!is_ignoring_right<S>)
            values[u] = load_vector<TB, V>(at_row<TB>(b, k[u], b_bytes) + p);
          at[u] = *reinterpret_cast<const retained_columns<Index, V>*>(
              at_row<Index>(columns, k[u], column_bytes) + p);
        }
#pragma unroll
        for (unsigned u = 0; u < in_flight; ++u) {
          if (there[u])
            add_entry<S, TB, Index, V, HasFlags, Whole>(
                a[u], values[u], at[u], position{part.row, k[u]}, first, width, mine, marked);
          __syncwarp();  // other lanes of the subwarp may add to the same columns next
        }
      }
  }
}

/// The sums and marks of a chunk of columns from j on, over the subwarps in order.
template <class S, bool HasFlags, unsigned Subwarps>
__device__ __forceinline__ sum_chunk<S> chunk_of_warp(const typename S::accum* sums,
                                                      const unsigned char* marks, unsigned width,
                                                      unsigned j, bool (&marked)[chunk<S>]) {
  sum_chunk<S> sum = *reinterpret_cast<const sum_chunk<S>*>(sums + j);
  for (unsigned t = 1; t < Subwarps; ++t) {
    const auto& other = *reinterpret_cast<const sum_chunk<S>*>(sums + t * width + j);
#pragma unroll
    for (unsigned v = 0; v < chunk<S>; ++v) sum.of[v] = S::add(sum.of[v], other.of[v]);
  }
  if constexpr (HasFlags)
    for (unsigned t = 0; t < Subwarps; ++t)
      for (unsigned v = 0; v < chunk<S>; ++v)
        marked[v] = marked[v] || marks[t * width + j + v] != 0;
  return sum;
}

/// Sets `count` sums of a warp to zero, and removes their marks.
template <class S, bool HasFlags>
__device__ __forceinline__ void clear_sums(typename S::accum* sums, unsigned char* marks,
                                           unsigned count, int lane) {
  sum_chunk<S> zeros;
  for (unsigned v = 0; v < chunk<S>; ++v) zeros.of[v] = S::zero();
  for (unsigned j = static_cast<unsigned>(lane) * chunk<S>; j < count; j += 32 * chunk<S>)
    *reinterpret_cast<sum_chunk<S>*>(sums + j) = zeros;
  if constexpr (HasFlags)
    for (unsigned j = static_cast<unsigned>(lane) * 4; j < count; j += 32 * 4)
      *reinterpret_cast<unsigned*>(marks + j) = 0;
  __syncwarp();
}

/// C(i, tile) = ⊕_k A(i,k) ⊗ B(k, tile), with B a cbsr: a subwarp takes an entry, V numbers per
/// lane. HasFlags: places with sums are marked. Whole: one tile holds all columns, in 48
/// registers, so vector loads of four go two at a time (docs/lab/maxk.md).
template <class S, class TB, class Index, int V, int TileLanes, bool HasFlags, bool Plain,
          bool Whole>
__global__ void __launch_bounds__(128, Whole&& Plain && !HasFlags ? 10 : 1)
    maxk(const __grid_constant__ arguments args) {
  using accum = typename S::accum;
  constexpr unsigned subwarps = 32 / TileLanes, many = chunk<S>;
  extern __shared__ __align__(16) unsigned char shared[];
  const int lane = static_cast<int>(threadIdx.x) % 32, subwarp = lane / TileLanes;
  const index first = static_cast<index>(blockIdx.y) * args.tile;
  const auto width = static_cast<unsigned>(args.tile);
  const unsigned warp_bytes = width * subwarps * (sizeof(accum) + (HasFlags ? 1 : 0));
  auto* const sums = reinterpret_cast<accum*>(shared + threadIdx.x / 32 * warp_bytes);
  [[maybe_unused]] auto* const marks = reinterpret_cast<unsigned char*>(sums + width * subwarps);
  {
    row_part part;
    if (!part.take(args)) return;
    clear_sums<S, HasFlags>(sums, marks, width * subwarps, lane);
    add_part<S, TB, Index, V, TileLanes, HasFlags, Whole>(
        args, part, first, width, lane, subwarp, sums + static_cast<unsigned>(subwarp) * width,
        marks + static_cast<unsigned>(subwarp) * width);
  }

  // Adds the sums of the subwarps in order. The part is recomputed because keeping it would cost
  // registers in the loop.
  row_part part;
  part.take(args);
  const unsigned rest = static_cast<unsigned>(args.columns - first);
  const unsigned end = rest < width ? rest : width;
  auto* const segment_sums = static_cast<accum*>(args.segment_sums);
  [[maybe_unused]] auto* const segment_marks = reinterpret_cast<unsigned char*>(
      segment_sums + static_cast<int64>(args.segment_count) * args.columns);
  const int64 segment_at = static_cast<int64>(part.number) * args.columns + first;
  for (unsigned j = static_cast<unsigned>(lane) * many; j < end; j += 32 * many) {
    bool marked[many] = {};
    const sum_chunk<S> sum = chunk_of_warp<S, HasFlags, subwarps>(sums, marks, width, j, marked);
    if (!part.is_segment) {
      write_chunk<S, HasFlags, Plain>(args, part.row, first + static_cast<index>(j), part.whole,
                                      sum, marked);
      continue;
    }
    for (unsigned v = 0; v < many; ++v)
      if (j + v < end) {
        segment_sums[segment_at + j + v] = sum.of[v];
        if constexpr (HasFlags) segment_marks[segment_at + j + v] = marked[v];
      }
  }
  if (part.is_segment) {
    split_row of;
    if (part.is_last(args, lane, of))
      add_segments_of_tile<S, HasFlags, Plain>(args, of, part.whole, first, end, lane);
  }
}

}  // namespace rig::on_cuda
