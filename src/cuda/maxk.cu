// maxk, maxk_backward: products with a matrix that has k entries in each row.
//
// maxk (forward, sparse × cbsr): a warp takes a row, or a piece of one that was cut, and holds its
// sums, a tile of columns at a time, in shared memory, one set a team of lanes: an entry of A adds
// k numbers to it, at columns that differ. It reads 5·k bytes an entry (fp32, f ≤ 256), not 4·f.
// maxk_backward (sparse × dense under a cbsr): k sums a row, in registers; an entry of A gathers k
// numbers of a row of B. The transpose that training asks for is A's form, so no two rows add to
// one place. Both: pieces of `split`, added in their order; no atomics on floats: same bits. Where
// the caller allows other bits each time, and a sum of floats is asked for: maxk_outer, A's rows as
// they are stored, each number added by an atomic.
// Source: MaxK-GNN (Peng et al., ASPLOS 2024), whose kernels add by atomics. O(nnz · k + rows · f);
// piece_count · f accumulators of scratch. Measured: docs/measured.md, suite maxk.

#include "gather.cuh"

namespace rig::on_cuda {

/// The part of a row that a warp takes.
struct row_part {
  index row;
  int64 begin;      ///< its first entry
  unsigned count;   ///< its entries
  int64 whole;      ///< entries of the row
  unsigned number;  ///< of the piece
  bool is_piece;

  /// Warps go through the pieces of rows that were cut, then through all rows. False: nothing is
  /// left for this warp.
  __device__ bool take(const arguments& args) {
    const unsigned part = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const auto pieces = static_cast<unsigned>(args.piece_count);
    is_piece = part < pieces;
    number = is_piece ? part : part - pieces;
    if (!is_piece && number >= static_cast<unsigned>(args.rows)) return false;
    row = is_piece                ? args.pieces[number].row
          : args.order != nullptr ? args.order[number]
                                  : static_cast<index>(number);
    begin = args.offset(row);
    whole = args.offset(row + 1) - begin;
    const int64 first = is_piece ? args.pieces[number].number * args.cut : 0;
    begin += first;
    int64 mine = whole - first;
    if (args.cut > 0 && mine > args.cut) {
      if (!is_piece) return false;
      mine = args.cut;
    }
    count = static_cast<unsigned>(mine);
    return true;
  }

  /// What all pieces of the row left is there: true for the warp of the one that is done last.
  __device__ bool is_last(const arguments& args, int lane, cut_row& of) const {
    const int32 cut_row_number = args.pieces[number].cut_row;
    of = args.cut_rows[cut_row_number];
    unsigned* const arrived =
        args.arrived + static_cast<int64>(blockIdx.y) * args.cut_count + cut_row_number;
    return arrive(arrived, of.count, 0xffffffffu, 0, lane == 0);
  }
};

/// The next 32 entries of a part, one a lane.
template <class S>
struct entry_window {
  index k = 0;
  typename S::left a = typename S::left();

