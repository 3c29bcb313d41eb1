#pragma once

// Loops, running sums and sorts of one call, for files that nvcc compiles.

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "cuda/elementwise/work.hpp"

namespace rig::on_cuda {

static_assert(element_threads == build_threads);
template <class F>
__global__ void __launch_bounds__(element_threads) call_each(int64 count, F f) {
  for (int64 k = static_cast<int64>(blockIdx.x) * element_threads + threadIdx.x; k < count;
       k += static_cast<int64>(gridDim.x) * element_threads)
    f(k);
}

template <class F>
void build::each(int64 count, F f) const {
  start(&call_each<F>, count, count, f);
}

/// out[k] = the sum of counts[0 … k), for k to `count` inclusive.
inline void running_sum(const work& by, const int64* counts, int64* out, int64 count) {
  check(cudaMemsetAsync(out, 0, sizeof(int64), by.stream), by.name);
  if (count == 0) return;
  by.with_scratch([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, counts, out + 1, count, by.stream);
  });
}

/// f(k) for k below `count`, else 0.
template <class F>
struct first_counts {
  F f;
  int64 count;
  __device__ int64 operator()(int64 k) const { return k < count ? f(k) : 0; }
};
/// out[k] = f(0) + … + f(k − 1), for k to `count` inclusive.
template <class F>
void sums_of(const work& by, int64 count, F f, int64* out) {
  const auto counts = thrust::make_transform_iterator(thrust::counting_iterator<int64>(0),
                                                      first_counts<F>{f, count});
  by.with_scratch([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, counts, out, count + 1, by.stream);
  });
}

/// Writes the k of 0 … count − 1 that are marked to `out`, ascending, and their number to `total`.
inline void list_marked(const work& by, const bool* marked, index count, index* out, int64* total) {
  by.with_scratch([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Flagged(scratch, bytes, thrust::counting_iterator<index>(0), marked,
                                      out, total, count, by.stream);
  });
}

/// Sorts keys with their numbers; stable. Only the lowest `bits` bits of keys are compared.
template <class Key, class Number>
void sort_keys(const work& by, const Key* keys, Key* sorted, const Number* numbers, Number* order,
               int64 count, int bits) {
  by.with_scratch([&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted, numbers, order, count, 0,
                                           bits, by.stream);
  });
}

/// The number of bits of numbers below `limit`.
inline int bits_below(int64 limit) {
  int bits = 1;
  while (bits < 63 && (int64{1} << bits) < limit) ++bits;
  return bits;
}

/// Offsets of rows as a pattern holds them, int32 if they fit; offset(r) is the one of row r.
template <class Offset>
buffer pack(const work& by, Offset offset, index rows, int64 nnz, bool& offsets_64) {
  offsets_64 = nnz > highest<int32>();
  const buffer out = by.result(int64{rows} + 1, offsets_64 ? sizeof(int64) : sizeof(int32));
  by.each(int64{rows} + 1, [=, is_wide = offsets_64, to = out.data()] __device__(int64 r) {
    if (is_wide)
      static_cast<int64*>(to)[r] = offset(r);
    else
      static_cast<int32*>(to)[r] = static_cast<int32>(offset(r));
  });
  return out;
}

}  // namespace rig::on_cuda
