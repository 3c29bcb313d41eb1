// maxk_backward by panels: a block holds some rows of B in shared memory. It makes one sum of a
// segment: all entries that a row of C has among these rows.
//
// Wins when few columns of B are retained, because gathering them would read more than the sums
// take; or when rows share neighbours, because there are few sums.
// A second kernel adds the sums of a row in a fixed order, so results are deterministic. Atomics
// add them if the semiring is linear in floats and `reproducible` is false.
// Source: MaxK-GNN (Peng et al., ASPLOS 2024): one row of B at a time, by atomics. Cost: O(nnz ·
// k); scratch: k accumulators per segment of `row_panels`. Measured: suite maxk.

#pragma once

#include "cuda/device/retained.cuh"

namespace rig::on_cuda {

/// E column indices packed into as few registers as they need; `at` unpacks one.
template <class Index, int E>
struct packed_columns {
  static constexpr int bytes = sizeof(Index) * E, a_word = 4 / sizeof(Index);
  unsigned word[(bytes + 3) / 4];

  __device__ __forceinline__ void load(const Index* from) {
    if constexpr (bytes == 8) {
      const uint2 words = *reinterpret_cast<const uint2*>(from);
      word[0] = words.x;
      word[1] = words.y;
    } else if constexpr (bytes == 4) {
      word[0] = *reinterpret_cast<const unsigned*>(from);
    } else if constexpr (bytes == 2) {
      word[0] = *reinterpret_cast<const unsigned short*>(from);
    } else {
      word[0] = *from;
    }
  }
  __device__ __forceinline__ unsigned at(int e) const {
    constexpr int bits = 8 * sizeof(Index);
    return word[e / a_word] >> bits * (e % a_word) & ((1u << bits) - 1);
  }
};

/// Waits until a load has arrived, by making its register an operand.
__device__ __forceinline__ void await(unsigned& loaded) { asm volatile("" : "+r"(loaded)); }
__device__ __forceinline__ void await(panel_segment& loaded) {
  asm volatile("" : "+r"(loaded.row), "+r"(loaded.place), "+r"(loaded.begin), "+r"(loaded.count));
}

/// Adds E neighbouring floats to memory by atomics, in any order.
template <int E>
__device__ __forceinline__ void add_floats(float* to, const float (&sum)[E]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (E == 4) {
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(to), "f"(sum[0]), "f"(sum[1]), "f"(sum[2]), "f"(sum[3])
                 : "memory");
    return;
  }
#endif
  for (int e = 0; e < E; ++e)
    asm volatile("red.global.add.f32 [%0], %1;" : : "l"(to + e), "f"(sum[e]) : "memory");
}

/// Two blocks per multiprocessor, as 64 registers allow. Four blocks of 256 threads are slower
/// because their panels leave L1 a fifth (docs/lab/maxk.md).
constexpr int panel_threads = 512;
/// Threads of `maxk_combine`; other sizes are not measured.
constexpr int combine_threads = 128;

/// Copies the rows of B that a panel needs to shared memory. Packed: in pieces of 16 bytes, which
/// arrive while the block goes on, until `await_copies`.
template <class TB, bool Packed>
__device__ __forceinline__ void copy_panel(const arguments& args, const panel_unit& unit,
                                           TB* panel) {
  constexpr int V = Packed ? 16 / sizeof(TB) : 1;
  const auto* const b = static_cast<const char*>(args.b);
  const int thread = static_cast<int>(threadIdx.x);
  const auto copy = [&](index r, index j) {
    const TB* const from = at_row<TB>(b, unit.row + r, args.b_row_bytes) + j;
    TB* const to = panel + r * args.columns + j;
    if constexpr (Packed)
      copy_ahead(to, from);
    else
      *to = *from;
  };
  if constexpr (Packed) {
    for (index j = thread % 32 * V; j < args.columns; j += 32 * V)
      for (index r = thread / 32; r < unit.rows; r += panel_threads / 32) copy(r, j);
  } else {
    for (index r = thread / 32; r < unit.rows; r += panel_threads / 32)
      for (index j = thread % 32; j < args.columns; j += 32) copy(r, j);
  }
}

/// The parts of a segment that a lane has loaded: the word and value of one of its first entries,
/// and this lane's columns of C.
template <class S, class Index, int E>
struct coming_segment {
  panel_segment of = {};
  unsigned word = 0;
  packed_columns<Index, E> columns = {};
  typename S::left a = typename S::left();
};

/// The segments of a panel that one group of lanes takes, `groups` apart. Loads run `ahead`
/// segments early to hide their latency (docs/lab/maxk.md).
template <class S, class Index, int TileLanes, int E>
struct coming_segments {
  using segment = coming_segment<S, Index, E>;
  static constexpr int groups = panel_threads / TileLanes, ahead = E > 4 ? 2 : 3;

  const arguments& args;
  const panel_unit& unit;
  const Index* const retained;  ///< this lane's columns of row 0 of the cbsr
  const int lane;
  segment at[ahead + 1];

