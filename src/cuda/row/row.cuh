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

/// Entries per segment of a split row.
__device__ __forceinline__ int64 segment_length(const arguments& args) {
  return splits_per_segment * args.split_length;
}

/// The number of segments of a split row; in a sample, of segments that hold slots.
template <bool Sampled>
__device__ __forceinline__ int32 segments_of(const arguments& args, const split_row& whole) {
  if constexpr (!Sampled) return whole.count;
  const int64 staged = sample_of(args, args.offset(whole.row + 1) - args.offset(whole.row)).count;
  return static_cast<int32>((staged + segment_length(args) - 1) / segment_length(args));
}

/// The share of this thread's group of lanes in a segment that a block sums: equal runs of entries,
/// which begin on sectors of the cache if the segment does.
template <int RowLanes>
__device__ __forceinline__ void take_share(unsigned& first_entry, unsigned& count) {
  constexpr unsigned groups = row_threads / RowLanes, sector = 8;
  const unsigned share = ((count + groups - 1) / groups + sector - 1) / sector * sector,
                 before = threadIdx.x / RowLanes * share;
  first_entry += before;
  count = before >= count ? 0 : count - before < share ? count - before : share;
}

/// Adds the sums of the block's groups of lanes, in a fixed order: those of a warp by shuffles,
/// then those of the warps. Returns true to the lanes that hold the total: the first `Holders`.
template <class S, int V, int Holders, int RowLanes, int Coarsening>
__device__ __forceinline__ bool add_groups(typename S::accum (&sum)[Coarsening][V]) {
  using accum = typename S::accum;
  constexpr int warps = row_threads / 32;
  __shared__ __align__(
      16) unsigned char raw[(warps - 1) * Coarsening * V * Holders * sizeof(accum)];
  auto* const of_warps = reinterpret_cast<accum(*)[Coarsening][V][Holders]>(raw);
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int distance = RowLanes; distance < 32; distance *= 2)
#pragma unroll
    for (int c = 0; c < Coarsening; ++c)
#pragma unroll
      for (int v = 0; v < V; ++v)
        sum[c][v] = S::add(sum[c][v], shuffle_xor(0xffffffffu, sum[c][v], distance));
  if (warp > 0 && lane < Holders)
#pragma unroll
    for (int c = 0; c < Coarsening; ++c)
#pragma unroll
      for (int v = 0; v < V; ++v) of_warps[warp - 1][c][v][lane] = sum[c][v];
  __syncthreads();
  if (warp > 0 || lane >= Holders) return false;
#pragma unroll
  for (int w = 0; w < warps - 1; ++w)
#pragma unroll
    for (int c = 0; c < Coarsening; ++c)
#pragma unroll
      for (int v = 0; v < V; ++v) sum[c][v] = S::add(sum[c][v], of_warps[w][c][v][lane]);
  return true;
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

/// The group of a segment, among the `count` segments of its row. Groups are summed first, then
/// their sums, because a row of thousands of segments would keep one group of lanes adding for
/// long.
struct segment_group {
  int32 first, count;  ///< its segments, numbered in the row
  int32 groups;        ///< of the row; a row of one group is summed at once
  int32 counter;       ///< its own among the groups of all rows
};
__device__ __forceinline__ segment_group group_of(const split_row& whole, int32 count,
                                                  int32 number) {
  const int32 groups = count < 2 * segments_per_group ? 1 : count / segments_per_group;
  const int32 own = number / segments_per_group < groups ? number / segments_per_group : groups - 1;
  const int32 first = own * segments_per_group;
  return {first, own + 1 < groups ? segments_per_group : count - first, groups,
          (whole.first_segment + segments_per_group - 1) / segments_per_group + own};
}

/// The first `Holders` lanes of a warp.
template <int Holders>
constexpr unsigned holding_lanes = Holders == 32 ? 0xffffffffu : (1u << (Holders % 32)) - 1u;

