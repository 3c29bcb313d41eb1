// maxk_backward (sparse × dense under a cbsr): k sums a row, in registers.
//
// By rows: a warp takes a row, or a piece of one that was cut; an entry of A gathers k numbers of a
// row of B, or all of a narrow one where k is half of them or more. By panels: a block has some
// rows of B in shared memory and makes a sum of each row of C that has entries in them; a second
// kernel adds these. Both in a fixed order: same bits. The transpose that training asks for is A's
// form. Where the caller allows other bits each time, and the semiring is linear in floats, the
// sums of panels are added by atomics. Source: MaxK-GNN (Peng et al., ASPLOS 2024), an outer
// product by atomics, one row of B at a time. O(nnz · k); scratch: piece_count · k accumulators, of
// whole rows at most twice that; of panels k for each segment. Measured: docs/measured.md, suite
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

/// E columns in as few registers as they need, told apart when they are asked for.
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

/// What a group of lanes knows of a segment that it comes to later: of its first entries a lane
/// each one word and value, and its columns of C that are this lane's.
template <class S, class Index, int E>
struct coming_segment {
  segment of = {};
  unsigned word = 0;
  packed_columns<Index, E> columns = {};
  typename S::left a = typename S::left();
};

/// Goes on when what was loaded is there.
__device__ __forceinline__ void await(unsigned& loaded) { asm volatile("" : "+r"(loaded)); }
__device__ __forceinline__ void await(segment& loaded) {
  asm volatile("" : "+r"(loaded.row), "+r"(loaded.place), "+r"(loaded.begin), "+r"(loaded.count));
}

/// Adds E neighbouring floats to those in memory, in any order.
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

/// Two blocks a multiprocessor, as 64 registers allow; four of 256 threads, whose panels leave L1 a
/// fifth: reddit-like, k = 16, in order, 4.40 ms for 3.01 (docs/notes/maxk.md, *).
constexpr int panel_threads = 512;

