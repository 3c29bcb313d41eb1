// row: a group of lanes takes a row, one tile of columns at a time.
//
// Wins if no row is much longer than the others. Source: GE-SpMM (Huang et al., SC 2020): CSR
// without conversion, any reduction, and coarsening, so that one entry serves several columns.
// Instead of its coalesced row caching, all lanes of a subwarp share loads, with several in flight.
// Without atomics, one owner per output: reproducible. O(nnz · F) work. Memory: the result and, if
// B's rows are not read in place, a copy of B. Measured: suite exact.

#pragma once

#include "cuda/device/gather.cuh"

namespace rig::on_cuda {

/// Whether scalar loads are bound to few registers. With two in flight, on graphs of short rows,
/// more warps hide more latency than the registers do; longer rows have three in flight
/// (docs/lab/exact.md).
template <class TB, int Unroll, entries_read Read>
constexpr bool bounds_scalar_loads() {
  return sizeof(TB) == 4 && Unroll == 2 && Read == entries_read::full;
}

/// The least number of blocks that a multiprocessor holds, from an estimate of the registers.
/// Without the bound the compiler takes two more for some algebras, which costs up to a sixth of
/// the speed; docs/lab/exact.md.
template <class S, class TB, int V, int RowLanes, int Unroll, int Coarsening, entries_read Read>
constexpr int least_blocks() {
  constexpr int left_words =
      is_ignoring_left<S> ? 0 : static_cast<int>(sizeof(typename S::left) + 3) / 4;
  constexpr int sum_words = static_cast<int>(sizeof(typename S::accum) + 3) / 4;
  // Samples: registers that compute their entries. Fewer where three loads are in flight, because
  // more warps gain more there; docs/lab/sampled.md.
  constexpr int sample_words = Read == entries_read::full || Read == entries_read::mostly_full ? 0
                               : Read == entries_read::prefix || Unroll < 4                    ? 4
                                                                                               : 10;
  // Codes: registers that decode them. Without these words the bounds make lanes spill;
  // docs/lab/sampled.md.
  constexpr int code_words = !is_same<TB, code>           ? 0
                             : Read == entries_read::full ? (Coarsening == 1 ? 8 : 0)
                             : Read == entries_read::sampled && RowLanes == 8 ? V
                                                                              : 0;
  constexpr int other_words =
      sample_words + code_words + (is_same<TB, column_code> ? 3 * V * Coarsening : 0);
  // Scalar loads of four bytes, two in flight: chosen so that the total is the better of the
  // measured bounds; docs/lab/exact.md.
  constexpr int scalar_words = V == 1 && sum_words < 3 ? 12 - 4 * sum_words : 0;
  constexpr int vector_words = V == 1 ? 1 : 4;
  constexpr int registers = 12 + other_words + scalar_words +
                            Unroll * (1 + left_words + vector_words * Coarsening) +
                            V * Coarsening * sum_words;
  constexpr int blocks = 65536 / row_threads / ((registers + 7) / 8 * 8);
  constexpr int most = 2048 / row_threads;  // threads that a multiprocessor holds
  return blocks > most ? most : blocks > 0 ? blocks : 1;
}

/// The sample of a row of n entries.
__device__ __forceinline__ row_sample sample_of(const arguments& args, int64 n) {
  return rig::sample_of(args.samples, n, args.width);
}

/// Scales the sums of `staged` entries to a row of n entries, if the call rescales.
template <class S, int V, int Coarsening>
__device__ __forceinline__ void rescale(const arguments& args, int64 n, int64 staged,
                                        typename S::accum (&sum)[Coarsening][V]) {
  if constexpr (is_rescaling<S>) {
    if (!args.rescales || staged == n) return;
    for (int c = 0; c < Coarsening; ++c)
      for (int v = 0; v < V; ++v) sum[c][v] = rescaled(sum[c][v], n, staged);
  }
}

/// The number of segments of a split row; in a sample, of segments that hold slots.
template <bool Sampled>
__device__ __forceinline__ int32 segments_of(const arguments& args, const split_row& whole) {
  if constexpr (!Sampled) return whole.count;
  const int64 staged = sample_of(args, args.offset(whole.row + 1) - args.offset(whole.row)).count;
  return static_cast<int32>((staged + args.split_length - 1) / args.split_length);
}

/// Stores the sums of a segment in the scratch of its row.
template <class S, int V, int TileLanes, int Coarsening>
__device__ __forceinline__ void leave_sums(const arguments& args, unsigned number, index first,
                                           const typename S::accum (&sum)[Coarsening][V]) {
  auto* const sums = static_cast<typename S::accum*>(args.segment_sums) +
                     static_cast<int64>(number) * args.columns;
  for (int c = 0; c < Coarsening; ++c)
    for (int v = 0; v < V; ++v)
      if (first + c * TileLanes * V + v < args.columns)
        sums[first + c * TileLanes * V + v] = sum[c][v];
}

/// Stores the sums of a segment. Returns true to the lanes of the segment that finishes last: the
/// sums of all segments can be read then.
template <class S, int V, int TileLanes, int RowLanes, int Coarsening, bool Sampled>
__device__ __forceinline__ bool is_last_segment(const arguments& args, unsigned number,
                                                unsigned tile, bool leads, index first,
                                                const typename S::accum (&sum)[Coarsening][V]) {
  leave_sums<S, V, TileLanes, Coarsening>(args, number, first, sum);
  const int32 of = args.segments[number].split_row;
  unsigned* const completion_counters =
      args.completion_counters + static_cast<int64>(tile) * args.split_count + of;
  const int leader = static_cast<int>(threadIdx.x) % 32 / RowLanes * RowLanes;
  const unsigned members =
      TileLanes == 32 ? 0xffffffffu : ((1u << (TileLanes % 32)) - 1u) << leader;
  const int32 count = segments_of<Sampled>(args, args.split_rows[of]);
  return arrive(completion_counters, count, members, leader, leads);
}

/// Writes C(row, tile) from the sums of the row's segments, added in order. Not inlined, because
/// this rare case would cost every row registers.
template <class S, int V, int TileLanes, int Coarsening, bool Plain, bool Sampled>
__device__ __noinline__ void add_segments(const arguments& args, int32 split_row_number,
                                          index first) {
  const split_row whole = args.split_rows[split_row_number];
  const int32 count = segments_of<Sampled>(args, whole);
  typename S::accum sum[Coarsening][V];
#pragma unroll
  for (int c = 0; c < Coarsening; ++c)
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const index column = first + c * TileLanes * V + v;
      sum[c][v] = S::zero();
      if (column >= args.columns) continue;
      const auto* const sums = static_cast<const typename S::accum*>(args.segment_sums) +
                               static_cast<int64>(whole.first_segment) * args.columns + column;
      sum[c][v] = load_written(sums);
#pragma unroll 8
      for (int32 p = 1; p < count; ++p)
        sum[c][v] = S::add(sum[c][v], load_written(sums + static_cast<int64>(p) * args.columns));
    }
  int64 n = args.offset(whole.row + 1) - args.offset(whole.row);
  if constexpr (Sampled) {
    const int64 staged = sample_of(args, n).count;
    rescale<S>(args, n, staged, sum);
    n = staged;
  }
  write_tile<S, V, TileLanes, Coarsening, Plain>(args, whole.row, first, n, sum);
}

