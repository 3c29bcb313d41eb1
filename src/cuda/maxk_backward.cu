// maxk_backward (sparse × dense under a cbsr): k sums a row, in registers; or by panels.
//
// A warp takes a row, or a piece of one that was cut; an entry of A gathers k numbers of a row of
// B, or all of a narrow one where k is half of them or more. Fixed order: same bits. The transpose
// that training asks for is A's form. Where few of the columns are kept, or rows share neighbours,
// maxk_panels.cu makes fewer reads of more sums. Source: MaxK-GNN (Peng et al., ASPLOS 2024), whose
// kernel is an outer product by atomics, one row of B at a time. O(nnz · k); scratch: piece_count ·
// k accumulators, of whole rows at most twice that. Measured: docs/measured.md, suite maxk.

#include "kept.cuh"

namespace rig::on_cuda {

/// C(i, p) = ⊕_k A(i,k) ⊗ B(k, column(i,p)) for the stored places of a cbsr, L · E of them a block
/// of the grid's y; `columns` of the arguments is k then. Eight loads in flight: reddit-like, k =
/// 32: 9.86 ms, four 10.2 (the program marked * in docs/notes/maxk.md).
template <class S, class TB, class Index, int L, int E>
__global__ void __launch_bounds__(128) maxk_backward(const __grid_constant__ arguments args) {
  using accum = typename S::accum;
  using right = typename S::right;
  constexpr int teams = 32 / L, in_flight = 8 / E;
  row_part part;
  if (!part.take(args)) return;
  const int lane = static_cast<int>(threadIdx.x) % 32, team = lane / L;
  const index first = static_cast<index>(blockIdx.y) * (L * E) + lane % L;
  const auto* const columns =
      static_cast<const Index*>(args.kept) + static_cast<int64>(part.row) * args.k;
  [[maybe_unused]] const char* b[E];
  accum sum[E];
#pragma unroll
  for (int e = 0; e < E; ++e) {
    const index p = first + e * L;
    b[e] = reinterpret_cast<const char*>(static_cast<const TB*>(args.b) +
                                         (p < args.k ? columns[p] : 0));
    sum[e] = S::zero();
  }
  for (unsigned base = 0; base < part.count; base += 32) {
    entry_window<S> window;
    window.load(args, part, base, lane);
    const unsigned slots = part.count - base < 32 ? part.count - base : 32;
    for (unsigned slot = 0; slot < slots; slot += teams * in_flight) {
      index k[in_flight];
      typename S::left a[in_flight];
      [[maybe_unused]] TB values[in_flight][E];
#pragma unroll
      for (int u = 0; u < in_flight; ++u) {
        const unsigned s = slot + static_cast<unsigned>(u * teams + team);
        k[u] = __shfl_sync(0xffffffffu, window.k, static_cast<int>(s % 32));
        if constexpr (!is_ignoring_left<S>)
          a[u] = shuffle_from(0xffffffffu, window.a, static_cast<int>(s % 32));
        if constexpr (!is_ignoring_right<S>)
          if (s < slots)
#pragma unroll
            for (int e = 0; e < E; ++e)
              values[u][e] = load_pack<TB, 1>(at_row<TB>(b[e], k[u], args.b_row_bytes)).element[0];
      }
#pragma unroll
      for (int u = 0; u < in_flight; ++u) {
        if (slot + static_cast<unsigned>(u * teams + team) >= slots) continue;
#pragma unroll
        for (int e = 0; e < E; ++e) {
          right value = right();
          if constexpr (!is_ignoring_right<S>) value = convert<right>(values[u][e]);
          sum[e] = S::add(sum[e], product<S>(a[u], value, position{part.row, k[u]}));
        }
      }
    }
  }
  if constexpr (teams > 1)
#pragma unroll
    for (int distance = L; distance < 32; distance *= 2)
#pragma unroll
      for (int e = 0; e < E; ++e)
        sum[e] = S::add(sum[e], shuffle_xor(0xffffffffu, sum[e], distance));
  if (part.is_piece) {
    auto* const piece_sums = static_cast<accum*>(args.piece_sums);
    for (int e = 0; e < E; ++e)
      if (team == 0 && first + e * L < args.k)
        piece_sums[static_cast<int64>(part.number) * args.k + first + e * L] = sum[e];
    cut_row of;
    if (!part.is_last(args, lane, of)) return;
    for (int e = 0; e < E; ++e) {
      if (first + e * L >= args.k) continue;
      const accum* const at =
          piece_sums + static_cast<int64>(of.first_piece) * args.k + first + e * L;
      sum[e] = load_written(at);
#pragma unroll 4
      for (int32 q = 1; q < of.count; ++q)
        sum[e] = S::add(sum[e], load_written(at + static_cast<int64>(q) * args.k));
    }
  }
  if (team > 0) return;
  for (int e = 0; e < E; ++e)
    if (first + e * L < args.k) write_any<S>(args, part.row, first + e * L, sum[e], part.whole);
}

/// The sums of `maxk_backward` of all columns, a pack a lane: where a cbsr keeps so many that most
/// sectors of a row of B are read anyway. The places kept are picked at the end. Blocks are asked
/// for so that floats fit in 48 registers, and sums of eight bytes in 64; others were not measured.
template <class S, class TB, class Index, int V>
__global__ void __launch_bounds__(128, sizeof(typename S::accum) > 4 ? 8 : 10)
    maxk_backward_whole(const __grid_constant__ arguments args) {
  using accum = typename S::accum;
  row_part part;
  if (!part.take(args)) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const index first = lane * V;
  accum sum[1][V];
  gather<S, TB, V, 32, 32, 4, 1>(
      args, part.row, entry_range<S, true>(args, part.begin, 0, part.count), lane, first, sum);
  if (part.is_piece) {
    auto* const sums = static_cast<accum*>(args.piece_sums) + first;
    const bool is_column = first < args.columns;  // of whole packs
    for (int v = 0; v < V; ++v)
      if (is_column) sums[static_cast<int64>(part.number) * args.columns + v] = sum[0][v];
    cut_row of;
    if (!part.is_last(args, lane, of)) return;
    for (int v = 0; v < V; ++v) {
      if (!is_column) continue;
      const accum* const at = sums + static_cast<int64>(of.first_piece) * args.columns + v;
      sum[0][v] = load_written(at);
#pragma unroll 4
      for (int32 q = 1; q < of.count; ++q)
        sum[0][v] = S::add(sum[0][v], load_written(at + static_cast<int64>(q) * args.columns));
    }
  }
  const auto* const columns =
      static_cast<const Index*>(args.kept) + static_cast<int64>(part.row) * args.k;
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

#ifndef __CUDACC_RTC__

#include "families.hpp"
#include "kept.hpp"
#include "launch.hpp"

namespace rig::on_cuda {
namespace {

std::string backward_expression(int shape, const std::string& semiring, const std::string& b_type) {
  const kept_shape s = shape_of(shape);
  return kept_expression("maxk_backward", shape, semiring, b_type) + std::to_string(s.l) + ", " +
         std::to_string(s.v) + ">";
}

std::string whole_expression(int shape, const std::string& semiring, const std::string& b_type) {
  return kept_expression("maxk_backward_whole", shape, semiring, b_type) +
         "static_cast<int>(16 / sizeof(" + b_type + "))>";
}

/// Does a row of dY keep half of the columns, and can a warp hold all of them, read in packs?
/// Milliseconds (suite maxk) of whole rows, and of the places of Y: H = 128, k = 64: reddit-like
/// 6.95, 8.18 in halves; arxiv-like 0.216, 0.251; rmat:18:16 0.546, 0.570; k = 32: 6.95, 6.60;
/// rmat:18:16 0.523, 0.490; H = 256, in two tiles, k = 64: 12.8, 12.9; arxiv-like 0.400, 0.320.
bool sums_whole_rows(const problem& p) {
  const std::size_t bytes = p.b.value_bytes, all = static_cast<std::size_t>(p.b.columns) * bytes;
  return 2 * kept_of(p) >= p.b.columns && !p.algebra->ignores_right &&
         p.algebra->right != type::other && p.algebra->accum_bytes <= 8 && bytes > 1 &&
         all % 16 == 0 && all <= 32 * 16 && is_packed(p.b.data, p.b.stride, bytes);
}

void backward_of_whole_rows(const problem& p) {
  arguments args = arguments_of(p);
  const buffer values = ordered_values(p, args);
  args.k = p.c.k;
  args.kept = p.c.indices;
  kept_shape s{};
  s.narrow = p.c.narrow;
  const void* const kernel = kernel_for(p, {"maxk_backward, whole rows", "maxk_backward.cu",
                                            number_of(s), 0, whole_expression, nullptr});
  const buffer sums =
      cut_rows(p, static_cast<std::size_t>(p.b.columns) * p.algebra->accum_bytes, 1, args);
  launch(p, "maxk_backward, whole rows", kernel, grid_for(args, most_warps, 1), 32 * most_warps,
         args);
}

void backward_by_rows(const problem& p) {
  arguments args = arguments_of(p);
  const buffer values = ordered_values(p, args);
  const int k = p.c.k;
  kept_shape s{};
  s.l = lanes_for(k);
  s.v = k > 64 ? 4 : k > 32 ? 2 : 1;
  // Half of the columns at a time, where many rows gather the same, half is still four cache lines,
  // and not all of B stays in the L2 cache: reddit-like, k = 32, 64 of 256: 11.2 ms and 13.3, at
  // once 11.8 and 14.1; 64 of 128: 9 % more than at once (suite maxk); rmat:18:16 0.80 and 0.95,
  // 0.69 and 0.90 (the program marked * in docs/notes/maxk.md).
  const double table_bytes = static_cast<double>(p.b.rows) * p.b.columns * p.b.value_bytes;
  if (k > 16 && k == s.l * s.v && p.a.nnz >= 100 * static_cast<int64>(p.a.rows) &&
      p.b.columns * p.b.value_bytes >= 1024 && table_bytes > 60e6)
    (s.v > 1 ? s.v : s.l) /= 2;
  s.narrow = p.c.narrow;
  args.k = args.columns = k;
  args.kept = p.c.indices;
  const index tiles = tiles_of(k, s);
  const void* const kernel = kernel_for(
      p, {"maxk_backward", "maxk_backward.cu", number_of(s), 0, backward_expression, nullptr});
  const buffer sums =
      cut_rows(p, static_cast<std::size_t>(k) * p.algebra->accum_bytes, tiles, args);
  launch(p, "maxk_backward", kernel, grid_for(args, most_warps, tiles), 32 * most_warps, args);
}

}  // namespace

answer maxk_backward_answer(const problem& p) {
  answer out = kept_answer(rig::maxk_backward_answer(p), p);
  if (p.reasons && out.says != verdict::cannot)
    out.reason += takes_panels(p)      ? adds_by_atomics(p) ? ", by panels, added by atomics"
                                                            : ", by panels if their sums fit"
                  : sums_whole_rows(p) ? ", picked of whole sums"
                                       : "";
  return out;
}

void maxk_backward_run(const problem& p) {
  if (takes_panels(p) && p.a.rows > 0 && run_by_panels(p)) return;
  sums_whole_rows(p) ? backward_of_whole_rows(p) : backward_by_rows(p);
}

}  // namespace rig::on_cuda

#endif