/// A block has some rows of B in shared memory, and makes of their entries the sums of a unit's
/// segments: ⊕ over the rows i of a segment of A(i,j) ⊗ B(i, column(j,p)), L lanes a segment, E
/// places p a lane. They go each to a place of its own, `piece_sums`, or, Adds, to `c`, floats that
/// are 0 before, by atomics. Arguments are those of A as it is stored. While a segment is added up
/// the next two or three are on their way: first what they are, then words and columns, then
/// values.
template <class S, class TB, class Index, int L, int E, bool Packed, bool Adds>
__global__ void __launch_bounds__(panel_threads, 2)
    maxk_backward_panels(const __grid_constant__ arguments args) {
  using accum = typename S::accum;
  using left = typename S::left;
  using right = typename S::right;
  constexpr int groups = panel_threads / L, ahead = E > 4 ? 2 : 3;
  extern __shared__ __align__(16) unsigned char shared[];
  auto* const panel = reinterpret_cast<TB*>(shared);
  const panel_unit unit = args.units[blockIdx.x];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % L;
  const index first = static_cast<index>(blockIdx.y) * (L * E) + lane * E;
  const bool has_columns = first < args.k;
  const auto* const kept = static_cast<const Index*>(args.kept) + (has_columns ? first : 0);
  const auto value = [&](unsigned word) {
    const int64 p = unit.entry + (word & ((1u << panel_place_bits) - 1));
    return args.a_values != nullptr ? static_cast<const left*>(args.a_values)[p]
                                    : iso_of<left>(args);
  };
  const auto find = [&](int32 s) {
    segment out = {};
    if (s < unit.last) {
      const uint4 words = __ldcs(reinterpret_cast<const uint4*>(args.segments + s));
      memcpy(&out, &words, sizeof(out));
    }
    return out;
  };
  const auto fetch = [&](coming_segment<S, Index, E>& one) {
    if (lane < one.of.count) one.word = __ldcs(args.words + one.of.begin + lane);
    if (one.of.count > 0) one.columns.load(kept + static_cast<int64>(one.of.row) * args.k);
  };
  const auto fetch_value = [&](coming_segment<S, Index, E>& one) {
    if constexpr (!is_ignoring_left<S>)
      if (lane < one.of.count) one.a = value(one.word);
  };

  int32 s = unit.first + thread / L;
  coming_segment<S, Index, E> at[ahead + 1];
#pragma unroll
  for (int q = 0; q <= ahead; ++q) at[q].of = find(s + q * groups);
#pragma unroll
  for (int q = 0; q < ahead; ++q) fetch(at[q]);
#pragma unroll
  for (int q = 0; q < ahead - 1; ++q) fetch_value(at[q]);

  if constexpr (!is_ignoring_right<S>) {
    constexpr int V = Packed ? 16 / sizeof(TB) : 1, warps = panel_threads / 32, in_flight = 4;
    const auto* const from = static_cast<const char*>(args.b);
    for (index j = thread % 32 * V; j < args.columns; j += 32 * V)
      for (index r = thread / 32; r < unit.rows; r += warps * in_flight) {
        pack<TB, V> loaded[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
          if (const index row = r + u * warps; row < unit.rows)
            loaded[u] = stream_pack<TB, V>(at_row<TB>(from, unit.row + row, args.b_row_bytes) + j);
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
          if (const index row = r + u * warps; row < unit.rows)
            *reinterpret_cast<pack<TB, V>*>(panel + row * args.columns + j) = loaded[u];
      }
    __syncthreads();
  }

  const unsigned members = group_members<L>();
  for (; s < unit.last; s += groups) {
    // What the last turn asked for is awaited together, so that this one's loads leave together:
    // k = 16, reddit-like 2.46 ms, 2.22; rmat:18:16 0.282, 0.264 (docs/notes/maxk.md, *).
    await(at[ahead].of);
    await(at[ahead - 1].word);
    for (unsigned& some : at[ahead - 1].columns.word) await(some);
    coming_segment<S, Index, E> next;
    next.of = find(s + (ahead + 1) * groups);
    fetch(at[ahead]);
    fetch_value(at[ahead - 1]);
    const segment of = at[0].of;
    accum sum[E];
#pragma unroll
    for (int e = 0; e < E; ++e) sum[e] = S::zero();
    unsigned word = at[0].word;
    left a = at[0].a;
    for (int32 base = 0;; base += L) {
      const int32 count = of.count - base < L ? of.count - base : L;
#pragma unroll 1
      for (int32 slot = 0; slot < count; ++slot) {
        const auto row =
            static_cast<index>(__shfl_sync(members, word, slot, L) >> panel_place_bits);
        left x = left();
        if constexpr (!is_ignoring_left<S>)
          x = shuffle(a, [&](unsigned part) { return __shfl_sync(members, part, slot, L); });
        const TB* const b = panel + row * args.columns;
#pragma unroll
        for (int e = 0; e < E; ++e) {
          right y = right();
          if constexpr (!is_ignoring_right<S>) y = convert<right>(b[at[0].columns.at(e)]);
          sum[e] = S::add(sum[e], product<S>(x, y, position{of.row, unit.row + row}));
        }
      }
      if (base + L >= of.count) break;
      if (const int32 e = base + L + lane; e < of.count) {
        word = args.words[of.begin + e];
        if constexpr (!is_ignoring_left<S>) a = value(word);
      }
    }
    if (has_columns) {
      if constexpr (Adds) {
        add_floats<E>(static_cast<float*>(args.c) + static_cast<int64>(of.row) * args.k + first,
                      sum);
      } else {
        pack<accum, E> out;
        for (int e = 0; e < E; ++e) out.element[e] = sum[e];
        store_pack<accum, E>(
            static_cast<accum*>(args.piece_sums) + static_cast<int64>(of.place) * args.k + first,
            out);
      }
    }
#pragma unroll
    for (int q = 0; q < ahead; ++q) at[q] = at[q + 1];
    at[ahead] = next;
  }
}

/// C(i, p) = ⊕ of the row's sums in `piece_sums`, in a fixed order; without `first_place` each row
/// has one. L lanes take a row of sums at a time, a warp a row of C, and four warps one of more
/// than `many` sums. Blocks, loads in flight and `many` were not varied.
template <class S, int L>
__global__ void __launch_bounds__(128, 12) maxk_combine(const __grid_constant__ arguments args) {
  using accum = typename S::accum;
  constexpr int warps = 4, teams = 32 / L, in_flight = 8, many = 64;
  __shared__ __align__(16) unsigned char raw[warps * L * sizeof(accum)];
  auto* const met = reinterpret_cast<accum*>(raw);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int team = lane / L;
  const index column = static_cast<index>(blockIdx.y) * L + lane % L;
  const bool has_column = column < args.k;
  const auto* const sums = static_cast<const accum*>(args.piece_sums) + (has_column ? column : 0);
  // First each warp its own row, then all of them those of many sums, if there are any.
  bool found_many = false;
#pragma unroll 1
  for (int turn = -1; turn < warps; ++turn) {
    const bool together = turn >= 0;
    if (turn == 0 && __syncthreads_or(found_many) == 0) return;
    const int64 number = static_cast<int64>(blockIdx.x) * warps + (together ? turn : warp);
    if (number >= args.rows) continue;
    const auto row = static_cast<index>(number);
    const int64 entries = args.offset(row + 1) - args.offset(row);
    int64 begin = row, end = begin + 1;
    if (args.first_place != nullptr) {
      begin = args.first_place[row];
      end = args.first_place[row + 1];
    }
    const bool has_many = end - begin > many;
    found_many = found_many || has_many;
    if (has_many != together) continue;
    if (together) {
      const int64 share = (end - begin + warps - 1) / warps;
      begin += warp * share;
      end = end < begin + share ? end : begin + share;
    }
    accum sum = S::zero();
    for (int64 at = begin + team; at < end; at += teams * in_flight) {
      accum loaded[in_flight];
#pragma unroll
      for (int u = 0; u < in_flight; ++u)
        if (at + u * teams < end)
          loaded[u] = stream_pack<accum, 1>(sums + (at + u * teams) * args.k).element[0];
#pragma unroll
      for (int u = 0; u < in_flight; ++u)
        if (at + u * teams < end) sum = S::add(sum, loaded[u]);
    }
#pragma unroll
    for (int distance = L; distance < 32; distance *= 2)
      sum = S::add(sum, shuffle_xor(0xffffffffu, sum, distance));
    if (together) {
      if (team == 0) met[warp * L + lane] = sum;
      __syncthreads();
      if (warp == 0)
        for (int w = 1; w < warps; ++w) sum = S::add(sum, met[w * L + lane % L]);
      __syncthreads();
    }
    if ((!together || warp == 0) && team == 0 && has_column)
      write_any<S>(args, row, column, sum, entries);
  }
}

}  // namespace rig::on_cuda