/// The work of a group of lanes: a row, or one segment of a split row.
struct part_of_row {
  index row;
  int64 first_entry;
  unsigned number, tile;  ///< number of the segment or row; tile of columns
  bool is_segment;
};

/// Sums a sample of a row, or one segment of the sample.
template <class S, class TB, int V, int TileLanes, int RowLanes, int Unroll, int Coarsening,
          bool Plain, entries_read Read>
__device__ __forceinline__ void take_sample(const arguments& args, part_of_row part, int lane,
                                            index first) {
  typename S::accum sum[Coarsening][V];
  index i = part.row;
  const int64 begin = args.offset(i), n = args.offset(i + 1) - begin;
  // A split row comes in segments even if its sample fits in one.
  if (!part.is_segment && args.split_length > 0 && n > args.split_length) return;
  const row_sample sample = sample_of(args, n);
  if (part.first_entry >= sample.count && part.is_segment) return;
  int64 count = sample.count - part.first_entry;
  if (part.is_segment && count > args.split_length) count = args.split_length;
  // A prefix, or a whole row, is read like any other row.
  if (Read == entries_read::prefix || sample.is_start())
    gather<S, TB, lane_plan{V, TileLanes, RowLanes, Unroll, Coarsening}>(
        args, i, entry_range<S, false>(args, begin, part.first_entry, count), lane, first, sum);
  else if constexpr (Read == entries_read::sampled)
    gather<S, TB, lane_plan{V, TileLanes, RowLanes, Unroll, Coarsening}>(
        args, i, sampled_range<S>(args, begin, part.first_entry, count, sample), lane, first, sum);
  if (lane >= TileLanes) return;
  if (!part.is_segment) {
    // Loaded again, because registers would otherwise hold them during the sums.
    asm volatile("" : "+r"(i));
    const int64 whole = args.offset(i + 1) - args.offset(i), staged = sample_of(args, whole).count;
    rescale<S>(args, whole, staged, sum);
    return write_tile<S, V, TileLanes, Coarsening, Plain>(args, i, first, staged, sum);
  }
  if (is_last_segment<S, V, TileLanes, RowLanes, Coarsening, true>(args, part.number, part.tile,
                                                                   lane == 0, first, sum))
    add_segments<S, V, TileLanes, Coarsening, Plain, true>(
        args, args.segments[part.number].split_row, first);
}