  __device__ __forceinline__ typename S::left value(unsigned word) const {
    const int64 p = unit.entry + (word & ((1u << panel_place_bits) - 1));
    return args.a_values != nullptr ? static_cast<const typename S::left*>(args.a_values)[p]
                                    : iso_of<typename S::left>(args);
  }
  __device__ __forceinline__ panel_segment find(int32 s) const {
    panel_segment out = {};
    if (s < unit.last) {
      const uint4 words = __ldcs(reinterpret_cast<const uint4*>(args.panel_segments + s));
      memcpy(&out, &words, sizeof(out));
    }
    return out;
  }
  __device__ __forceinline__ void fetch(segment& one) const {
    if (lane < one.of.count) one.word = load_ahead(args.words + one.of.begin + lane);
    if (one.of.count > 0) one.columns.load(retained + static_cast<int64>(one.of.row) * args.k);
  }
  __device__ __forceinline__ void fetch_value(segment& one) const {
    if constexpr (!is_ignoring_left<S>)
      if (lane < one.of.count) one.a = value(one.word);
  }

  /// Starts the loads of segment s and of those that follow it.
  __device__ __forceinline__ void start(int32 s) {
#pragma unroll
    for (int q = 0; q <= ahead; ++q) at[q].of = find(s + q * groups);
#pragma unroll
    for (int q = 0; q < ahead; ++q) fetch(at[q]);
#pragma unroll
    for (int q = 0; q < ahead - 1; ++q) fetch_value(at[q]);
  }
  /// Starts the next loads of each segment after s, and returns the segment that comes last.
  /// Waiting for all loads of the last iteration together lets the loads of this iteration issue
  /// together, which is faster (docs/lab/maxk.md).
  __device__ __forceinline__ segment load_next(int32 s) {
    await(at[ahead].of);
    await(at[ahead - 1].word);
    for (unsigned& some : at[ahead - 1].columns.word) await(some);
    segment next;
    next.of = find(s + (ahead + 1) * groups);
    fetch(at[ahead]);
    fetch_value(at[ahead - 1]);
    return next;
  }
  __device__ __forceinline__ void step(const segment& next) {
#pragma unroll
    for (int q = 0; q < ahead; ++q) at[q] = at[q + 1];
    at[ahead] = next;
  }
};

/// sum[e] = ⊕ over the entries of the first segment, with B in `panel`.
template <class S, class TB, class Index, int TileLanes, int E>
__device__ __forceinline__ void sum_segment(const coming_segments<S, Index, TileLanes, E>& coming,
                                            const TB* panel, typename S::accum (&sum)[E]) {
  using left = typename S::left;
  using right = typename S::right;
  const auto& first = coming.at[0];
  const panel_segment of = first.of;
  const unsigned members = group_members<TileLanes>();
#pragma unroll
  for (int e = 0; e < E; ++e) sum[e] = S::zero();
  unsigned word = first.word;
  left a = first.a;
  for (int32 base = 0;; base += TileLanes) {
    const int32 count = of.count - base < TileLanes ? of.count - base : TileLanes;
#pragma unroll 1
    for (int32 slot = 0; slot < count; ++slot) {
      const auto row =
          static_cast<index>(__shfl_sync(members, word, slot, TileLanes) >> panel_place_bits);
      left x = left();
      if constexpr (!is_ignoring_left<S>)
        x = shuffle(a, [&](unsigned part) { return __shfl_sync(members, part, slot, TileLanes); });
      const TB* const from = panel + row * coming.args.columns;
#pragma unroll
      for (int e = 0; e < E; ++e) {
        right y = right();
        if constexpr (!is_ignoring_right<S>) y = convert<right>(from[first.columns.at(e)]);
        sum[e] = S::add(sum[e], product<S>(x, y, position{of.row, coming.unit.row + row}));
      }
    }
    if (base + TileLanes >= of.count) return;
    if (const int32 e = base + TileLanes + coming.lane; e < of.count) {
      word = coming.args.words[of.begin + e];
      if constexpr (!is_ignoring_left<S>) a = coming.value(word);
    }
  }
}

