// spmv_panels: B has one column, and a block holds a panel of it in shared memory.
//
// Wins if rows have about 64 entries or more in each panel of 56 K columns, or six to ten if rows
// are uniform. Other kernels are limited by gathers of four bytes out of 32-byte sectors; here
// gathers stay on the multiprocessor.
// A lane takes a vector: four entries adjacent in A. A's values keep their order; columns are codes
// of two bytes. Source: column panels are the cache blocks of Im & Yelick (ICCS 2001); the
// segmented scan is that of Blelloch, Heroux & Zagha (CMU-CS-93-173).
// No atomics and a fixed order, so results are deterministic. Cost: O(nnz + n · panels); scratch:
// one accumulator per row and panel. Measured: docs/lab/spmv.md.

#pragma once

#include "cuda/device/gather.cuh"

namespace rig::on_cuda {

constexpr int column_threads = 32 * column_warps, adding_threads = 256;

/// x[first_code + c] = B(unit.column + c); x[0] is a placeholder that no sum reads. Copied: B is
/// contiguous, of the semiring's type, and aligned to 16 bytes.
template <class S, class TB, bool Copied>
__device__ __forceinline__ void load_panel(const arguments& args, const column_unit& unit,
                                           typename S::right* x) {
  using right = typename S::right;
  const auto thread = static_cast<index>(threadIdx.x);
  if (thread == 0) x[0] = right();
  x += first_code;
  index done = 0;
  if constexpr (Copied) {
    constexpr index together = 16 / sizeof(right);
    const right* const from = static_cast<const right*>(args.b) + unit.column;
    done = unit.columns / together * together;
    for (index c = thread * together; c < done; c += column_threads * together)
      copy_ahead(x + c, from + c);
  }
  constexpr int in_flight = 8;
  const auto* const b = static_cast<const char*>(args.b);
  for (index c = done + thread; c < unit.columns; c += in_flight * column_threads) {
    vector_of<TB, 1> from[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u)
      if (const index at = c + u * column_threads; at < unit.columns)
        from[u] = load_vector<TB, 1>(at_row<TB>(b, unit.column + at, args.b_row_bytes));
#pragma unroll
    for (int u = 0; u < in_flight; ++u)
      if (const index at = c + u * column_threads; at < unit.columns)
        x[at] = convert<right>(from[u].element[0]);
  }
}

/// A warp's vectors, 32 · Unroll per step, from a multiple of 32; lanes before the first vector and
/// after the last have no entries. Loads are pipelined: bits of segment ends three steps ahead,
/// places of values two, codes and values one. Vectors: values take vector loads of four.
template <class S, int Unroll, bool Vectors, bool Iso>
struct vector_sweep {
  using left = typename S::left;
  using right = typename S::right;
  using accum = typename S::accum;
  static constexpr bool weighs = !is_ignoring_left<S> && !Iso;
  static constexpr int32 step = 32 * Unroll;
  struct ends {
    unsigned of[Unroll];
  };
  struct places {
    int32 of[Unroll];
  };
  struct entries {
    uint2 codes[Unroll];
    vector_of<left, vector_entries> a[Unroll];
  };

  const arguments& args;
  const int lane;
  const int32 first, last;
  int32 placed, summed;  ///< segments before the next vectors to place, and to sum

  __device__ vector_sweep(const arguments& args, const warp_start& from, int32 to)
      : args(args), lane(static_cast<int>(threadIdx.x) % 32), first(from.vector), last(to) {
    // Counts from the multiple of 32; segments of the previous warp may end before `first`.
    placed = summed = from.segment - __popc(ends_in(begin()) & ((1u << first % 32) - 1));
  }
  __device__ int32 begin() const { return first < last ? first / 32 * 32 : last; }
  __device__ bool has(int32 at) const { return at >= first && at < last; }
  __device__ unsigned ends_in(int32 at) const {
    return at < last ? __ldg(args.panel_segment_ends + static_cast<unsigned>(at) / 32) : 0;
  }

