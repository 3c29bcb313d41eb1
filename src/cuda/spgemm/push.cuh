#pragma once

// push: each product of a sparse vector and a matrix is added to its column by an atomic operation,
// a thread per product. Only for an add that is exact in any order.

#include "cuda/spgemm/product.cuh"

namespace rig::on_cuda {

/// The words that atomic operations read and write; a sum lies in the first bytes of one.
template <bool Wide>
struct slot_type {
  using word = unsigned;
};
template <>
struct slot_type<true> {
  using word = unsigned long long;
};
template <class S>
using slot_word = typename slot_type<(sizeof(typename S::accum) > 4)>::word;

template <class S>
__device__ __forceinline__ slot_word<S> word_of(const typename S::accum& sum) {
  slot_word<S> word = 0;
  memcpy(&word, &sum, sizeof(sum));
  return word;
}
template <class S>
__device__ __forceinline__ typename S::accum sum_of(slot_word<S> word) {
  typename S::accum sum;
  memcpy(&sum, &word, sizeof(sum));
  return sum;
}

/// Sets the sums of all columns to zero().
template <class S>
__global__ void __launch_bounds__(element_threads) clear_slots(product_arguments args) {
  const slot_word<S> zero = word_of<S>(S::zero());
  for (int64 j = static_cast<int64>(blockIdx.x) * element_threads + threadIdx.x; j < args.columns;
       j += static_cast<int64>(gridDim.x) * element_threads)
    static_cast<slot_word<S>*>(args.slots)[j] = zero;
}

template <class S>
__global__ void __launch_bounds__(element_threads) push_products(product_arguments args) {
  const int64 entries = args.a.offset(1), count = args.products_before[entries];
  for (int64 at = static_cast<int64>(blockIdx.x) * element_threads + threadIdx.x; at < count;
       at += static_cast<int64>(gridDim.x) * element_threads) {
    int64 low = 0, high = entries - 1;  // the last entry with at most `at` products before it
    while (low < high) {
      const int64 middle = high - (high - low) / 2;
      if (args.products_before[middle] <= at)
        low = middle;
      else
        high = middle - 1;
    }
    const index inner = args.a.columns[low];
    const int64 q = args.b.offset(inner) + (at - args.products_before[low]);
    const index column = args.b.columns[q];
    if (!allows(args.mask, 0, column)) continue;
    const typename S::accum x =
        product_at<S>(args, left_at<S>(args, low), q, args.flips ? column : 0, inner);
    auto* const slot = static_cast<slot_word<S>*>(args.slots) + column;
    slot_word<S> seen = *static_cast<volatile slot_word<S>*>(slot);
    for (;;) {
      const slot_word<S> wanted = word_of<S>(S::add(sum_of<S>(seen), x));
      if (wanted == seen) break;
      const slot_word<S> found = atomicCAS(slot, seen, wanted);
      if (found == seen) break;
      seen = found;
    }
    if (!static_cast<volatile bool*>(args.present)[column]) args.present[column] = true;
  }
}

/// The sums of the columns that are present, as entries.
template <class S>
__global__ void __launch_bounds__(element_threads) collect_slots(product_arguments args) {
  const int64 n = args.a.offset(1);
  for (int64 j = static_cast<int64>(blockIdx.x) * element_threads + threadIdx.x; j < args.columns;
       j += static_cast<int64>(gridDim.x) * element_threads) {
    if (!args.present[j]) continue;
    const int64 at = args.before[j];
    args.out_columns[at] = static_cast<index>(j);
    store_as(args.out_values, args.out_type, at,
             finished<S>(sum_of<S>(static_cast<const slot_word<S>*>(args.slots)[j]), n));
  }
}

}  // namespace rig::on_cuda
