// hybrid: a warp takes a window of 16 rows and some columns of B, on Tensor cores where the window
// is dense, and otherwise on CUDA cores.
//
// Wins if neighbouring rows share columns: cliques, full bands, less in thinned ones. No real graph
// that was measured gains, even after an order. An instruction makes 16 columns of 8 rows of C,
// over 8 columns of A: the product is transposed, Cᵀ = Bᵀ·Aᵀ, so that lanes load vectors of B's
// rows from global memory. A tile is 16 rows by 8 columns of A. Source: HC-SpMM (Li et al., ICDE
// 2025) for windows and selector, FlashSparse (Shi et al., PPoPP 2025) for the transposed product.
// Without atomics: reproducible. O(tiles · F) work on Tensor cores. Measured: suite hybrid.

#pragma once

#include "cuda/device/gather.cuh"
#include "cuda/device/tensor.cuh"

namespace rig::on_cuda {

/// One window's tiles, one after the other: what A has in this lane's rows g and g + 8 and slots t
/// and t + 4. A linear semiring multiplies by a ⊗ 1, which an iso A leaves out until the end.
template <class S, bool Iso>
struct tile_reader {
  using left = typename S::left;
  const unsigned short* bits;
  const left* values[2];

  __device__ tile_reader(const arguments& args, int64 window, int32 tile, int g)
      : bits(args.window_bits + static_cast<int64>(tile) * 8 + g), values{} {
    if constexpr (!Iso)
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        const int64 row = window * window_height + q * 8 + g;
        values[q] = static_cast<const left*>(args.a_values) +
                    args.offset(static_cast<index>(row < args.rows ? row : args.rows));
      }
  }
  __device__ __forceinline__ void read(int t, float (&a)[2][2]) {
    const unsigned word = __ldg(bits);
    bits += 8;
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const unsigned byte = word >> (8 * q) & 255u;
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        const int slot = t + 4 * s;
        const bool is_entry = (byte >> slot & 1u) != 0;
        if constexpr (Iso) {
          a[q][s] = is_entry ? 1.0f : 0.0f;
        } else {
          a[q][s] = 0.0f;
          if (is_entry)
            a[q][s] = product<S>(
                load_vector<left, 1>(values[q] + __popc(byte & ((1u << slot) - 1))).element[0],
                1.0f, position());
        }
      }
      if constexpr (!Iso) values[q] += __popc(byte);
    }
  }
};

/// Part p of the elements of B that a lane reads: four neighbouring ones of a row, as numbers of
/// TF32. Numbers in half and bfloat16, and codes, are exact.
template <class TB, int V, class Reader>
__device__ __forceinline__ void load_features(const arguments& args, const Reader& reader,
                                              index row, index column, int p, float (&x)[4]) {
  const TB* const from =
      at_row<TB>(reinterpret_cast<const char*>(static_cast<const TB*>(args.b) + column), row,
                 args.b_row_bytes);
  vector_of<TB, 4> loaded = {};
  if constexpr (V == 4) {
    if (column < args.columns) loaded = load_vector<TB, 4>(from);
  } else {
#pragma unroll
    for (int v = 0; v < 4; ++v)
      if (column + v < args.columns) loaded.element[v] = load_vector<TB, 1>(from + v).element[0];
  }
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    x[v] = reader.value(loaded, p, v);
    if constexpr (sizeof(TB) == 4) x[v] = rounded_to_tf32(x[v]);
  }
}

/// Sums of a window: of rows 8q + 2t and 8q + 2t + 1, columns 32p + 4g … 32p + 4g + 3. Pair m of
/// those columns is an accumulator of Tensor cores.
template <int Parts>
using window_sums = float[2][Parts][2][4];

/// Adds the products of all tiles of a window. Where B is exact in TF32, A is the sum of two such
/// numbers.
template <class S, class TB, int V, int Parts, bool Iso, class Reader>
__device__ __forceinline__ void multiply_window(const arguments& args, const Reader& reader,
                                                int64 window, index first,
                                                window_sums<Parts>& sum) {
  constexpr bool is_split = !Iso && sizeof(TB) == 2;
  const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
  const int32 begin = args.window_tiles[window], end = args.window_tiles[window + 1];
  tile_reader<S, Iso> entries(args, window, begin, g);
  const index* slots = args.window_columns + static_cast<int64>(begin) * tile_slots + t;
#pragma unroll 1
  for (int32 tile = begin; tile < end; ++tile, slots += tile_slots) {
    const index near = __ldg(slots), far = __ldg(slots + 4);
    float x[2][Parts][4], a[2][2];
#pragma unroll
    for (int p = 0; p < Parts; ++p)
      load_features<TB, V>(args, reader, near, first + 32 * p, p, x[0][p]);
#pragma unroll
    for (int p = 0; p < Parts; ++p)
      load_features<TB, V>(args, reader, far, first + 32 * p, p, x[1][p]);
    entries.read(t, a);
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      float high[2], low[2];
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        high[s] = Iso ? a[q][s] : rounded_to_tf32(a[q][s]);
        low[s] = is_split ? rounded_to_tf32(a[q][s] - high[s]) : 0.0f;
      }
#pragma unroll
      for (int p = 0; p < Parts; ++p)
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          const float b[4] = {x[0][p][2 * m], x[0][p][2 * m + 1], x[1][p][2 * m],
                              x[1][p][2 * m + 1]};
          multiply_tile(sum[q][p][m], b, high);
          if constexpr (is_split) multiply_tile(sum[q][p][m], b, low);
        }
    }
  }
}

