// maxk_backward (sparse × dense under a cbsr): k sums a row, in registers.
//
// A warp takes a row, or a piece of one that was cut; an entry of A gathers k numbers of a row of
// B, or all of a narrow one where k is half of them or more. The transpose that training asks for
// is A's form, so no two rows add to one place; pieces of `split` are added in their order; no
// atomics on floats: same bits. Where the caller allows other bits each time, and the semiring is
// linear in floats, `maxk_outer`: A's rows as they are stored, each number added by an atomic.
// Source: MaxK-GNN (Peng et al., ASPLOS 2024), an outer product by atomics. O(nnz · k); piece_count
// · k accumulators of scratch; of whole rows at most twice that. Measured: docs/measured.md, suite
// maxk.

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

/// sums(i, p) += A(k,i) ⊗ B(k, column(i,p)): a warp takes a row k of A as it is stored, has that
/// row of B in shared memory, and adds to the rows of its entries by atomics, in any order. `c` of
/// the arguments are the sums, floats that are 0 before; L lanes take an entry,
/// E numbers each at a time, and Whole: these are all. Held to 40 registers: reddit-like, k = 32:
/// 5.04 ms, with 80 8.24 (suite maxk); four entries in flight: 4.81, eight 4.85 (the program marked
/// * in docs/notes/maxk.md).
template <class S, class TB, class Index, int L, int E, bool Whole>
__global__ void __launch_bounds__(128, E == 1 ? 12 : 8)
    maxk_outer(const __grid_constant__ arguments args) {
  using right = typename S::right;
  constexpr unsigned teams = 32 / L, in_flight = 4;
  extern __shared__ __align__(16) unsigned char shared[];
  row_part part;
  if (!part.take(args)) return;
  const int lane = static_cast<int>(threadIdx.x) % 32, team = lane / L;
  auto* const row =
      reinterpret_cast<right*>(shared) + threadIdx.x / 32 * static_cast<unsigned>(args.columns);
  if constexpr (!is_ignoring_right<S>) {
    const auto* const from =
        at_row<TB>(static_cast<const char*>(args.b), part.row, args.b_row_bytes);
    for (index j = lane; j < args.columns; j += 32) row[j] = convert<right>(from[j]);
    __syncwarp();
  }
  const auto* const kept = static_cast<const char*>(args.kept);
  const unsigned kept_bytes = static_cast<unsigned>(args.k) * sizeof(Index),
                 sum_bytes = static_cast<unsigned>(args.k) * sizeof(float);
  for (unsigned base = 0; base < part.count; base += 32) {
    entry_window<S> window;
    window.load(args, part, base, lane);
    const unsigned slots = part.count - base < 32 ? part.count - base : 32;
    for (unsigned slot = 0; slot < slots; slot += teams * in_flight) {
      index i[in_flight];
      typename S::left a[in_flight];
#pragma unroll
      for (unsigned u = 0; u < in_flight; ++u) {
        const unsigned s = slot + u * teams + static_cast<unsigned>(team);
        i[u] = __shfl_sync(0xffffffffu, window.k, static_cast<int>(s % 32));
        if constexpr (!is_ignoring_left<S>)
          a[u] = shuffle_from(0xffffffffu, window.a, static_cast<int>(s % 32));
      }
      for (int p = lane % L; Whole ? p == lane % L : p < args.k; p += L * E) {
        Index at[in_flight][E];
#pragma unroll
        for (unsigned u = 0; u < in_flight; ++u)
#pragma unroll
          for (int e = 0; e < E; ++e)
            if (slot + u * teams + static_cast<unsigned>(team) < slots && p + e * L < args.k)
              at[u][e] =
                  load_pack<Index, 1>(at_row<Index>(kept, i[u], kept_bytes) + p + e * L).element[0];
#pragma unroll
        for (unsigned u = 0; u < in_flight; ++u)
#pragma unroll
          for (int e = 0; e < E; ++e) {
            if (slot + u * teams + static_cast<unsigned>(team) >= slots || p + e * L >= args.k)
              continue;
            right value = right();
            if constexpr (!is_ignoring_right<S>) value = row[at[u][e]];
            auto* const to = const_cast<float*>(
                at_row<float>(static_cast<const char*>(args.c), i[u], sum_bytes) + p + e * L);
            asm volatile("red.global.add.f32 [%0], %1;"
                         :
                         : "l"(to), "f"(product<S>(a[u], value, position{i[u], part.row}))
                         : "memory");
          }
      }
    }
  }
}

/// C from the sums that `maxk_outer` left in `piece_sums`.
template <class S>
__global__ void __launch_bounds__(128) maxk_finish(const __grid_constant__ arguments args) {
  const int64 count = static_cast<int64>(args.rows) * args.k;
  for (int64 at = static_cast<int64>(blockIdx.x) * 128 + threadIdx.x; at < count;
       at += static_cast<int64>(gridDim.x) * 128) {
    const auto row = static_cast<index>(at / args.k);
    write_any<S>(args, row, static_cast<index>(at % args.k),
                 static_cast<const typename S::accum*>(args.piece_sums)[at],
                 args.offset(row + 1) - args.offset(row));
  }
}

}  // namespace rig::on_cuda

#ifndef __CUDACC_RTC__