  __device__ __forceinline__ ends find_ends(int32 at) const {
    ends out;
#pragma unroll
    for (int u = 0; u < Unroll; ++u) out.of[u] = ends_in(at + 32 * u);
    return out;
  }
  __device__ __forceinline__ places place(const ends& bits) {
    places out = {};
    if constexpr (weighs) {
#pragma unroll
      for (int u = 0; u < Unroll; ++u) {
        out.of[u] =
            __ldg(args.panel_segment_vectors + placed + __popc(bits.of[u] & ((1u << lane) - 1)));
        placed += __popc(bits.of[u]);
      }
    }
    return out;
  }
  __device__ __forceinline__ entries load(int32 at, const places& where) const {
    entries out = {};
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      const int32 mine = at + 32 * u + lane;
      if (has(mine)) {
        out.codes[u] = __ldcs(reinterpret_cast<const uint2*>(args.codes) + mine);
        if constexpr (weighs) {
          const left* const values =
              static_cast<const left*>(args.a_values) + int64{mine + where.of[u]} * vector_entries;
          if constexpr (Vectors)
            out.a[u] = stream_vector<left, vector_entries>(values);
          else
            for (int v = 0; v < vector_entries; ++v) out.a[u].element[v] = values[v];
        }
      }
    }
    return out;
  }

  /// The sum of the four entries of a lane's vector.
  __device__ __forceinline__ accum sum_of(const uint2& codes,
                                          const vector_of<left, vector_entries>& values, left iso,
                                          const right* x) const {
    const unsigned pairs[2] = {codes.x, codes.y};
    accum sum = S::zero();
#pragma unroll
    for (int v = 0; v < vector_entries; ++v) {
      const unsigned code = v % 2 == 0 ? pairs[v / 2] & 0xffffu : pairs[v / 2] >> 16;
      left a = iso;
      right b = right();
      if constexpr (weighs) a = values.element[v];
      if constexpr (!is_ignoring_right<S>) b = x[code];
      const accum with = S::add(sum, product<S>(a, b, position{0, 0}));
      if (code != 0) sum = with;
    }
    return sum;
  }

  /// Writes the sums of the segments that end here, each in a fixed tree over the lanes. `carry` is
  /// the partial sum of the segment that continues. The trees of Unroll vectors are independent.
  __device__ __forceinline__ void sum_up(int32 at, const ends& bits, const entries& of, left iso,
                                         const right* x, accum& carry) {
    accum sum[Unroll];
    unsigned before[Unroll];  // segment ends in the lanes before
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      sum[u] = sum_of(of.codes[u], of.a[u], iso, x);
      before[u] = bits.of[u] & ((1u << lane) - 1);
    }
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
#pragma unroll
      for (int u = 0; u < Unroll; ++u) {
        const int start = 32 - __clz(static_cast<int>(before[u]));  // of this lane's segment
        const accum from = shuffle_up(sum[u], distance);
        if (lane - distance >= start) sum[u] = S::add(from, sum[u]);
      }
    }
#pragma unroll
    for (int u = 0; u < Unroll; ++u) {
      if (before[u] == 0) sum[u] = S::add(carry, sum[u]);
      if ((bits.of[u] >> lane & 1u) != 0 && has(at + 32 * u + lane))
        static_cast<accum*>(args.segment_sums)[summed + __popc(before[u])] = sum[u];
      summed += __popc(bits.of[u]);
      carry = shuffle_from(0xffffffffu, sum[u], 31);
      if (bits.of[u] >> 31 != 0) carry = S::zero();
    }
  }
};