/// What the sums of an iso A are multiplied by.
template <class S>
__device__ __forceinline__ float factor_of(const arguments& args) {
  return product<S>(iso_of<typename S::left>(args), 1.0f, position());
}

/// Multiplies the sums by the one value of A, and returns whether all sums of the warp are finite.
template <class S, int Parts, bool Iso>
__device__ __forceinline__ bool complete(const arguments& args, window_sums<Parts>& sum) {
  float factor = 1.0f;
  if constexpr (Iso) factor = factor_of<S>(args);
  bool is_finite = true;
#pragma unroll
  for (int q = 0; q < 2; ++q)
#pragma unroll
    for (int p = 0; p < Parts; ++p)
#pragma unroll
      for (int m = 0; m < 2; ++m)
#pragma unroll
        for (float& x : sum[q][p][m]) {
          if constexpr (Iso) x *= factor;
          is_finite = is_finite && fabsf(x) <= highest<float>();
        }
  return __all_sync(0xffffffffu, is_finite);
}

template <class S, int Parts, bool Plain, class Reader>
__device__ __forceinline__ void write_window(const arguments& args, const Reader& reader,
                                             int64 window, index first,
                                             const window_sums<Parts>& sum) {
  const int t = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
  for (int q = 0; q < 2; ++q)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int64 row = window * window_height + 8 * q + 2 * t + h;
      if (row >= args.rows) continue;
      const auto i = static_cast<index>(row);
      const int64 n = args.offset(i + 1) - args.offset(i);
      typename S::accum of_row[Parts][4];
#pragma unroll
      for (int p = 0; p < Parts; ++p)
#pragma unroll
        for (int v = 0; v < 4; ++v) {
          of_row[p][v] = sum[q][p][v / 2][v % 2 * 2 + h];
          if constexpr (Reader::folds)
            of_row[p][v] =
                reader.unfold(of_row[p][v], factor_of<S>(args) * static_cast<float>(n), p, v);
        }
      write_tile<S, 4, 8, Parts, Plain>(args, i, first, n, of_row);
    }
}

/// The same rows and columns of C on CUDA cores. Not inlined, because it would cost the tiles
/// registers.
template <class S, class TB, int V, int Parts, bool Plain>
__device__ __noinline__ void take_rows(const arguments& args, index begin, index end, index first) {
  constexpr int lanes = V == 1 ? 32 : 8, unroll = 4;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  for (index i = begin + static_cast<index>(threadIdx.x) % 32 / lanes; i < end; i += 32 / lanes) {
    const listed_row whole = args.entries_of(i);
    const entry_range<S, true> of(args, whole.begin, 0, whole.count);
    typename S::accum sum[Parts][V];
    gather<S, TB, lane_plan{V, lanes, lanes, unroll, Parts}>(args, i, of, lane, first + lane * V,
                                                             sum);
    write_tile<S, V, lanes, Parts, Plain>(args, i, first + lane * V, whole.count, sum);
  }
}

/// C(window, 32 · Parts columns) for each warp. V: elements of B per load. Iso: no value of A is
/// read. Sums that are not finite are computed anew on CUDA cores, because on Tensor cores 0 · ∞
/// reaches rows without that entry.
template <class S, class TB, int V, int Parts, bool Iso, bool Plain>
__global__ void __launch_bounds__(row_threads) hybrid(const __grid_constant__ arguments args) {
  constexpr int columns = 32 * Parts;
  const unsigned slices = (static_cast<unsigned>(args.columns) + columns - 1) / columns;
  const unsigned number = blockIdx.x * (row_threads / 32) + threadIdx.x / 32;
  const unsigned window = number / slices;
  const int64 row = static_cast<int64>(window) * window_height;
  if (row >= args.rows) return;
  const auto begin = static_cast<index>(row);
  const index end = args.rows - begin < window_height ? args.rows : begin + window_height;
  const index first = static_cast<index>(number % slices) * columns;
  const int64 entries = args.offset(end) - args.offset(begin);
  if (args.fit.selects(entries, args.window_tiles[window + 1] - args.window_tiles[window])) {
    const index mine = first + static_cast<index>(threadIdx.x) % 32 / 4 * 4;
    index columns[Parts];
#pragma unroll
    for (int p = 0; p < Parts; ++p) columns[p] = mine + 32 * p;
    const b_reader<S, TB, 4, Parts> reader(args, columns);
    window_sums<Parts> sum = {};
    multiply_window<S, TB, V, Parts, Iso>(args, reader, window, mine, sum);
    if (complete<S, Parts, Iso>(args, sum))
      return write_window<S, Parts, Plain>(args, reader, window, mine, sum);
  }
  take_rows<S, TB, V, Parts, Plain>(args, begin, end, first);
}

}  // namespace rig::on_cuda
