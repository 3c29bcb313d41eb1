#pragma once

// push: each product of a sparse vector and a matrix is added to its column by an atomic operation,
// a thread per product, or in one block if there are few. Only for an add that is exact in any
// order.

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

/// slot = slot ⊕ x.
template <class S>
__device__ __forceinline__ void add_to_slot(slot_word<S>* slot, const typename S::accum& x) {
  slot_word<S> seen = *static_cast<volatile slot_word<S>*>(slot);
  for (;;) {
    const slot_word<S> wanted = word_of<S>(S::add(sum_of<S>(seen), x));
    if (wanted == seen) return;
    const slot_word<S> found = atomicCAS(slot, seen, wanted);
    if (found == seen) return;
    seen = found;
  }
}

/// Sets the sums of all columns to zero(), and none is present.
template <class S>
__global__ void __launch_bounds__(element_threads) clear_slots(product_arguments args) {
  const slot_word<S> zero = word_of<S>(S::zero());
  for (int64 j = static_cast<int64>(blockIdx.x) * element_threads + threadIdx.x; j < args.columns;
       j += static_cast<int64>(gridDim.x) * element_threads) {
    static_cast<slot_word<S>*>(args.slots)[j] = zero;
    args.present[j] = false;
  }
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
    add_to_slot<S>(static_cast<slot_word<S>*>(args.slots) + column, x);
    if (!static_cast<volatile bool*>(args.present)[column]) args.present[column] = true;
  }
}

__device__ __forceinline__ void write_offsets(const product_arguments& args, int64 nnz) {
  args.out_offsets[0] = 0;
  args.out_offsets[1] = static_cast<int32>(nnz);
}

/// The sums of the columns that are present, as entries.
template <class S>
__global__ void __launch_bounds__(element_threads) collect_slots(product_arguments args) {
  if (blockIdx.x == 0 && threadIdx.x == 0) write_offsets(args, args.count);
  const int64 n = args.a.offset(1);
  for (int64 at = static_cast<int64>(blockIdx.x) * element_threads + threadIdx.x; at < args.count;
       at += static_cast<int64>(gridDim.x) * element_threads) {
    const index column = args.rows[at];
    args.out_columns[at] = column;
    store_as(args.out_values, args.out_type, at,
             finished<S>(sum_of<S>(static_cast<const slot_word<S>*>(args.slots)[column]), n));
  }
}

/// The most products of one block, and the slots of its table.
constexpr int few_products = 768, few_slots = 1024;

/// The whole product by one block. Its number of entries is −1, and nothing is written, if it has
/// more than `few_products` products.
template <class S>
__global__ void __launch_bounds__(512) push_few(product_arguments args) {
  __shared__ alignas(16) int keys[few_slots];
  __shared__ slot_word<S> sums[few_slots];
  __shared__ int products, entries;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  if (thread == 0) products = entries = 0;
  for (int slot = thread; slot < few_slots; slot += threads) {
    keys[slot] = -1;
    sums[slot] = word_of<S>(S::zero());
  }
  __syncthreads();
  const int64 n = args.a.offset(1);
  for (int64 e = thread; e < n; e += threads) {
    const index inner = args.a.columns[e];
    const int64 length = args.b.offset(inner + 1) - args.b.offset(inner);
    atomicAdd(&products, length < few_products ? static_cast<int>(length) : few_products + 1);
  }
  __syncthreads();
  if (products > few_products) {
    if (thread == 0) *args.lengths = -1;
    return;
  }
  for (int64 e = thread / 32; e < n; e += threads / 32) {
    const index inner = args.a.columns[e];
    const typename S::left a = left_at<S>(args, e);
    for (int64 q = args.b.offset(inner) + thread % 32; q < args.b.offset(inner + 1); q += 32) {
      const index column = args.b.columns[q];
      if (!allows(args.mask, 0, column)) continue;
      bool is_new;
      const int slot = slot_of<few_slots>(keys, column, is_new);
      add_to_slot<S>(sums + slot, product_at<S>(args, a, q, args.flips ? column : 0, inner));
    }
  }
  __syncthreads();
  for (int slot = thread; slot < few_slots; slot += threads) {
    const int key = keys[slot];
    if (key < 0) continue;
    const int at = keys_below(keys, few_slots, key);
    args.out_columns[at] = key;
    store_as(args.out_values, args.out_type, at, finished<S>(sum_of<S>(sums[slot]), n));
    atomicAdd(&entries, 1);
  }
  __syncthreads();
  if (thread != 0) return;
  *args.lengths = entries;
  write_offsets(args, entries);
}

}  // namespace rig::on_cuda