#include <cstring>

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
std::string outer_expression(int shape, const std::string& semiring, const std::string& b_type) {
  const kept_shape s = shape_of(shape);
  return kept_expression("maxk_outer", shape, semiring, b_type) + std::to_string(s.l) + ", " +
         std::to_string(s.v) + ", " + in_words(s.whole) + ">";
}
std::string finish_expression(int, const std::string& semiring, const std::string&) {
  return "rig::on_cuda::maxk_finish<" + semiring + ">";
}

/// Warps whose rows of B fit shared memory together, for `maxk_outer`; 0 where it does not serve.
unsigned outer_warps(const problem& p) {
  if (p.desc->reproducible || !p.desc->transpose_a || !p.algebra->linear_in_floats) return 0;
  unsigned warps = most_warps;
  while (warps * static_cast<std::size_t>(p.b.columns) * p.algebra->right_bytes > most_shared_bytes)
    warps /= 2;
  return warps;
}

void backward_by_atomics(const problem& p, unsigned warps) {
  // A as it is stored: no values to reorder, and its rows are those of B.
  problem q = p;
  q.a.rows = p.a.columns;
  q.a.columns = p.a.rows;
  q.a.offsets = p.structure->offsets();
  q.a.entries = p.structure->entries();
  q.a.wide = p.structure->wide();
  q.a.permutation = nullptr;
  q.oriented = p.structure;
  q.look = nullptr;
  arguments outer = arguments_of(q), finish = arguments_of(p);
  const buffer values = ordered_values(q, outer);
  outer.k = finish.k = finish.columns = p.c.k;
  outer.kept = p.c.indices;
  kept_shape s{};
  s.l = lanes_for(p.c.k);
  s.v = p.c.k > 32 ? 2 : 1;
  s.whole = p.c.k <= s.l * s.v;
  s.narrow = p.c.narrow;
  const void* const add =
      kernel_for(p, {"maxk_outer", "maxk_backward.cu", number_of(s), 0, outer_expression, nullptr});
  // Where C holds floats, and places without products are 0 as all sums begin, nothing is left to
  // do.
  static constexpr float nothing = 0;
  const bool in_place = p.c.value_type == type::float32 && !p.algebra->has_finish &&
                        std::memcmp(finish.fill.bytes, &nothing, sizeof(nothing)) == 0;
  const auto count = static_cast<std::size_t>(p.a.rows) * static_cast<std::size_t>(p.c.k);
  const void* write = nullptr;
  buffer apart;
  if (!in_place) {
    write = kernel_for(p, {"maxk_finish", "maxk_backward.cu", 0, 0, finish_expression, nullptr});
    apart = buffer::allocate(count * sizeof(float), p.a.where, p.desc->stream);
  }
  outer.c = finish.piece_sums = in_place ? p.c.data : apart.data();
  const auto lists = q.oriented->form_of<row_lists>();
  p.held_lists = lists;
  // Rows of dC are read once: little is lost by length (suite maxk, before and after: arxiv-like, H
  // = 128, k = 16, 32: 0.115, 0.166 ms; 0.109, 0.150; but H = 256, k = 8: 0.100; 0.110).
  outer.order = lists->by_length;
  set_pieces(*lists, outer);  // which leave no sums
  check(cudaMemsetAsync(outer.c, 0, count * sizeof(float), stream_of(p)), "maxk_outer");
  if (q.a.rows > 0)
    launch(p, "maxk_outer", add, grid_for(outer, warps, 1), 32 * warps, outer,
           warps * static_cast<std::size_t>(p.b.columns) * p.algebra->right_bytes);
  if (in_place) return;
  const std::size_t blocks = (count + 127) / 128;
  launch(p, "maxk_finish", write, dim3(static_cast<unsigned>(blocks < 65536 ? blocks : 65536)), 128,
         finish);
}

/// Does a row of dY keep half of the columns, and can a warp hold all of them, read in packs?
/// Milliseconds (suite maxk) of whole rows, and of the places of Y: H = 128, k = 64: reddit-like
/// 6.95, 8.18 in halves; arxiv-like 0.216, 0.251; rmat:18:16 0.546, 0.570; k = 32: 6.95, 6.60;
/// rmat:18:16 0.523, 0.490; H = 256, in two tiles, k = 64: 12.8, 12.9; arxiv-like 0.400, 0.320.
bool sums_whole_rows(const problem& p) {
  const std::size_t bytes = p.b.value_bytes, all = static_cast<std::size_t>(p.b.columns) * bytes;
  return 2 * p.c.k >= p.b.columns && !p.algebra->ignores_right && p.algebra->right != type::other &&
         p.algebra->accum_bytes <= 8 && bytes > 1 && all % 16 == 0 && all <= 32 * 16 &&
         is_packed(p.b.data, p.b.stride, bytes);
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
  const index tiles = (k + s.l * s.v - 1) / (s.l * s.v);
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
    out.reason += outer_warps(p) > 0   ? ", added by atomics"
                  : sums_whole_rows(p) ? ", picked of whole sums"
                                       : "";
  return out;
}

void maxk_backward_run(const problem& p) {
  if (const unsigned warps = outer_warps(p); warps > 0) return backward_by_atomics(p, warps);
  sums_whole_rows(p) ? backward_of_whole_rows(p) : backward_by_rows(p);
}

}  // namespace rig::on_cuda

#endif