/// segment_sums[panel · rows + row] = ⊕_k A(row, k) ⊗ B(k) over the panel's columns k. A block
/// takes vectors of one panel, or of the end of one panel and the beginning of the next; a warp
/// takes whole segments.
template <class S, class TB, int Unroll, bool Copied, bool Vectors, bool Iso>
__global__ void __launch_bounds__(column_threads, 1) spmv_panels(const arguments args) {
  using left = typename S::left;
  using right = typename S::right;
  using sweep_of_vectors = vector_sweep<S, Unroll, Vectors, Iso>;
  extern __shared__ __align__(16) unsigned char room[];
  auto* const x = reinterpret_cast<right*>(room);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  constexpr int32 step = sweep_of_vectors::step;
  left iso = left();
  if constexpr (Iso && !is_ignoring_left<S>) iso = iso_of<left>(args);
  const index end = args.block_units[blockIdx.x + 1];
  for (index u = args.block_units[blockIdx.x]; u < end; ++u) {
    const column_unit unit = args.column_units[u];
    const warp_start* const starts = args.starts + static_cast<int64>(u) * (column_warps + 1);
    sweep_of_vectors sweep(args, starts[warp], starts[warp + 1].vector);
    int32 at = sweep.begin();
    auto ends_0 = sweep.find_ends(at), ends_1 = sweep.find_ends(at + step),
         ends_2 = sweep.find_ends(at + 2 * step);
    const auto places_0 = sweep.place(ends_0);
    auto places_1 = sweep.place(ends_1);
    if constexpr (!is_ignoring_right<S>) {
      __syncthreads();  // no warp reads the previous panel any more
      load_panel<S, TB, Copied>(args, unit, x);
    }
    auto entries_0 = sweep.load(at, places_0);
    if constexpr (!is_ignoring_right<S>) {
      if constexpr (Copied) await_copies();
      __syncthreads();
    }
    typename S::accum carry = S::zero();
    for (; at < sweep.last; at += step) {
      const auto ends_3 = sweep.find_ends(at + 3 * step);
      const auto places_2 = sweep.place(ends_2);
      const auto entries_1 = sweep.load(at + step, places_1);
      sweep.sum_up(at, ends_0, entries_0, iso, x, carry);
      ends_0 = ends_1;
      ends_1 = ends_2;
      ends_2 = ends_3;
      places_1 = places_2;
      entries_0 = entries_1;
    }
  }
}

/// C(i) = its panels' sums, in order, and then A's last entries that fill no vector.
template <class S, class TB, bool Plain>
__global__ void __launch_bounds__(adding_threads) add_panels(const arguments args) {
  using left = typename S::left;
  using right = typename S::right;
  using accum = typename S::accum;
  const int64 number = static_cast<int64>(blockIdx.x) * adding_threads + threadIdx.x;
  if (number >= args.rows) return;
  const auto row = static_cast<index>(number);
  const auto* const sums = static_cast<const accum*>(args.segment_sums) + number;
  const int64 begin = args.offset(row), end = args.offset(row + 1);
  constexpr int in_flight = 4;
  accum whole[1][1] = {{S::zero()}};
  for (index p = 0; p < args.panel_count; p += in_flight) {
    accum of[in_flight];
#pragma unroll
    for (int u = 0; u < in_flight; ++u)
      of[u] = p + u < args.panel_count ? sums[static_cast<int64>(p + u) * args.rows] : S::zero();
#pragma unroll
    for (int u = 0; u < in_flight; ++u)
      if (p + u < args.panel_count) whole[0][0] = S::add(whole[0][0], of[u]);
  }
  const int64 packed = args.nnz / vector_entries * vector_entries;
  for (int64 e = begin > packed ? begin : packed; e < end; ++e) {
    const index k = args.entries[e];
    left a = left();
    right b = right();
    if constexpr (!is_ignoring_left<S>)
      a = args.a_values != nullptr ? static_cast<const left*>(args.a_values)[e]
                                   : iso_of<left>(args);
    if constexpr (!is_ignoring_right<S>)
      b = convert<right>(
          load_vector<TB, 1>(at_row<TB>(static_cast<const char*>(args.b), k, args.b_row_bytes))
              .element[0]);
    whole[0][0] = S::add(whole[0][0], product<S>(a, b, position{row, k}));
  }
  write_tile<S, 1, 1, 1, Plain>(args, row, 0, end - begin, whole);
}

}  // namespace rig::on_cuda