/// sum[c][v] = the sums that `count` segments left, added in order. They lie `step` segments apart.
template <class S, int V, int TileLanes, int Coarsening>
__device__ __forceinline__ void add_left_sums(const arguments& args, int32 segment, int32 count,
                                              int32 step, index first,
                                              typename S::accum (&sum)[Coarsening][V]) {
  const int64 stride = static_cast<int64>(step) * args.columns;
#pragma unroll
  for (int c = 0; c < Coarsening; ++c) {
    const index column = first + c * TileLanes * V;
    const auto* at = static_cast<const typename S::accum*>(args.segment_sums) +
                     static_cast<int64>(segment) * args.columns + column;
    for (int v = 0; v < V; ++v)
      sum[c][v] = column + v < args.columns ? load_written(at + v) : S::zero();
#pragma unroll 4
    for (int32 p = 1; p < count; ++p) {
      at += stride;
      for (int v = 0; v < V; ++v)
        if (column + v < args.columns) sum[c][v] = S::add(sum[c][v], load_written(at + v));
    }
  }
}

/// Writes C(row, tile) from the sums of the row's segments or groups, added in order.
template <class S, int V, int TileLanes, int Coarsening, bool Plain, bool Sampled>
__device__ __forceinline__ void write_split_row(const arguments& args, const split_row& whole,
                                                int32 count, int32 step, index first) {
  typename S::accum sum[Coarsening][V];
  add_left_sums<S, V, TileLanes, Coarsening>(args, whole.first_segment, count, step, first, sum);
  int64 n = args.offset(whole.row + 1) - args.offset(whole.row);
  if constexpr (Sampled) {
    const int64 staged = sample_of(args, n).count;
    rescale<S>(args, n, staged, sum);
    n = staged;
  }
  write_tile<S, V, TileLanes, Coarsening, Plain>(args, whole.row, first, n, sum);
}

/// Ends a segment of a row of several, which has left its sums. The last segment of a group adds
/// the group's sums, and the row's last group writes C(row, tile). `rest_first`: the first of the
/// Rest columns beyond the tiles if this lane sums them too, else negative. The first lanes of the
/// block call. Not inlined, because this rare case would cost every row registers.
template <class S, int V, int TileLanes, int Coarsening, bool Plain, bool Sampled, int Rest = 0>
__device__ __noinline__ void end_segment(const arguments& args, unsigned number, unsigned tile,
                                         index first, index rest_first = -1) {
  const row_segment mine = args.segments[number];
  const split_row whole = args.split_rows[mine.split_row];
  int32 count = segments_of<Sampled>(args, whole), step = 1;
  const segment_group group = group_of(whole, count, mine.number);
  unsigned* const counters = args.completion_counters + tile * args.counters_per_tile();
  if (group.groups > 1) {
    if (!arrive(counters + args.split_count + group.counter, group.count, holding_lanes<TileLanes>,
                0, threadIdx.x == 0))
      return;
    const int32 begin = whole.first_segment + group.first;
    typename S::accum sum[Coarsening][V];
    add_left_sums<S, V, TileLanes, Coarsening>(args, begin, group.count, 1, first, sum);
    leave_sums<S, V, TileLanes, Coarsening>(args, static_cast<unsigned>(begin), first, sum);
    if constexpr (Rest > 0)
      if (rest_first >= 0) {
        typename S::accum rest[1][Rest];
        add_left_sums<S, Rest, 1, 1>(args, begin, group.count, 1, rest_first, rest);
        leave_sums<S, Rest, 1, 1>(args, static_cast<unsigned>(begin), rest_first, rest);
      }
    count = group.groups;
    step = segments_per_group;
  }
  if (!arrive(counters + mine.split_row, count, holding_lanes<TileLanes>, 0, threadIdx.x == 0))
    return;
  write_split_row<S, V, TileLanes, Coarsening, Plain, Sampled>(args, whole, count, step, first);
  if constexpr (Rest > 0)
    if (rest_first >= 0)
      write_split_row<S, Rest, 1, 1, Plain, Sampled>(args, whole, count, step, rest_first);
}