  __device__ void load(const arguments& args, const row_part& of, unsigned first, int lane) {
    const unsigned e = first + static_cast<unsigned>(lane);
    if (e >= of.count) return;
    k = __ldg(args.entries + of.begin + e);
    if constexpr (!is_ignoring_left<S>)
      a = args.a_values != nullptr
              ? static_cast<const typename S::left*>(args.a_values)[of.begin + e]
              : *reinterpret_cast<const typename S::left*>(args.iso.bytes);
  }
};

/// V neighbouring columns of a cbsr, read at once.
template <class Index, int V>
struct alignas(sizeof(Index) * V) kept_columns {
  Index at[V];
};

/// Accumulators of neighbouring columns, moved at once.
template <class S>
inline constexpr int chunk = is_storage<typename S::accum>
                                 ? static_cast<int>(16 / sizeof(typename S::accum))
                                 : 1;
template <class S>
struct alignas(is_storage<typename S::accum> ? 16 : alignof(typename S::accum)) sum_chunk {
  typename S::accum of[chunk<S>];
};

/// Sums of a chunk of columns, and which of them have products, to C.
template <class S, bool Tells, bool Plain>
__device__ __forceinline__ void write_chunk(const arguments& args, index row, index column, int64 n,
                                            const sum_chunk<S>& sums,
                                            const bool (&marked)[chunk<S>]) {
  if constexpr (Plain && !Tells) {
    const typename S::accum(&sum)[1][chunk<S>] =
        reinterpret_cast<const typename S::accum(&)[1][chunk<S>]>(sums.of);
    write_tile<S, chunk<S>, 32, 1, true>(args, row, column, n, sum);
  } else {
    for (int v = 0; v < chunk<S>; ++v)
      if (column + v < args.columns)
        write_any<S>(args, row, column + v, sums.of[v], !Tells || marked[v] ? n : 0);
  }
}

/// C(i, tile) from the sums of its pieces, added in their order. A function of its own: it is rare,
/// and would cost every row registers.
template <class S, bool Tells, bool Plain>
__device__ __noinline__ void add_pieces_of_tile(const arguments& args, const cut_row& of, int64 n,
                                                index first, unsigned end, int lane) {
  constexpr unsigned many = chunk<S>;
  const auto* const piece_sums = static_cast<const typename S::accum*>(args.piece_sums);
  [[maybe_unused]] const auto* const piece_marks = reinterpret_cast<const unsigned char*>(
      piece_sums + static_cast<int64>(args.piece_count) * args.columns);
  for (unsigned j = static_cast<unsigned>(lane) * many; j < end; j += 32 * many) {
    sum_chunk<S> sum;
    bool marked[many] = {};
    for (unsigned v = 0; v < many; ++v) {
      if (j + v >= end) continue;
      const int64 at = static_cast<int64>(of.first_piece) * args.columns + first + j + v;
      sum.of[v] = load_written(piece_sums + at);
#pragma unroll 4
      for (int32 q = 1; q < of.count; ++q)
        sum.of[v] =
            S::add(sum.of[v], load_written(piece_sums + at + static_cast<int64>(q) * args.columns));
      if constexpr (Tells)
        for (int32 q = 0; q < of.count && !marked[v]; ++q)
          marked[v] = load_written(piece_marks + at + static_cast<int64>(q) * args.columns) != 0;
    }
    write_chunk<S, Tells, Plain>(args, of.row, first + static_cast<index>(j), n, sum, marked);
  }
}

/// C(i, tile) = ⊕_k A(i,k) ⊗ B(k, tile), B a cbsr. L lanes take an entry, V numbers each; the 32 /
/// L teams of a warp take every 32 / L-th. Tells: places without products are to be told from sums.
/// Whole: all columns are in the tile, and an entry's numbers in the lanes of a team.
template <class S, class TB, class Index, int V, int L, bool Tells, bool Plain, bool Whole>
__global__ void __launch_bounds__(128, Whole&& Plain && !Tells ? 10 : 1)
    maxk(const __grid_constant__ arguments args) {
  using accum = typename S::accum;
  using right = typename S::right;
  constexpr unsigned teams = 32 / L, in_flight = V == 4 ? 2 : 4, many = chunk<S>;
  extern __shared__ __align__(16) unsigned char shared[];
  const int lane = static_cast<int>(threadIdx.x) % 32, team = lane / L;
  const index first = static_cast<index>(blockIdx.y) * args.tile;
  const auto width = static_cast<unsigned>(args.tile);
  const unsigned warp_bytes = width * teams * (sizeof(accum) + (Tells ? 1 : 0));
  auto* const sums = reinterpret_cast<accum*>(shared + threadIdx.x / 32 * warp_bytes);
  [[maybe_unused]] auto* const marks = reinterpret_cast<unsigned char*>(sums + width * teams);
  {
    row_part part;
    if (!part.take(args)) return;
    sum_chunk<S> zeros;
    for (unsigned v = 0; v < many; ++v) zeros.of[v] = S::zero();
    for (unsigned j = static_cast<unsigned>(lane) * many; j < width * teams; j += 32 * many)
      *reinterpret_cast<sum_chunk<S>*>(sums + j) = zeros;
    if constexpr (Tells)
      for (unsigned j = static_cast<unsigned>(lane) * 4; j < width * teams; j += 32 * 4)
        *reinterpret_cast<unsigned*>(marks + j) = 0;
    __syncwarp();

    accum* const mine = sums + static_cast<unsigned>(team) * width;
    [[maybe_unused]] unsigned char* const marked = marks + static_cast<unsigned>(team) * width;
    const int from = lane % L * V;
    const auto* const b = reinterpret_cast<const char*>(static_cast<const TB*>(args.b) + from);
    const auto* const columns =
        reinterpret_cast<const char*>(static_cast<const Index*>(args.kept) + from);
    const unsigned b_bytes = static_cast<unsigned>(args.k) * sizeof(TB),
                   column_bytes = static_cast<unsigned>(args.k) * sizeof(Index);
    for (unsigned base = 0; base < part.count; base += 32) {
      entry_window<S> window;
      window.load(args, part, base, lane);
      const unsigned slots = part.count - base < 32 ? part.count - base : 32;
      for (unsigned slot = 0; slot < slots; slot += teams * in_flight)
        for (int p = 0; Whole ? p == 0 : p < args.k; p += V * L) {
          index k[in_flight];
          typename S::left a[in_flight];
          bool there[in_flight];
          [[maybe_unused]] pack<TB, V> values[in_flight];
          kept_columns<Index, V> at[in_flight];
#pragma unroll
          for (unsigned u = 0; u < in_flight; ++u) {
            const unsigned s = slot + u * teams + static_cast<unsigned>(team);
            k[u] = __shfl_sync(0xffffffffu, window.k, static_cast<int>(s % 32));
            if constexpr (!is_ignoring_left<S>)
              a[u] = shuffle_from(0xffffffffu, window.a, static_cast<int>(s % 32));
            there[u] = s < slots && p + from < args.k;
            if (!there[u]) continue;
            if constexpr (!is_ignoring_right<S>)
              values[u] = load_pack<TB, V>(at_row<TB>(b, k[u], b_bytes) + p);
            at[u] = *reinterpret_cast<const kept_columns<Index, V>*>(
                at_row<Index>(columns, k[u], column_bytes) + p);
          }
#pragma unroll
          for (unsigned u = 0; u < in_flight; ++u) {
            if (there[u]) {
              accum sum[V];
              bool here[V];
              unsigned j[V];
#pragma unroll
              for (int v = 0; v < V; ++v) {
                j[v] = at[u].at[v] - (Whole ? 0u : static_cast<unsigned>(first));
                here[v] = Whole || j[v] < width;
                if (here[v]) sum[v] = mine[j[v]];
              }
#pragma unroll
              for (int v = 0; v < V; ++v) {
                if (!here[v]) continue;
                right value = right();
                if constexpr (!is_ignoring_right<S>) value = convert<right>(values[u].element[v]);
                mine[j[v]] = S::add(sum[v], product<S>(a[u], value, position{part.row, k[u]}));
                if constexpr (Tells) marked[j[v]] = 1;
              }
            }
            __syncwarp();  // other lanes of the team may add to the same columns next
          }
        }
    }
  }

  // What the teams have, in their order. The part is found again, rather than kept in registers
  // meanwhile.
  row_part part;
  part.take(args);
  const unsigned rest = static_cast<unsigned>(args.columns - first);
  const unsigned end = rest < width ? rest : width;
  auto* const piece_sums = static_cast<accum*>(args.piece_sums);
  [[maybe_unused]] auto* const piece_marks = reinterpret_cast<unsigned char*>(
      piece_sums + static_cast<int64>(args.piece_count) * args.columns);
  const int64 piece_at = static_cast<int64>(part.number) * args.columns + first;
  for (unsigned j = static_cast<unsigned>(lane) * many; j < end; j += 32 * many) {
    sum_chunk<S> sum = *reinterpret_cast<const sum_chunk<S>*>(sums + j);
    bool marked[many] = {};
    for (unsigned t = 1; t < teams; ++t) {
      const auto& other = *reinterpret_cast<const sum_chunk<S>*>(sums + t * width + j);
#pragma unroll
      for (unsigned v = 0; v < many; ++v) sum.of[v] = S::add(sum.of[v], other.of[v]);
    }
    if constexpr (Tells)
      for (unsigned t = 0; t < teams; ++t)
        for (unsigned v = 0; v < many; ++v) marked[v] = marked[v] || marks[t * width + j + v] != 0;
    if (!part.is_piece) {
      write_chunk<S, Tells, Plain>(args, part.row, first + static_cast<index>(j), part.whole, sum,
                                   marked);
      continue;
    }
    for (unsigned v = 0; v < many; ++v)
      if (j + v < end) {
        piece_sums[piece_at + j + v] = sum.of[v];
        if constexpr (Tells) piece_marks[piece_at + j + v] = marked[v];
      }
  }
  if (part.is_piece) {
    cut_row of;
    if (part.is_last(args, lane, of))
      add_pieces_of_tile<S, Tells, Plain>(args, of, part.whole, first, end, lane);
  }
}

/// C(i, p) = ⊕_k A(i,k) ⊗ B(k, column(i,p)) for the stored places of a cbsr, L · E of them a block
/// of the grid's y; `columns` of the arguments is k then.
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

/// sums(i, p) += A(k,i) ⊗ B(k, column(i,p)): a warp takes a row k of A as it is stored, has that
/// row of B in shared memory, and adds to the rows of its entries by atomics, in any order. `c` of
/// the arguments are the sums, floats that are 0 before; L lanes take an entry.
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
#include "launch.hpp"
#include "profile.hpp"

namespace rig::on_cuda {
namespace {

/// Shared memory that a block may have without being asked.
constexpr std::size_t most_shared_bytes = 48 * 1024;
constexpr unsigned most_warps = 4;
constexpr std::size_t most_accum_bytes = 64;
/// Tiles begin on packs of C.
constexpr index tile_unit = 128;

/// A launch shape: of `maxk` V, L and how C is written; of `maxk_backward` L and E.
struct kept_shape {
  int v, l;
  bool narrow, tells, plain, whole;
};
int number_of(const kept_shape& s) {
  return (s.v * 64 + s.l) * 16 + s.narrow * 8 + s.tells * 4 + s.plain * 2 + s.whole;
}
kept_shape shape_of(int n) {
  return {n / 1024, n / 16 % 64, (n & 8) != 0, (n & 4) != 0, (n & 2) != 0, (n & 1) != 0};
}
std::string expression(const char* kernel, int shape, const std::string& semiring,
                       const std::string& b_type) {
  const kept_shape s = shape_of(shape);
  return std::string("rig::on_cuda::") + kernel + "<" + semiring + ", " + b_type + ", " +
         (s.narrow ? "unsigned char, " : "unsigned short, ");
}
const char* in_words(bool x) { return x ? "true" : "false"; }

std::string forward_expression(int shape, const std::string& semiring, const std::string& b_type) {
  const kept_shape s = shape_of(shape);
  return expression("maxk", shape, semiring, b_type) + std::to_string(s.v) + ", " +
         std::to_string(s.l) + ", " + in_words(s.tells) + ", " + in_words(s.plain) + ", " +
         in_words(s.whole) + ">";
}
std::string backward_expression(int shape, const std::string& semiring, const std::string& b_type) {
  const kept_shape s = shape_of(shape);
  return expression("maxk_backward", shape, semiring, b_type) + std::to_string(s.l) + ", " +
         std::to_string(s.v) + ">";
}

std::string outer_expression(int shape, const std::string& semiring, const std::string& b_type) {
  const kept_shape s = shape_of(shape);
  return expression("maxk_outer", shape, semiring, b_type) + std::to_string(s.l) + ", " +
         std::to_string(s.v) + ", " + in_words(s.whole) + ">";
}
std::string finish_expression(int, const std::string& semiring, const std::string&) {
  return "rig::on_cuda::maxk_finish<" + semiring + ">";
}

/// Lanes that k / v packs keep busy, at least 8: a warp has at most four sets of sums.
int lanes_for(int packs) { return packs <= 8 ? 8 : packs <= 16 ? 16 : 32; }

/// Milliseconds on an H200, h = 256, of V and L, beside the next best: k = 16: reddit-like 2.65
/// (V = 4, L = 8, an eighth of them idle: 2.86), arxiv-like 0.137 (0.20); k = 32: reddit-like 4.36
/// (V = 2, L = 16: 4.38), products-like 6.11 (6.45); k = 64: reddit-like 7.92 (V = 2, L =
/// 32: 8.20).
kept_shape forward_shape(const problem& p) {
  const int k = p.b.k;
  const std::size_t index_bytes = p.b.narrow ? 1 : 2;
  const auto in_packs = [&](int v) {
    const auto many = static_cast<std::size_t>(v);
    return k % v == 0 && many * p.b.value_bytes <= 16 &&
           is_packed(p.b.data, k, p.b.value_bytes, many * p.b.value_bytes) &&
           is_packed(p.b.indices, k, index_bytes, many * index_bytes);
  };
  kept_shape s;
  s.v = k >= 32 && in_packs(4) ? 4 : k >= 16 && in_packs(2) ? 2 : 1;
  s.l = lanes_for(k / s.v);
  s.narrow = p.b.narrow;
  s.plain = is_plain(p);
  s.tells = p.algebra->tells_absent(p);
  return s;
}

/// Bytes a warp holds for a column.
std::size_t column_bytes(const problem& p, const kept_shape& s) {
  return static_cast<std::size_t>(32 / s.l) * (p.algebra->accum_bytes + (s.tells ? 1 : 0));
}

/// Parts of rows, `tiles` times over, by warps.
dim3 grid_for(const arguments& args, unsigned warps, index tiles) {
  const int64 parts = static_cast<int64>(args.piece_count) + args.rows;
  return {static_cast<unsigned>((parts + warps - 1) / warps), static_cast<unsigned>(tiles)};
}

/// Cuts rows as `split` does.
std::shared_ptr<const row_lists> cut_rows(const problem& p, arguments& args) {
  auto lists = p.oriented->form_of<row_lists>();
  if (order_helps(p, look_of(p))) args.order = lists->by_length;
  args.cut = lists->cut;
  args.pieces = lists->pieces;
  args.piece_count = lists->piece_count;
  args.cut_rows = lists->cut_rows;
  args.cut_count = lists->cut_count;
  p.held_lists = lists;
  return lists;
}

/// The same, with room for the sums of pieces, `bytes` each, to be kept until the launch.
buffer cut_rows(const problem& p, std::size_t bytes, index tiles, arguments& args) {
  const auto lists = cut_rows(p, args);
  if (lists->piece_count == 0) return {};
  buffer sums = scratch_for(
      p, *lists, static_cast<std::size_t>(lists->piece_count) * bytes,
      static_cast<std::size_t>(lists->cut_count) * static_cast<std::size_t>(tiles), args);
  args.piece_sums = sums.data();
  return sums;
}

answer with_estimate(answer out, const problem& p, double c_columns) {
  if (out.says == verdict::cannot) return out;
  if (const char* why = no_kernel_because(p)) {
    out.says = verdict::cannot;
    if (p.reasons) out.reason = why;
    return out;
  }
  constexpr double bytes_a_second = 4e12, launch_seconds = 3e-6;
  const double k = kept_of(p), b_bytes = static_cast<double>(p.b.value_bytes) + 1;
  out.seconds = launch_seconds +
                (static_cast<double>(p.a.nnz) * (8 + k * b_bytes) +
                 static_cast<double>(p.a.rows) * c_columns * static_cast<double>(p.c.value_bytes)) /
                    bytes_a_second;
  return out;
}

void forward(const problem& p) {
  const device_scope scope(p.a.where.device);
  arguments args = arguments_of(p);
  const buffer values = ordered_values(p, args);
  kept_shape s = forward_shape(p);
  const index all = (p.b.columns + tile_unit - 1) / tile_unit * tile_unit;
  // Every tile reads all of A and B again: rather fewer teams than more tiles.
  while (s.l < 32 && static_cast<std::size_t>(all) * column_bytes(p, s) > most_shared_bytes)
    s.l *= 2;
  args.k = p.b.k;
  args.kept = p.b.indices;
  const std::size_t a_column = column_bytes(p, s);
  const auto most = static_cast<index>(most_shared_bytes / a_column) / tile_unit * tile_unit;
  args.tile = all < most ? all : most;
  const index tiles = (p.b.columns + args.tile - 1) / args.tile;
  s.whole = tiles == 1 && args.k <= s.v * s.l;
  const std::size_t a_warp = static_cast<std::size_t>(args.tile) * a_column;
  unsigned warps = most_warps;
  while (warps * a_warp > most_shared_bytes) warps /= 2;
  const std::size_t width = 16 / p.algebra->accum_bytes;
  args.c_packed = width > 0 && static_cast<std::size_t>(p.b.columns) % width == 0 &&
                  is_packed(args.c, args.c_stride, p.c.value_bytes, width * p.c.value_bytes);
  // Left to itself the driver leaves room for the sums of 28 warps, and caches that hit 8 times in
  // 100 (reddit-like, k = 8, profile).
  constexpr int shared_percent = 80;
  const void* const kernel = kernel_for(
      p, {"maxk", "maxk.cu", number_of(s), 0, forward_expression, nullptr, shared_percent});
  const buffer sums = cut_rows(
      p, static_cast<std::size_t>(p.b.columns) * (p.algebra->accum_bytes + s.tells), tiles, args);
  launch(p, "maxk", kernel, grid_for(args, warps, tiles), 32 * warps, args, warps * a_warp);
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
      kernel_for(p, {"maxk_outer", "maxk.cu", number_of(s), 0, outer_expression, nullptr});
  // Where C holds floats, and places without products are 0 as all sums begin, nothing is left to
  // do.
  static constexpr float nothing = 0;
  const bool in_place = p.c.value_type == type::float32 && !p.algebra->has_finish &&
                        std::memcmp(finish.fill.bytes, &nothing, sizeof(nothing)) == 0;
  const auto count = static_cast<std::size_t>(p.a.rows) * static_cast<std::size_t>(p.c.k);
  const void* write = nullptr;
  buffer apart;
  if (!in_place) {
    write = kernel_for(p, {"maxk_finish", "maxk.cu", 0, 0, finish_expression, nullptr});
    apart = buffer::allocate(count * sizeof(float), p.a.where, p.desc->stream);
  }
  outer.c = finish.piece_sums = in_place ? p.c.data : apart.data();
  p.held_lists = cut_rows(q, outer);
  check(cudaMemsetAsync(outer.c, 0, count * sizeof(float), stream_of(p)), "maxk_outer");
  if (q.a.rows > 0)
    launch(p, "maxk_outer", add, grid_for(outer, warps, 1), 32 * warps, outer,
           warps * static_cast<std::size_t>(p.b.columns) * p.algebra->right_bytes);
  if (in_place) return;
  const std::size_t blocks = (count + 127) / 128;
  launch(p, "maxk_finish", write, dim3(static_cast<unsigned>(blocks < 65536 ? blocks : 65536)), 128,
         finish);
}

void backward_by_rows(const problem& p) {
  arguments args = arguments_of(p);
  const buffer values = ordered_values(p, args);
  const int k = p.c.k;
  kept_shape s{};
  s.l = lanes_for(k);
  s.v = k > 64 ? 4 : k > 32 ? 2 : 1;
  s.narrow = p.c.narrow;
  args.k = args.columns = k;
  args.kept = p.c.indices;
  const index tiles = (k + s.l * s.v - 1) / (s.l * s.v);
  const void* const kernel =
      kernel_for(p, {"maxk_backward", "maxk.cu", number_of(s), 0, backward_expression, nullptr});
  const buffer sums =
      cut_rows(p, static_cast<std::size_t>(k) * p.algebra->accum_bytes, tiles, args);
  launch(p, "maxk_backward", kernel, grid_for(args, most_warps, tiles), 32 * most_warps, args);
}

}  // namespace

answer maxk_answer(const problem& p) {
  answer out = with_estimate(rig::maxk_answer(p), p, p.b.columns);
  if (out.says != verdict::cannot && p.algebra->accum_bytes > most_accum_bytes) {
    out.says = verdict::cannot;
    if (p.reasons)
      out.reason = "a sum has " + std::to_string(p.algebra->accum_bytes) +
                   " bytes, and shared memory is for sums of at most " +
                   std::to_string(most_accum_bytes);
  }
  return out;
}
void maxk_run(const problem& p) { run_with_cbsr(p, forward); }

answer maxk_backward_answer(const problem& p) {
  answer out = with_estimate(rig::maxk_backward_answer(p), p, kept_of(p));
  if (p.reasons && out.says != verdict::cannot && outer_warps(p) > 0)
    out.reason += ", added by atomics";
  return out;
}

void maxk_backward_run(const problem& p) {
  const device_scope scope(p.a.where.device);
  if (const unsigned warps = outer_warps(p); warps > 0) return backward_by_atomics(p, warps);
  backward_by_rows(p);
}

}  // namespace rig::on_cuda

#endif
