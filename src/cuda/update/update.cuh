// multiply_rows: C = Z · W for a tall Z, in fp32, on Tensor cores. It follows the product Z.
//
// Wins over a general product of dense matrices in fp32: each float is the sum of two numbers of
// TF32, and three of their four products are added. The update is transposed, Cᵀ = Wᵀ·Zᵀ, so that
// lanes load vectors of Z's rows. W waits in shared memory, split already. Reproducible.
// O(rows · F · G) work. Measured: suite update.

#pragma once

#include "cuda/device/gather.cuh"
#include "cuda/device/tensor.cuh"

namespace rig::on_cuda {

/// x = high + low, and what is left is below 2^-22 of x.
__device__ __forceinline__ void split_in_two(float x, float& high, float& low) {
  high = rounded_to_tf32(x);
  low = rounded_to_tf32(x - high);
}

/// Puts a panel of W in shared memory: for each step of eight columns of Z and each tile of 16
/// columns of W, the high and the low parts that a lane multiplies. Slot t of step s is column
/// 16c + 4t + 2s of Z, and slot t + 4 the next one, because a lane loads four neighbours.
template <int Tiles>
__device__ __forceinline__ void stage_weights(const arguments& args, index from, index first,
                                              float4* staged) {
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
  const index columns = args.columns - from < weights_panel ? args.columns - from : weights_panel;
  const int steps = (columns + 15) / 16 * 2;
#pragma unroll 4
  for (int n = static_cast<int>(threadIdx.x) / 32; n < steps * Tiles; n += update_threads / 32) {
    const index k = from + n / Tiles / 2 * 16 + 4 * t + n / Tiles % 2 * 2;
    float high[4], low[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const index row = k + e / 2, at = first + n % Tiles * 16 + g + e % 2 * 8;
      float w = 0;
      if (row < args.columns && at < args.update_columns)
        w = __ldg(args.weights + row * args.weights_stride + at);
      split_in_two(w, high[e], low[e]);
    }
    staged[2 * n * 32 + lane] = make_float4(high[0], high[1], high[2], high[3]);
    staged[(2 * n + 1) * 32 + lane] = make_float4(low[0], low[1], low[2], low[3]);
  }
}

/// Four neighbouring elements of a row of Z. Beyond the last row and column they are 0.
template <int V>
__device__ __forceinline__ void load_row(const arguments& args, int64 row, index column,
                                         float (&x)[4]) {
  const float* const from = static_cast<const float*>(args.c) + row * args.c_stride + column;
  if constexpr (V == 4) {
    float4 all = {};
    if (row < args.rows && column < args.columns) all = *reinterpret_cast<const float4*>(from);
    x[0] = all.x, x[1] = all.y, x[2] = all.z, x[3] = all.w;
  } else {
#pragma unroll
    for (int v = 0; v < 4; ++v)
      x[v] = row < args.rows && column + v < args.columns ? from[v] : 0.0f;
  }
}

/// Sums of 16 rows of C, eight to an octet.
template <int Tiles>
using octet_sums = float[2][Tiles][4];

/// Adds the products of one panel of W.
template <int V, int Tiles>
__device__ __forceinline__ void multiply_panel(const arguments& args, const float4* staged,
                                               int64 row, index from, octet_sums<Tiles>& sum) {
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
  const index end = args.columns - from < weights_panel ? args.columns : from + weights_panel;
#pragma unroll 2
  for (index k = from; k < end; k += 16, staged += 2 * 2 * 32 * Tiles) {
    float x[2][4];
#pragma unroll
    for (int o = 0; o < 2; ++o) load_row<V>(args, row + 8 * o + g, k + 4 * t, x[o]);
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      float high[2][2], low[2][2];
#pragma unroll
      for (int o = 0; o < 2; ++o)
#pragma unroll
        for (int e = 0; e < 2; ++e) split_in_two(x[o][2 * s + e], high[o][e], low[o][e]);
#pragma unroll
      for (int tile = 0; tile < Tiles; ++tile) {
        const float4 h = staged[2 * (s * Tiles + tile) * 32 + lane],
                     l = staged[(2 * (s * Tiles + tile) + 1) * 32 + lane];
        const float w_high[4] = {h.x, h.y, h.z, h.w}, w_low[4] = {l.x, l.y, l.z, l.w};
#pragma unroll
        for (int o = 0; o < 2; ++o) {
          multiply_tile(sum[o][tile], w_low, high[o]);
          multiply_tile(sum[o][tile], w_high, low[o]);
          multiply_tile(sum[o][tile], w_high, high[o]);
        }
      }
    }
  }
}

/// One element of C without Tensor cores: parts of a number that is not finite are not its sum.
__device__ __noinline__ float multiply_element(const arguments& args, int64 row, index column) {
  const float* const z = static_cast<const float*>(args.c) + row * args.c_stride;
  float sum = 0;
  for (index k = 0; k < args.columns; ++k)
    sum += z[k] * __ldg(args.weights + k * args.weights_stride + column);
  return sum;
}

template <int Tiles>
__device__ __forceinline__ void write_rows(const arguments& args, int64 first_row, index first,
                                           const octet_sums<Tiles>& sum) {
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int o = 0; o < 2; ++o)
#pragma unroll
    for (int tile = 0; tile < Tiles; ++tile)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int64 row = first_row + 8 * o + 2 * t + e % 2;
        const index column = first + 16 * tile + g + e / 2 * 8;
        if (row >= args.rows || column >= args.update_columns) continue;
        float x = sum[o][tile][e];
        if (!(fabsf(x) <= highest<float>())) x = multiply_element(args, row, column);
        args.updated[row * args.updated_stride + column] = x;
      }
}

/// C = Z · W for 16 · Tiles columns of C per block in y, and 16 rows per warp at a time. V:
/// elements of Z per load.
template <class S, int V, int Tiles>
__global__ void __launch_bounds__(update_threads, update_blocks)
    multiply_rows(const __grid_constant__ arguments args) {
  extern __shared__ float4 staged[];
  const index first = static_cast<index>(blockIdx.y) * 16 * Tiles;
  const bool is_whole = args.columns <= weights_panel;
  if (is_whole) stage_weights<Tiles>(args, 0, first, staged);
  __syncthreads();
  for (int64 block = blockIdx.x; block * update_rows < args.rows; block += gridDim.x) {
    const int64 row = block * update_rows + static_cast<int64>(threadIdx.x) / 32 * 16;
    octet_sums<Tiles> sum = {};
    for (index from = 0; from < args.columns; from += weights_panel) {
      if (!is_whole) {
        __syncthreads();
        stage_weights<Tiles>(args, from, first, staged);
        __syncthreads();
      }
      multiply_panel<V, Tiles>(args, staged, row, from, sum);
    }
    write_rows<Tiles>(args, row, first, sum);
  }
}

}  // namespace rig::on_cuda