/// The work of a group of lanes: a row, or its share of one segment of a split row.
struct part_of_row {
  index row;
  unsigned first_entry;   ///< of the segment
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
  unsigned at = part.first_entry, count = static_cast<unsigned>(sample.count) - at;
  if (part.is_segment) {
    count = count > segment_length(args) ? static_cast<unsigned>(segment_length(args)) : count;
    take_share<RowLanes>(at, count);
  }
  // A prefix, or a whole row, is read like any other row.
  if (Read == entries_read::prefix || sample.is_start())
    gather<S, TB, lane_plan{V, TileLanes, RowLanes, Unroll, Coarsening}>(
        args, i, entry_range<S, false>(args, begin, at, count), lane, first, sum);
  else if constexpr (Read == entries_read::sampled)
    gather<S, TB, lane_plan{V, TileLanes, RowLanes, Unroll, Coarsening}>(
        args, i, sampled_range<S>(args, begin, at, count, sample), lane, first, sum);
  if (part.is_segment ? !add_groups<S, V, TileLanes, RowLanes, Coarsening>(sum) : lane >= TileLanes)
    return;
  // Loaded again, because registers would otherwise hold them during the sums.
  asm volatile("" : "+r"(i));
  const int64 whole = args.offset(i + 1) - args.offset(i), staged = sample_of(args, whole).count;
  if (part.is_segment && staged > segment_length(args)) {
    leave_sums<S, V, TileLanes, Coarsening>(args, part.number, first, sum);
    return end_segment<S, V, TileLanes, Coarsening, Plain, true>(args, part.number, part.tile,
                                                                 first);
  }
  rescale<S>(args, whole, staged, sum);
  write_tile<S, V, TileLanes, Coarsening, Plain>(args, i, first, staged, sum);
}

/// `take_sample` for rare samples: not inlined, because its state would cost every row registers.
template <class S, class TB, int V, int TileLanes, int RowLanes, int Unroll, int Coarsening,
          bool Plain>
__device__ __noinline__ void take_rare_sample(const arguments& args, part_of_row part, int lane,
                                              index first) {
  take_sample<S, TB, V, TileLanes, RowLanes, Unroll, Coarsening, Plain, entries_read::sampled>(
      args, part, lane, first);
}

/// Sums a row of n entries, or a share of a segment of one, with B in tiles. With the last tile the
/// group also sums the Rest columns beyond the tiles. There each lane takes entries of its own,
/// because a further tile would touch as many cache lines as a whole one, and leave lanes idle.
template <class S, class TB, int V, int TileLanes, int RowLanes, int Unroll, int Coarsening,
          int Rest, class Range>
