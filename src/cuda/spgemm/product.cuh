#pragma once

// What the kernels with sparse results share: their arguments and operands.

#include "cuda/device/element.cuh"

namespace rig::on_cuda {

/// A sparse operand.
struct sparse_argument {
  const void* offsets = nullptr;
  bool offsets_64 = false;
  const index* columns = nullptr;
  element_array values = {};

  constexpr int64 offset(index row) const { return offset_at(offsets, offsets_64, row); }
};

/// A dense operand: element (i, k) of A, or (k, j) of B, is at i · line + k · step, or j · line +
/// k · step.
struct line_argument {
  element_array elements = {};
  int64 line = 0, step = 0;
};

struct product_arguments {
  sparse_argument a, b;  ///< B by rows, or by columns: then a row is a column of B
  line_argument full_a, full_b;
  index inner = 0;     ///< of dense operands
  index columns = 0;   ///< of C
  bool flips = false;  ///< C is a column: a position's row is the index in C
  mask_arguments mask;

  // gustavson: the rows of one class, and windows of their columns; push: the columns of C
  const index* rows = nullptr;
  int64 count = 0;  ///< of rows, of windows of all rows, of candidates or of products
  index windows = 1;
  int64* lengths = nullptr;       ///< receives those of rows or windows, if not null
  const int64* before = nullptr;  ///< writing: the first place of each row, window or candidate
  int64 room = 0;                 ///< products in the lists of a block that sorts
  void* lists = nullptr;          ///< in device memory, by block

  // dot, pull, push: candidates for entries
  const index *candidate_rows = nullptr, *candidate_columns = nullptr;
  bool* present = nullptr;                 ///< by candidate: whether it is an entry
  const unsigned* in_vector = nullptr;     ///< pull: a bit per place of the vector
  const index* places = nullptr;           ///< pull: the entry of each place
  index* long_columns = nullptr;           ///< pull: those that are left to blocks
  unsigned* long_count = nullptr;          ///< pull: their number
  const int64* products_before = nullptr;  ///< push: of the entries of the vector
  void* slots = nullptr;                   ///< push: a sum per column

  // The result
  int32* out_offsets = nullptr;  ///< of its one row
  index* out_columns = nullptr;
  void* out_values = nullptr;
  type out_type = type::other;
};

/// Whether C has entries only where a sparse mask has them.
__device__ __forceinline__ bool is_inside_mask(const mask_arguments& mask) {
  return mask.over == mask_arguments::matrix && !mask.complemented;
}

template <class T>
__device__ __forceinline__ T element_at(const element_array& from, int64 position) {
  const int64 at[1] = {position};
  T to[1];
  gather(from, at, to);
  return to[0];
}

/// a ⊗ b at entry p of A and entry q of B.
template <class S>
__device__ __forceinline__ typename S::accum product_at(const product_arguments& args,
                                                        typename S::left a, int64 q, index row,
                                                        index inner) {
  typename S::right b{};
  if constexpr (!is_ignoring_right<S>) b = element_at<typename S::right>(args.b.values, q);
  return product<S>(a, b, {row, inner});
}
template <class S>
__device__ __forceinline__ typename S::left left_at(const product_arguments& args, int64 p) {
  if constexpr (is_ignoring_left<S>)
    return {};
  else
    return element_at<typename S::left>(args.a.values, p);
}

/// The first of entries [low, high) whose column is not less.
__device__ __forceinline__ int64 first_from(const index* columns, int64 low, int64 high,
                                            index column) {
  while (low < high) {
    const int64 middle = low + (high - low) / 2;
    if (columns[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Where the search for a column in a table of a power of two of slots begins.
template <int Slots>
__device__ __forceinline__ int first_slot(index column) {
  return static_cast<int>(static_cast<unsigned>(column) * 2654435769u >> 16) & (Slots - 1);
}

/// The place of a column in such a table, and whether it is new there.
template <int Slots>
__device__ __forceinline__ int slot_of(int* keys, index column, bool& is_new) {
  int slot = first_slot<Slots>(column);
  for (;; slot = (slot + 1) & (Slots - 1)) {
    int key = static_cast<volatile int*>(keys)[slot];
    if (key == -1) key = atomicCAS(keys + slot, -1, column);
    is_new = key == -1;
    if (is_new || key == column) return slot;
  }
}

/// The number of keys that are less; keys of −1 count as greatest. `count` is a multiple of 4, or
/// the last vector is padded.
__device__ __forceinline__ int keys_below(const int* keys, int count, int key) {
  const auto than = static_cast<unsigned>(key);
  int below = 0;
  for (int i = 0; i < count; i += 4) {
    const uint4 four = *reinterpret_cast<const uint4*>(keys + i);
    below += (four.x < than) + (four.y < than) + (four.z < than) + (four.w < than);
  }
  return below;
}

/// The lanes of this thread's subwarp of G lanes.
template <int G>
__device__ __forceinline__ unsigned members_of() {
  return G == 32 ? 0xffffffffu : ((1u << G) - 1) << (threadIdx.x % 32 / G * G);
}

/// The sum of the subwarp's partial sums, in a fixed order, in its first lane; whether there is
/// one.
template <class S, int G>
__device__ __forceinline__ bool join_lanes(typename S::accum& sum, bool has_sum) {
  for (int distance = G / 2; distance > 0; distance /= 2) {
    const typename S::accum other = shuffle_xor(members_of<G>(), sum, distance);
    const bool has_other = __shfl_xor_sync(members_of<G>(), has_sum ? 1 : 0, distance) != 0;
    // Lanes of a pair add in the same order, so both have the same sum.
    const bool is_lower = (threadIdx.x & static_cast<unsigned>(distance)) == 0;
    if (has_sum && has_other)
      sum = is_lower ? S::add(sum, other) : S::add(other, sum);
    else if (has_other)
      sum = other;
    has_sum = has_sum || has_other;
  }
  return has_sum;
}

}  // namespace rig::on_cuda
