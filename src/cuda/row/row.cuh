// row: a group of lanes takes a row, a tile of columns at a time.
//
// Wins where no row is much longer than the others. Source: GE-SpMM (Huang et al., SC 2020): CSR as
// it is, any reduction; coarsening, so that an entry that was read serves several columns; its
// coalesced row caching became loads that all lanes of a team share, several in flight. No atomics,
// one owner an output: same bits. O(nnz · f), no memory but the result and, where its rows are
// not read as they lie, a copy of B. Measured: suite exact.

#pragma once

#include "cuda/device/gather.cuh"

namespace rig::on_cuda {

/// Entries of a row that are read: all, the first ones, or of rows longer than the width any;
/// mostly_full: of those as well, but they are so few that all is made for the others.
enum class entries_read { full, prefix, sampled, mostly_full };

/// Are single elements held to few registers? Where two are in flight, on graphs of short rows,
/// more warps hide more than they. Longer rows mostly lose by it (arxiv-like, f = 33, two in
/// flight: 0.075 ms, held to 48 and 40 registers 0.086 to 0.096 and 0.100), so the rules have three
/// there. Elements of other sizes, and samples, were not measured.
template <class TB, int U, entries_read Read>
constexpr bool holds_singles() {
  return sizeof(TB) == 4 && U == 2 && Read == entries_read::full;
}

/// Blocks that a multiprocessor should hold: of the registers that loads in flight, sums and a
/// dozen others need. Left to itself the compiler takes two more for some algebras, which costs a
/// sixth of the speed (road-like, f = 32, max: 0.240 ms, held to these 0.200) or a twentieth
/// (uniform:262144:32, f = 32, sum: 0.144, 0.137).
template <class S, class TB, int V, int G, int U, int CF, entries_read Read>
constexpr int least_blocks() {
  constexpr int left_words =
      is_ignoring_left<S> ? 0 : static_cast<int>(sizeof(typename S::left) + 3) / 4;
  constexpr int sum_words = static_cast<int>(sizeof(typename S::accum) + 3) / 4;
  // Of samples: reddit-like, f = 64, fastrand, width 16 and 256: 0.194 and 1.41 ms; with 2 words
  // 0.203 and 1.49, with 28 0.204 and 1.40; products-like, width 64: 3.07, 3.09, 3.61. Where three
  // are in flight, for many warps, with 4 and 10: products-like, width 512: 3.72, 3.88.
  constexpr int draw_words = Read == entries_read::full || Read == entries_read::mostly_full ? 0
                             : Read == entries_read::prefix || U < 4                         ? 4
                                                                                             : 10;
  // Of codes, to take them apart: what the bounds without these made 28 to 160 bytes a lane spill
  // for. Milliseconds without and with them (docs/lab/sampled.md, **): exact, f = 256:
  // reddit-like 5.21, 4.75, products-like 7.24, 6.88; road-like, two packs a lane, 0.870, 0.935.
  // fastrand, f = 64: reddit-like, width 16, 0.188, 0.152, arxiv-like, width 256, 0.0770, 0.0745;
  // where more than eight lanes take a row, products-like, width 64, 2.75, 2.86.
  constexpr int code_words = !is_same<TB, code>                        ? 0
                             : Read == entries_read::full              ? (CF == 1 ? 8 : 0)
                             : Read == entries_read::sampled && G == 8 ? V
                                                                       : 0;
  constexpr int other_words = draw_words + code_words + (is_same<TB, column_code> ? 3 * V * CF : 0);
  // Of single elements of four bytes, two in flight: chosen so that it comes to the better of the
  // bounds that were raced. Milliseconds without one and with 40, 48 registers: road-like, sums, f
  // = 65: 0.573, 0.527, 0.572, f = 97: 0.784, 1.113, 0.687; arg-max, f = 65: 0.697, 0.630, 0.667,
  // f = 55: 0.505, –, 0.474.
  constexpr int single_words = V == 1 && sum_words < 3 ? 12 - 4 * sum_words : 0;
  constexpr int pack_words = V == 1 ? 1 : 4;
  constexpr int registers =
      12 + other_words + single_words + U * (1 + left_words + pack_words * CF) + V * CF * sum_words;
  constexpr int blocks = 65536 / row_threads / ((registers + 7) / 8 * 8);
  constexpr int most = 2048 / row_threads;  // threads that a multiprocessor holds
  return blocks > most ? most : blocks > 0 ? blocks : 1;
}

/// The sample of a row of n entries.
__device__ __forceinline__ row_sample sample_of(const arguments& args, int64 n) {
  return rig::sample_of(args.samples, n, args.width);
}

/// Sums of `staged` entries of a row of n, as C is to have them.
template <class S, int V, int CF>
__device__ __forceinline__ void rescale(const arguments& args, int64 n, int64 staged,
                                        typename S::accum (&sum)[CF][V]) {
  if constexpr (is_rescaling<S>) {
    if (!args.rescales || staged == n) return;
    for (int c = 0; c < CF; ++c)
      for (int v = 0; v < V; ++v) sum[c][v] = rescaled(sum[c][v], n, staged);
  }
}

/// Pieces of a row that was cut: of a sample, those that hold slots.
template <bool Sampled>
__device__ __forceinline__ int32 pieces_of(const arguments& args, const cut_row& whole) {
  if constexpr (!Sampled) return whole.count;
  const int64 staged = sample_of(args, args.offset(whole.row + 1) - args.offset(whole.row)).count;
  return static_cast<int32>((staged + args.cut - 1) / args.cut);
}

/// The sums of a piece, for its row.
template <class S, int V, int L, int CF>
__device__ __forceinline__ void leave_sums(const arguments& args, unsigned number, index first,
                                           const typename S::accum (&sum)[CF][V]) {
  auto* const sums =
      static_cast<typename S::accum*>(args.piece_sums) + static_cast<int64>(number) * args.columns;
  for (int c = 0; c < CF; ++c)
    for (int v = 0; v < V; ++v)
      if (first + c * L * V + v < args.columns) sums[first + c * L * V + v] = sum[c][v];
}

/// Leaves the sums of a piece for its row. True for the lanes of the piece that is done last: the
/// sums of all are there then.
template <class S, int V, int L, int G, int CF, bool Sampled>
__device__ __forceinline__ bool is_last_piece(const arguments& args, unsigned number, unsigned tile,
                                              bool leads, index first,
                                              const typename S::accum (&sum)[CF][V]) {
  leave_sums<S, V, L, CF>(args, number, first, sum);
  const int32 of = args.pieces[number].cut_row;
  unsigned* const completion_counters =
      args.completion_counters + static_cast<int64>(tile) * args.cut_count + of;
  const int leader = static_cast<int>(threadIdx.x) % 32 / G * G;
  const unsigned members = L == 32 ? 0xffffffffu : ((1u << (L % 32)) - 1u) << leader;
  const int32 count = pieces_of<Sampled>(args, args.cut_rows[of]);
  return arrive(completion_counters, count, members, leader, leads);
}

/// C(row, tile) from the sums of its pieces, added in their order. A function of its own: it is
/// rare, and would cost every row registers.
template <class S, int V, int L, int CF, bool Plain, bool Sampled>
__device__ __noinline__ void add_pieces(const arguments& args, int32 cut_row_number, index first) {
  const cut_row whole = args.cut_rows[cut_row_number];
  const int32 count = pieces_of<Sampled>(args, whole);
  typename S::accum sum[CF][V];
#pragma unroll
  for (int c = 0; c < CF; ++c)
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const index column = first + c * L * V + v;
      sum[c][v] = S::zero();
      if (column >= args.columns) continue;
      const auto* const sums = static_cast<const typename S::accum*>(args.piece_sums) +
                               static_cast<int64>(whole.first_piece) * args.columns + column;
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
  write_tile<S, V, L, CF, Plain>(args, whole.row, first, n, sum);
}

/// What a group of lanes takes: a row, or a piece of one that was cut.
struct part_of_row {
  index row;
  int64 first_entry;
  unsigned number, tile;  ///< of the piece; of columns
  bool is_piece;
};

/// The sums over a sample of a row, or over a piece of that.
template <class S, class TB, int V, int L, int G, int U, int CF, bool Plain, entries_read Read>
__device__ __forceinline__ void take_sample(const arguments& args, part_of_row part, int lane,
                                            index first) {
  typename S::accum sum[CF][V];
  index i = part.row;
  const int64 begin = args.offset(i), n = args.offset(i + 1) - begin;
  // A row that is cut comes in pieces even where its sample fits in one.
  if (!part.is_piece && args.cut > 0 && n > args.cut) return;
  const row_sample sample = sample_of(args, n);
  if (part.first_entry >= sample.count && part.is_piece) return;
  int64 count = sample.count - part.first_entry;
  if (part.is_piece && count > args.cut) count = args.cut;
  // The first entries, or all, come as those of any row do.
  if (Read == entries_read::prefix || sample.is_start())
    gather<S, TB, V, L, G, U, CF>(
        args, i, entry_range<S, false>(args, begin, part.first_entry, count), lane, first, sum);
  else if constexpr (Read == entries_read::sampled)
    gather<S, TB, V, L, G, U, CF>(
        args, i, sampled_range<S>(args, begin, part.first_entry, count, sample), lane, first, sum);
  if (lane >= L) return;
  if (!part.is_piece) {
    // Asked for again, rather than kept in registers meanwhile.
    asm volatile("" : "+r"(i));
    const int64 whole = args.offset(i + 1) - args.offset(i), staged = sample_of(args, whole).count;
    rescale<S>(args, whole, staged, sum);
    return write_tile<S, V, L, CF, Plain>(args, i, first, staged, sum);
  }
  if (is_last_piece<S, V, L, G, CF, true>(args, part.number, part.tile, lane == 0, first, sum))
    add_pieces<S, V, L, CF, Plain, true>(args, args.pieces[part.number].cut_row, first);
}

/// The same, where it is rare: what it knows would cost every row registers.
template <class S, class TB, int V, int L, int G, int U, int CF, bool Plain>
__device__ __noinline__ void take_rare_sample(const arguments& args, part_of_row part, int lane,
                                              index first) {
  take_sample<S, TB, V, L, G, U, CF, Plain, entries_read::sampled>(args, part, lane, first);
}

/// The sums of a row, or of a piece of one, where tiles of B lie one after the other, and with the
/// last one those of the columns left of it, which lie by themselves. For these each lane of the
/// group takes entries of its own: a tile of their own would ask for as many lines of the caches as
/// a whole one, and leave lanes without work.
template <class S, class TB, int V, int L, int G, int U, int CF, int Rest, class Range>
__device__ __forceinline__ void take_tiled(const arguments& args, const part_of_row& part,
                                           const Range& of, int lane, index first) {
  const index rest_first = static_cast<index>(part.tile + 1) * (L * V * CF);
  const bool is_last = rest_first + Rest >= args.columns;
  typename S::accum sum[CF][V], rest[1][Rest];
  gather<S, TB, V, L, G, U, CF>(args, tile_of_b{part.tile}, part.row, of, lane, first, sum);
  // After the tile, not beside it: entries asked for ahead of it took registers (rmat:18:16, f =
  // 33: 0.182 ms and 0.184, uniform:262144:32 0.198 and 0.209).
  if (is_last)
    gather<S, TB, Rest, 1, G, 4, 1>(args, rest_of_b(), part.row, of, lane, rest_first, rest);
  if (lane >= L) return;
  const bool has_rest = is_last && lane == 0;
  if (!part.is_piece) {
    if (has_rest) write_tile<S, Rest, 1, 1, true>(args, part.row, rest_first, of.count, rest);
    return write_tile<S, V, L, CF, true>(args, part.row, first, of.count, sum);
  }
  if (has_rest) leave_sums<S, Rest, 1, 1>(args, part.number, rest_first, rest);
  if (!is_last_piece<S, V, L, G, CF, false>(args, part.number, part.tile, lane == 0, first, sum))
    return;
  const int32 whole = args.pieces[part.number].cut_row;
  if (has_rest) add_pieces<S, Rest, 1, 1, true, false>(args, whole, rest_first);
  add_pieces<S, V, L, CF, true, false>(args, whole, first);
}

/// C(i, tile) = ⊕_k A(i,k) ⊗ B(k, tile). Blocks run tile by tile (y, then z, of the grid), so that
/// a slice of B stays in the L2 cache. The first blocks of a tile take the pieces of rows that were
/// cut, and the last piece of a row to be done adds all of them; the others take rows. Plain: no
/// mask, no accumulator, A and C stored as the semiring has them. Drawn: of rows longer than the
/// width a sample, which takes the place of the row in all of this. Rest: columns of the last tile
/// beyond its L · V · CF, or 0.
template <class S, class TB, int V, int L, int G, int U, int CF, bool Plain,
          entries_read Read = entries_read::full, int Rest = 0>
__global__ void __launch_bounds__(row_threads, Plain && (V > 1 || holds_singles<TB, U, Read>())
                                                   ? least_blocks<S, TB, V, G, U, CF, Read>()
                                                   : 1)
    row(const __grid_constant__ arguments args) {
  constexpr int groups = row_threads / G;
  const int lane = static_cast<int>(threadIdx.x) % G;
  const unsigned piece_blocks = (static_cast<unsigned>(args.piece_count) + groups - 1) / groups;
  const unsigned block = blockIdx.x, tile = blockIdx.z * gridDim.y + blockIdx.y;
  if (tile * static_cast<unsigned long>(L * V * CF) >= static_cast<unsigned long>(args.columns))
    return;
  const index first = static_cast<index>(tile) * (L * V * CF) + lane % L * V;
  const bool is_piece = block < piece_blocks;
  const unsigned number = (is_piece ? block : block - piece_blocks) * groups + threadIdx.x / G;
  if (number >= static_cast<unsigned>(is_piece ? args.piece_count : args.rows)) return;
  index i = static_cast<index>(number);
  // A row has fewer than 2³² entries, and no row is cut but into pieces of fewer.
  const auto cut = static_cast<unsigned>(args.cut);
  unsigned first_entry = 0;
  if (is_piece) {
    const piece some = args.pieces[number];
    i = some.row;
    first_entry = static_cast<unsigned>(some.number) * cut;
  }
  const bool is_listed = !is_piece && args.order != nullptr;
  const listed_row whole = is_listed ? args.order[number] : args.entries_of(i);
  i = whole.row;
  [[maybe_unused]] const part_of_row part = {i, first_entry, number, tile, is_piece};
  if constexpr (Read == entries_read::prefix || Read == entries_read::sampled) {
    take_sample<S, TB, V, L, G, U, CF, Plain, Read>(args, part, lane, first);
  } else {
    if constexpr (Read == entries_read::mostly_full)
      if (whole.count > static_cast<unsigned>(args.width))
        return take_rare_sample<S, TB, V, L, G, U, CF, Plain>(args, part, lane, first);
    unsigned count = whole.count - first_entry;
    if (cut > 0 && count > cut) {
      if (!is_piece) return;
      count = cut;
    }
    const entry_range<S, (G > 1)> of(args, whole.begin, first_entry, count);
    if constexpr (Rest > 0)
      return take_tiled<S, TB, V, L, G, U, CF, Rest>(args, part, of, lane, first);
    // Of indexed sums a lane ends with W columns of a pack.
    constexpr int parts = is_indexed<typename S::accum> ? (G / L < V ? G / L : V) : 1;
    constexpr int W = V / parts, holders = L * parts;
    typename S::accum sum[CF][W];
    const index at = first + gather<S, TB, V, L, G, U, CF>(args, i, of, lane, first, sum);
    if (lane >= holders) return;
    if (!is_piece) return write_tile<S, W, holders, CF, Plain>(args, i, at, of.count, sum);
    // By what is kept for the store: `number`, `tile` and `lane` took a register each, or a store
    // and a load of every lane (road-like, f = 32, arg-max: 0.233 ms, 0.251).
    const unsigned of_piece = block * groups + threadIdx.x / G;
    const auto column = static_cast<unsigned>(at);
    constexpr unsigned tile_columns = L * V * CF;
    if (is_last_piece<S, W, holders, G, CF, false>(args, of_piece, column / tile_columns,
                                                   column % tile_columns == 0, at, sum))
      add_pieces<S, W, holders, CF, Plain, false>(args, args.pieces[number].cut_row, at);
  }
}

/// A's values as the semiring's left type, in the order of its entries: where they are stored
/// otherwise, a pass of its own keeps the loops over them free of questions. `out` takes the place
/// of C. Four that are only out of order are in flight: reddit-like 0.98 ms, one at a time 1.2.
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