#ifndef __CUDACC_RTC__

#include <cstring>
#include <vector>

#include "device.hpp"
#include "families.hpp"
#include "kept.hpp"
#include "launch.hpp"
#include "panels.hpp"

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
std::string panels_expression(int shape, const std::string& semiring, const std::string& b_type) {
  const kept_shape s = shape_of(shape);
  return kept_expression("maxk_backward_panels", shape, semiring, b_type) + std::to_string(s.l) +
         ", " + std::to_string(s.v) + ", " + in_words(s.plain) + ", " + in_words(s.adds) + ">";
}
std::string combine_expression(int lanes, const std::string& semiring, const std::string&) {
  return "rig::on_cuda::maxk_combine<" + semiring + ", " + std::to_string(lanes) + ">";
}

/// A block's rows of B.
std::size_t panel_bytes(const problem& p) {
  return p.algebra->ignores_right
             ? 0
             : panel_rows * static_cast<std::size_t>(p.b.columns) * p.b.value_bytes;
}

bool adds_by_atomics(const problem& p) {
  return !p.desc->reproducible && p.algebra->linear_in_floats;
}

/// Do rows of B in shared memory pay? Sums by atomics do; on arxiv-like, k = 16, 32, an entry at a
/// time was faster, 0.126 ms for 0.149, 0.165 for 0.185. In order, where enough rows have
/// neighbours in common: milliseconds (suite maxk), H = 256, k = 16, 32, 64, and by rows:
/// reddit-like 4.3, 6.1, 11.3; 9.5, 10.9, 13.0; products-like 7.7, 9.9, 17.7; 11.4, 15.1, 16.4; but
/// k = 16, 32: arxiv-like 0.27, 0.35; 0.23, 0.28; rmat:18:16 0.60, 0.85; 0.62, 0.69. H = 128, k =
/// 16: reddit-like 4.3, 5.6; products-like 8.1, 7.6. H = 384, k = 64: products-like 20.1, 22.8.
bool takes_panels(const problem& p) {
  if (!p.desc->transpose_a || p.algebra->accum_bytes > 8 || p.algebra->right == type::other ||
      panel_bytes(p) > shared_room(p.a.where.device) || !panels::serves(*p.structure))
    return false;
  if (adds_by_atomics(p)) return true;
  const profile& look = look_of(p);
  const int k = kept_of(p);
  return look.local && p.a.nnz >= few_entries && 4 * k <= p.b.columns &&
         look.mean_length >= (p.b.columns < 256 || 5 * k > p.b.columns ? 200 : 40);
}