/// `take_sample` for rare samples: not inlined, because its state would cost every row registers.
template <class S, class TB, int V, int TileLanes, int RowLanes, int Unroll, int Coarsening,
          bool Plain>
__device__ __noinline__ void take_rare_sample(const arguments& args, part_of_row part, int lane,
                                              index first) {
  take_sample<S, TB, V, TileLanes, RowLanes, Unroll, Coarsening, Plain, entries_read::sampled>(
      args, part, lane, first);
}

/// Sums a row, or a segment of one, with B in tiles. With the last tile the group also sums the
/// Rest columns beyond the tiles. There each lane takes entries of its own, because a further tile
/// would touch as many cache lines as a whole one, and leave lanes idle.
template <class S, class TB, int V, int TileLanes, int RowLanes, int Unroll, int Coarsening,
          int Rest, class Range>
__device__ __forceinline__ void take_tiled(const arguments& args, const part_of_row& part,
                                           const Range& of, int lane, index first) {
  const index rest_first = static_cast<index>(part.tile + 1) * (TileLanes * V * Coarsening);
  const bool is_last = rest_first + Rest >= args.columns;
  typename S::accum sum[Coarsening][V], rest[1][Rest];
  gather<S, TB, lane_plan{V, TileLanes, RowLanes, Unroll, Coarsening}>(
      args, tile_of_b{part.tile}, part.row, of, lane, first, sum);
  // After the tile, because entries loaded ahead of it would take registers from it;
  // docs/lab/exact.md.
  if (is_last)
    gather<S, TB, lane_plan{Rest, 1, RowLanes, 4, 1}>(args, rest_of_b(), part.row, of, lane,
                                                      rest_first, rest);
  if (lane >= TileLanes) return;
  const bool has_rest = is_last && lane == 0;
  if (!part.is_segment) {
    if (has_rest) write_tile<S, Rest, 1, 1, true>(args, part.row, rest_first, of.count, rest);
    return write_tile<S, V, TileLanes, Coarsening, true>(args, part.row, first, of.count, sum);
  }
  if (has_rest) leave_sums<S, Rest, 1, 1>(args, part.number, rest_first, rest);
  if (!is_last_segment<S, V, TileLanes, RowLanes, Coarsening, false>(args, part.number, part.tile,
                                                                     lane == 0, first, sum))
    return;
  const int32 whole = args.segments[part.number].split_row;
  if (has_rest) add_segments<S, Rest, 1, 1, true, false>(args, whole, rest_first);
  add_segments<S, V, TileLanes, Coarsening, true, false>(args, whole, first);
}

/// C(i, tile) = ⊕_k A(i,k) ⊗ B(k, tile). Blocks run tile by tile (y, then z, of the grid), so that
/// a slice of B stays in the L2 cache. Plain: no mask, no accumulator, and A and C in the
/// semiring's types, or C narrowed. Rest: columns beyond the last tile, or 0.
template <class S, class TB, int V, int TileLanes, int RowLanes, int Unroll, int Coarsening,
          bool Plain, entries_read Read = entries_read::full, int Rest = 0>