/// segment_sums(s, p) = ⊕ over the rows i of segment s of A(i,j) ⊗ B(i, column(j,p)), A as stored;
/// TileLanes lanes per segment, E places p per lane. With Adds, atomics add the sums to a `c` of 0.
template <class S, class TB, class Index, int TileLanes, int E, bool Packed, bool Adds>
__global__ void __launch_bounds__(panel_threads, 2)
    maxk_backward_panels(const __grid_constant__ arguments args) {
  using accum = typename S::accum;
  using segments = coming_segments<S, Index, TileLanes, E>;
  extern __shared__ __align__(16) unsigned char shared[];
  auto* const panel = reinterpret_cast<TB*>(shared);
  const panel_unit unit = args.units[blockIdx.x];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % TileLanes;
  if constexpr (Packed && !is_ignoring_right<S>) copy_panel<TB, true>(args, unit, panel);
  const index first = static_cast<index>(blockIdx.y) * (TileLanes * E) + lane * E;
  const bool has_columns = first < args.k;
  const auto* const retained =
      static_cast<const Index*>(args.retained_columns) + (has_columns ? first : 0);
  int32 s = unit.first + thread / TileLanes;
  segments coming = {args, unit, retained, lane, {}};
  coming.start(s);
  if constexpr (!is_ignoring_right<S>) {
    if constexpr (Packed)
      await_copies();
    else
      copy_panel<TB, false>(args, unit, panel);
    __syncthreads();
  }
  for (; s < unit.last; s += segments::groups) {
    const auto next = coming.load_next(s);
    const panel_segment of = coming.at[0].of;
    accum sum[E];
    sum_segment(coming, panel, sum);
    if (has_columns) {
      if constexpr (Adds) {
        add_floats<E>(static_cast<float*>(args.c) + static_cast<int64>(of.row) * args.k + first,
                      sum);
      } else {
        vector_of<accum, E> out;
        for (int e = 0; e < E; ++e) out.element[e] = sum[e];
        store_vector<accum, E>(
            static_cast<accum*>(args.segment_sums) + static_cast<int64>(of.place) * args.k + first,
            out);
      }
    }
    coming.step(next);
  }
}

/// C(i, p) = ⊕ of the row's sums in `segment_sums`, in a fixed order; without `first_place` each
/// row has one. TileLanes lanes take V places each of a row of sums, and RowLanes lanes a row of C;
/// the first blocks take one row each that `split` would split.
template <class S, int V, int TileLanes, int RowLanes>
__global__ void __launch_bounds__(combine_threads)
    maxk_combine(const __grid_constant__ arguments args) {
  using accum = typename S::accum;
  constexpr int groups = combine_threads / RowLanes, warps = combine_threads / 32, in_flight = 4;
  __shared__ __align__(16) unsigned char raw[warps * TileLanes * V * sizeof(accum)];
  auto* const met = reinterpret_cast<accum(*)[TileLanes][V]>(raw);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const bool is_split = blockIdx.x < static_cast<unsigned>(args.split_count);
  const int64 number =
      (static_cast<int64>(blockIdx.x) - args.split_count) * groups + thread / RowLanes;
  if (!is_split && number >= args.rows) return;
  const listed_row of = is_split                ? args.entries_of(args.split_rows[blockIdx.x].row)
                        : args.order != nullptr ? args.order[number]
                                                : args.entries_of(static_cast<index>(number));
  const index row = of.row;
  const int64 entries = of.count;
  if (!is_split && args.split_length > 0 && entries > args.split_length) return;
  const int lane = is_split ? thread : thread % RowLanes,
            subwarps = (is_split ? combine_threads : RowLanes) / TileLanes;
  const index first = static_cast<index>(blockIdx.y) * (TileLanes * V) + lane % TileLanes * V;
  int64 begin = row, end = begin + 1;
  if (args.first_place != nullptr) {
    begin = args.first_place[row];
    end = args.first_place[row + 1];
  }
  const auto* const sums =
      static_cast<const accum*>(args.segment_sums) + (first < args.k ? first : 0);
  accum sum[1][V];
  for (int v = 0; v < V; ++v) sum[0][v] = S::zero();
  for (int64 at = begin + lane / TileLanes; at < end; at += subwarps * in_flight) {
    vector_of<accum, V> loaded[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u)
      if (at + u * subwarps < end)
        loaded[u] = stream_vector<accum, V>(sums + (at + u * subwarps) * args.k);
#pragma unroll
    for (int u = 0; u < in_flight; ++u)
      if (at + u * subwarps < end)
#pragma unroll
        for (int v = 0; v < V; ++v) sum[0][v] = S::add(sum[0][v], loaded[u].element[v]);
  }
#pragma unroll
  for (int distance = TileLanes; distance < 32; distance *= 2) {
    if (distance >= RowLanes && !is_split) break;
    const unsigned members = is_split ? 0xffffffffu : group_members<RowLanes>();
#pragma unroll
    for (int v = 0; v < V; ++v)
      sum[0][v] = S::add(sum[0][v], shuffle_xor(members, sum[0][v], distance));
  }
  if (is_split) {
    if (thread % 32 < TileLanes)
      for (int v = 0; v < V; ++v) met[warp][thread % 32][v] = sum[0][v];
    __syncthreads();
    if (thread < TileLanes)
      for (int w = 1; w < warps; ++w)
        for (int v = 0; v < V; ++v) sum[0][v] = S::add(sum[0][v], met[w][thread][v]);
  }
  if (lane < TileLanes && first < args.k)
    write_tile<S, V, TileLanes, 1, false>(args, row, first, entries, sum);
}

}  // namespace rig::on_cuda