/// The widest of these that C's rows and its structure's can be read in.
int places_a_lane(const problem& p, int most) {
  const int k = p.c.k;
  const std::size_t index_bytes = p.c.narrow ? 1 : 2;
  while (most > 1 && (k % most != 0 || !is_packed(p.c.indices, k, index_bytes,
                                                  static_cast<std::size_t>(most) * index_bytes)))
    most /= 2;
  return most;
}

/// The sums of segments take at most an eighth of the device's memory: of an H200, products-like, k
/// = 64, 17.8e9 bytes of 18.8e9.
bool sums_fit(const problem& p, const panels& of) {
  static const std::vector<device_info> devices = list_devices();
  constexpr std::size_t share = 8;
  const auto memory =
      static_cast<std::size_t>(devices[static_cast<std::size_t>(p.a.where.device)].memory);
  const std::size_t sums = static_cast<std::size_t>(of.segment_count) *
                           static_cast<std::size_t>(p.c.k) * p.algebra->accum_bytes;
  return adds_by_atomics(p) || sums <= memory / share;
}

void backward_by_panels(const problem& p, const panels& of) {
  // A as it is stored: no values to reorder, and its rows are those of B.
  problem q = p;
  q.a.rows = p.a.columns;
  q.a.columns = p.a.rows;
  q.a.offsets = p.structure->offsets();
  q.a.entries = p.structure->entries();
  q.a.permutation = nullptr;
  q.oriented = p.structure;
  q.look = nullptr;
  arguments args = arguments_of(q), finish = arguments_of(p);
  const buffer values = ordered_values(q, args);
  const bool adds = adds_by_atomics(p);
  const int k = p.c.k;
  args.k = finish.k = k;
  args.kept = p.c.indices;
  args.units = of.units;
  args.segments = of.segments;
  args.words = of.words;
  // Milliseconds of four and eight places a lane, k = 16, 32, 64 (as above): reddit-like, in order
  // 3.01, 4.53, 7.75; 2.99, 3.95, 6.41; by atomics 2.17, 3.58, 6.70; 2.70, 4.65, 9.17.
  kept_shape s{};
  const bool aligned = !adds || is_packed(p.c.data, k, sizeof(float));
  s.v = places_a_lane(p, adds ? (aligned ? 4 : 1) : k >= 32 && p.c.narrow ? 8 : 4);
  s.l = lanes_for((k + s.v - 1) / s.v, 2);
  s.narrow = p.c.narrow;
  s.plain = static_cast<std::size_t>(p.b.columns) * p.b.value_bytes % 16 == 0 &&
            is_packed(p.b.data, p.b.stride, p.b.value_bytes);
  s.adds = adds;
  const void* const add =
      kernel_for(p, {"maxk_backward, panels", "maxk_backward.cu", number_of(s), 0,
                     panels_expression, nullptr, -1, shared_room(p.a.where.device)});
  // Where C holds floats, and places without products are 0 as all sums begin, nothing is left to
  // do.
  static constexpr float nothing = 0;
  const bool in_place = adds && p.c.value_type == type::float32 && !p.algebra->has_finish &&
                        std::memcmp(finish.fill.bytes, &nothing, sizeof(nothing)) == 0;
  const int adding_lanes = lanes_for(k, 2);
  const void* combine = nullptr;
  buffer sums;
  const auto places = static_cast<std::size_t>(adds ? p.a.rows : of.segment_count);
  if (!in_place) {
    combine = kernel_for(
        p, {"maxk_combine", "maxk_backward.cu", adding_lanes, 0, combine_expression, nullptr});
    sums = buffer::allocate(places * static_cast<std::size_t>(k) * p.algebra->accum_bytes,
                            p.a.where, p.desc->stream);
  }
  args.c = in_place ? p.c.data : sums.data();
  args.piece_sums = finish.piece_sums = sums.data();
  if (!adds) finish.first_place = of.first_place;
  if (adds)
    check(cudaMemsetAsync(args.c, 0, places * static_cast<std::size_t>(k) * sizeof(float),
                          stream_of(p)),
          "maxk_backward, panels");
  const auto tiles_of = [&](int places) {
    return static_cast<unsigned>((k + places - 1) / places);
  };
  // Two blocks a multiprocessor, and all else for L1, which holds A's values and C's columns.
  constexpr std::size_t all_shared = 228 * 1024, of_a_block = 1024;
  const std::size_t percent = (200 * (panel_bytes(p) + of_a_block) + all_shared - 1) / all_shared;
  check(cudaFuncSetAttribute(add, cudaFuncAttributePreferredSharedMemoryCarveout,
                             static_cast<int>(percent < 100 ? percent : 100)),
        "maxk_backward, panels");
  if (of.unit_count > 0)
    launch(p, "maxk_backward, panels", add,
           dim3(static_cast<unsigned>(of.unit_count), tiles_of(s.l * s.v)), panel_threads, args,
           panel_bytes(p));
  if (!in_place)
    launch(
        p, "maxk_combine", combine,
        dim3(static_cast<unsigned>((static_cast<int64>(p.a.rows) + 3) / 4), tiles_of(adding_lanes)),
        128, finish);
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
    out.reason += takes_panels(p)      ? adds_by_atomics(p) ? ", by panels, added by atomics"
                                                            : ", by panels if their sums fit"
                  : sums_whole_rows(p) ? ", picked of whole sums"
                                       : "";
  return out;
}

void maxk_backward_run(const problem& p) {
  if (takes_panels(p) && p.a.rows > 0) {
    const auto of = p.structure->form_of<panels>();
    if (of->fits && sums_fit(p, *of)) {
      p.held_lists = of;
      return backward_by_panels(p, *of);
    }
  }
  sums_whole_rows(p) ? backward_of_whole_rows(p) : backward_by_rows(p);
}

}  // namespace rig::on_cuda

#endif