__device__ __forceinline__ void take_tiled(const arguments& args, const part_of_row& part,
                                           unsigned n, const Range& of, int lane, index first) {
  const index rest_first = static_cast<index>(part.tile + 1) * (TileLanes * V * Coarsening);
  const bool is_last = rest_first + Rest >= args.columns;
  typename S::accum sum[Coarsening][V], rest[1][Rest];
  gather<S, TB, lane_plan{V, TileLanes, RowLanes, Unroll, Coarsening}>(
      args, tile_of_b{part.tile}, part.row, of, lane, first, sum);
  // After the tile, because entries loaded ahead of it would take registers from it;
  // docs/lab/exact.md.
  if (is_last)
    gather<S, TB, lane_plan{Rest, 1, RowLanes, rest_unroll, 1}>(args, rest_of_b(), part.row, of,
                                                                lane, rest_first, rest);
  bool has_rest = is_last && lane == 0;
  if (part.is_segment) {
    if (is_last) has_rest = add_groups<S, Rest, 1, RowLanes, 1>(rest);
    if (!add_groups<S, V, TileLanes, RowLanes, Coarsening>(sum)) return;
    if (n > segment_length(args)) {
      if (has_rest) leave_sums<S, Rest, 1, 1>(args, part.number, rest_first, rest);
      leave_sums<S, V, TileLanes, Coarsening>(args, part.number, first, sum);
      return end_segment<S, V, TileLanes, Coarsening, true, false, Rest>(
          args, part.number, part.tile, first, has_rest ? rest_first : -1);
    }
  } else if (lane >= TileLanes) {
    return;
  }
  if (has_rest) write_tile<S, Rest, 1, 1, true>(args, part.row, rest_first, n, rest);
  write_tile<S, V, TileLanes, Coarsening, true>(args, part.row, first, n, sum);
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
  const int lane = static_cast<int>(threadIdx.x % RowLanes);
  const auto segment_blocks = static_cast<unsigned>(args.segment_count);
  const unsigned block = blockIdx.x, tile = blockIdx.z * gridDim.y + blockIdx.y;
  if (tile * static_cast<unsigned long>(TileLanes * V * Coarsening) >=
      static_cast<unsigned long>(args.columns))
    return;
  const index first =
      static_cast<index>(tile) * (TileLanes * V * Coarsening) + lane % TileLanes * V;
  const bool is_segment = block < segment_blocks;
  const unsigned number =
      is_segment ? block : (block - segment_blocks) * groups + threadIdx.x / RowLanes;
  if (!is_segment && number >= static_cast<unsigned>(args.rows)) return;
  index i = static_cast<index>(number);
  // A row has fewer than 2³² entries, and so has a segment of a split row.
  const auto split_length = static_cast<unsigned>(args.split_length);
  unsigned first_entry = 0;
  if (is_segment) {
    const row_segment some = args.segments[number];
    i = some.row;
    first_entry = static_cast<unsigned>(some.number) * static_cast<unsigned>(segment_length(args));
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
    if (is_segment) {
      const auto most = static_cast<unsigned>(segment_length(args));
      count = count > most ? most : count;
      take_share<RowLanes>(first_entry, count);
    } else if (split_length > 0 && count > split_length) {
      return;
    }
    const entry_range<S, (RowLanes > 1)> of(args, whole.begin, first_entry, count);
    if constexpr (Rest > 0)
      return take_tiled<S, TB, V, TileLanes, RowLanes, Unroll, Coarsening, Rest>(
          args, part, whole.count, of, lane, first);
    // With indexed sums a lane ends with W columns of a vector.
    constexpr int parts =
        is_indexed<typename S::accum> ? (RowLanes / TileLanes < V ? RowLanes / TileLanes : V) : 1;
    constexpr int W = V / parts, holders = TileLanes * parts;
    typename S::accum sum[Coarsening][W];
    const index at = first + gather<S, TB, lane_plan{V, TileLanes, RowLanes, Unroll, Coarsening}>(
                                 args, i, of, lane, first, sum);
    if (!is_segment) {
      if (lane < holders) write_tile<S, W, holders, Coarsening, Plain>(args, i, at, of.count, sum);
      return;
    }
    if (!add_groups<S, W, holders, RowLanes, Coarsening>(sum)) return;
    // Loaded again, because registers would otherwise hold it during the sums.
    asm volatile("" : "+r"(i));
    const auto n = static_cast<unsigned>(args.offset(i + 1) - args.offset(i));
    if (n <= segment_length(args))
      return write_tile<S, W, holders, Coarsening, Plain>(args, i, at, n, sum);
    leave_sums<S, W, holders, Coarsening>(args, block, at, sum);
    constexpr unsigned tile_columns = TileLanes * V * Coarsening;
    end_segment<S, W, holders, Coarsening, Plain, false>(
        args, block, static_cast<unsigned>(at) / tile_columns, at);
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