__global__ void __launch_bounds__(row_threads,
                                  Plain && (V > 1 || bounds_scalar_loads<TB, Unroll, Read>())
                                      ? least_blocks<S, TB, V, RowLanes, Unroll, Coarsening, Read>()
                                      : 1) row(const __grid_constant__ arguments args) {
  constexpr int groups = row_threads / RowLanes;
  const int lane = static_cast<int>(threadIdx.x) % RowLanes;
  const unsigned segment_blocks = (static_cast<unsigned>(args.segment_count) + groups - 1) / groups;
  const unsigned block = blockIdx.x, tile = blockIdx.z * gridDim.y + blockIdx.y;
  if (tile * static_cast<unsigned long>(TileLanes * V * Coarsening) >=
      static_cast<unsigned long>(args.columns))
    return;
  const index first =
      static_cast<index>(tile) * (TileLanes * V * Coarsening) + lane % TileLanes * V;
  const bool is_segment = block < segment_blocks;
  const unsigned number =
      (is_segment ? block : block - segment_blocks) * groups + threadIdx.x / RowLanes;
  if (number >= static_cast<unsigned>(is_segment ? args.segment_count : args.rows)) return;
  index i = static_cast<index>(number);
  // A row has fewer than 2³² entries, and so has a segment of a split row.
  const auto split_length = static_cast<unsigned>(args.split_length);
  unsigned first_entry = 0;
  if (is_segment) {
    const row_segment some = args.segments[number];
    i = some.row;
    first_entry = static_cast<unsigned>(some.number) * split_length;
  }
  const bool is_listed = !is_segment && args.order != nullptr;
  const listed_row whole = is_listed ? args.order[number] : args.entries_of(i);
  i = whole.row;
  [[maybe_unused]] const part_of_row part = {i, first_entry, number, tile, is_segment};
  if constexpr (Read == entries_read::prefix || Read == entries_read::sampled) {
    take_sample<S, TB, V, TileLanes, RowLanes, Unroll, Coarsening, Plain, Read>(args, part, lane,
                                                                                first);
  } else {
    if constexpr (Read == entries_read::mostly_full)
      if (whole.count > static_cast<unsigned>(args.width))
        return take_rare_sample<S, TB, V, TileLanes, RowLanes, Unroll, Coarsening, Plain>(
            args, part, lane, first);
    unsigned count = whole.count - first_entry;
    if (split_length > 0 && count > split_length) {
      if (!is_segment) return;
      count = split_length;
    }
    const entry_range<S, (RowLanes > 1)> of(args, whole.begin, first_entry, count);
    if constexpr (Rest > 0)
      return take_tiled<S, TB, V, TileLanes, RowLanes, Unroll, Coarsening, Rest>(args, part, of,
                                                                                 lane, first);
    // With indexed sums a lane ends with W columns of a vector.
    constexpr int parts =
        is_indexed<typename S::accum> ? (RowLanes / TileLanes < V ? RowLanes / TileLanes : V) : 1;
    constexpr int W = V / parts, holders = TileLanes * parts;
    typename S::accum sum[Coarsening][W];
    const index at = first + gather<S, TB, lane_plan{V, TileLanes, RowLanes, Unroll, Coarsening}>(
                                 args, i, of, lane, first, sum);
    if (lane >= holders) return;
    if (!is_segment)
      return write_tile<S, W, holders, Coarsening, Plain>(args, i, at, of.count, sum);
    // Computed from values kept for the store: `number`, `tile` and `lane` would each take a
    // register, or a store and a load per lane; docs/lab/max.md.
    const unsigned of_segment = block * groups + threadIdx.x / RowLanes;
    const auto column = static_cast<unsigned>(at);
    constexpr unsigned tile_columns = TileLanes * V * Coarsening;
    if (is_last_segment<S, W, holders, RowLanes, Coarsening, false>(
            args, of_segment, column / tile_columns, column % tile_columns == 0, at, sum))
      add_segments<S, W, holders, Coarsening, Plain, false>(args, args.segments[number].split_row,
                                                            at);
  }
}

/// Writes A's values to `args.c` as the semiring's left type, in the order of A's entries. A
/// separate pass keeps tests and conversions out of the loops over entries. Four values that only
/// need reordering are in flight; docs/lab/exact.md.
template <class S>
__global__ void __launch_bounds__(row_threads) permute_values(const arguments args) {
  using left = typename S::left;
  constexpr int in_flight = values_in_flight;
  auto* const to = static_cast<left*>(args.c);
  const int64 begin = static_cast<int64>(blockIdx.x) * (row_threads * in_flight) + threadIdx.x,
              step = static_cast<int64>(gridDim.x) * (row_threads * in_flight);
  const bool moves =
      args.permutation != nullptr && !args.offsets_64 && args.a_type == type_of<left>;
  for (int64 first = begin; first < args.nnz; first += step) {
    const auto there = [&](int u) { return first + u * row_threads < args.nnz; };
    if (!is_ignoring_left<S> && moves) {
      const auto* const places = static_cast<const int32*>(args.permutation) + first;
      int32 place[in_flight] = {};
      left a[in_flight];
#pragma unroll
      for (int u = 0; u < in_flight; ++u)
        if (there(u)) place[u] = __ldcs(places + u * row_threads);
#pragma unroll
      for (int u = 0; u < in_flight; ++u) a[u] = static_cast<const left*>(args.a_values)[place[u]];
#pragma unroll
      for (int u = 0; u < in_flight; ++u)
        if (there(u)) to[first + u * row_threads] = a[u];
    } else {
      for (int u = 0; u < in_flight && there(u); ++u)
        to[first + u * row_threads] = load_a<S>(args, first + u * row_threads);
    }
  }
}

}  // namespace rig::on_cuda
