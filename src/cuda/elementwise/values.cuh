#pragma once

// Element-wise work without a merge: values of entries, and dense elements.
// Cost: one read of each operand, one write. Determinism: each element on its own.

#include "cuda/device/element.cuh"

namespace rig::on_cuda {

/// The element of a dense that meets the entry (i, j): at i · by_row + j · by_column.
struct met_element {
  int64 by_row = 0, by_column = 0;
  bool is_used = false;

  constexpr int64 position(int64 i, int64 j) const { return i * by_row + j * by_column; }
};

/// Element k takes x at position x[k], or k; and y at position y[k], or k. It goes to position k.
struct value_arguments {
  element_arguments elements;
  int64 count = 0;
  const int64 *x = nullptr, *y = nullptr;
  bool has_y = false;
  bool swaps = false;      ///< the operator's first operand is y
  met_element y_at, into;  ///< y is there instead; results go there instead
  // The places of entries, if they are read: `columns` is null if not
  const void* offsets = nullptr;
  bool offsets_64 = false;
  index rows = 0;
  const index* columns = nullptr;
};

/// The rows of a block's entries begin with the first of these, and end before the second.
__device__ inline void find_rows(const value_arguments& args, int64 begin, int64 end,
                                 index (&rows)[2]) {
  __syncthreads();
  if (threadIdx.x < 2) {
    const int64 p = threadIdx.x == 0 ? begin : (end < args.count ? end : args.count) - 1;
    rows[threadIdx.x] = row_of_entry(args.offsets, args.offsets_64, 0, args.rows, p);
  }
  __syncthreads();
}

template <class Op>
__global__ void __launch_bounds__(element_threads) entry_values(value_arguments args) {
  constexpr int n = elements_in_flight, block = element_threads * n;
  __shared__ index of_block[2];
  for (int64 begin = static_cast<int64>(blockIdx.x) * block; begin < args.count;
       begin += static_cast<int64>(gridDim.x) * block) {
    const int64 first = begin + threadIdx.x;
    if (args.columns != nullptr) find_rows(args, begin, begin + block, of_block);
    int64 at[n], x[n], y[n];
    index rows[n] = {}, columns[n] = {};
    for (int k = 0; k < n; ++k) {
      const int64 p = first + k * element_threads;
      at[k] = p < args.count ? p : -1;
      x[k] = at[k] < 0 || args.x == nullptr ? at[k] : args.x[p];
      y[k] = at[k] < 0 || !args.has_y ? -1 : args.y == nullptr ? at[k] : args.y[p];
      if (at[k] < 0 || args.columns == nullptr) continue;
      rows[k] = row_of_entry(args.offsets, args.offsets_64, of_block[0], of_block[1] + 1, p);
      columns[k] = args.columns[p];
      if (args.y_at.is_used) y[k] = args.y_at.position(rows[k], columns[k]);
      if (args.into.is_used) at[k] = args.into.position(rows[k], columns[k]);
    }
    typename Op::result z[n];
    if (args.swaps)
      compute<Op>(args.elements, y, x, rows, columns, z);
    else
      compute<Op>(args.elements, x, y, rows, columns, z);
    scatter(args.elements, at, z);
  }
}

/// The row of element `e` of `count` elements by rows. Numbers of 64 bits take long to divide.
__device__ __forceinline__ int64 row_of_element(int64 e, int64 columns, int64 count) {
  if (count > highest<int32>()) return e / columns;
  return static_cast<int32>(e) / static_cast<int32>(columns);
}

/// T(i, j) = X(rows[i], columns[j]), all dense.
struct dense_list {
  const index* list = nullptr;  ///< null: first + k · step
  index first = 0, step = 1;

  constexpr index operator[](int64 k) const {
    return list != nullptr ? list[k] : static_cast<index>(first + k * step);
  }
};
struct extract_arguments {
  element_arguments elements;
  int64 rows = 0, columns = 0, t_stride = 0;
  int64 x_row_step = 0, x_column_step = 0;  // elements from one row or column of X to the next
  dense_list row_list, column_list;
};

template <class Op>
__global__ void __launch_bounds__(element_threads) extract_elements(extract_arguments args) {
  constexpr int n = elements_in_flight, block = element_threads * n;
  const int64 count = args.rows * args.columns;
  for (int64 first = static_cast<int64>(blockIdx.x) * block + threadIdx.x; first < count;
       first += static_cast<int64>(gridDim.x) * block) {
    int64 at[n], x[n];
    const int64 y[n] = {-1, -1, -1, -1};
    const index unread[n] = {};
    static_assert(n == 4);
    for (int k = 0; k < n; ++k) {
      const int64 e = first + k * element_threads;
      at[k] = x[k] = -1;
      if (e >= count) continue;
      const int64 i = row_of_element(e, args.columns, count), j = e - i * args.columns;
      at[k] = i * args.t_stride + j;
      x[k] = args.row_list[i] * args.x_row_step + args.column_list[j] * args.x_column_step;
    }
    typename Op::result z[n];
    compute<Op>(args.elements, x, y, unread, unread, z);
    scatter(args.elements, at, z);
  }
}

/// The numbers in a list of each index: targets[begins[k]] … targets[begins[k + 1]].
struct inverse_list {
  const int64 *begins, *targets;

  constexpr int64 count(int64 k) const { return begins[k + 1] - begins[k]; }
  constexpr int64 number(int64 k, int64 q) const { return targets[begins[k] + q]; }
};

/// The elements of X that meet at each place of T, joined in order; or the last of them. Places
/// that none meets are left. y is X, and x is T.
struct place_arguments {
  element_arguments elements;
  int64 rows = 0, columns = 0, x_stride = 0, t_stride = 0;
  inverse_list row_list, column_list;
  bool joins = false;
};

/// Element q of those that meet at (r, c).
__device__ __forceinline__ int64 met_at(const place_arguments& args, int64 r, int64 c, int64 q) {
  const int64 width = args.column_list.count(c);
  return args.row_list.number(r, q / width) * args.x_stride + args.column_list.number(c, q % width);
}

template <class Op>
__global__ void __launch_bounds__(element_threads) place_elements(place_arguments args) {
  const int64 count = args.rows * args.columns;
  for (int64 e = static_cast<int64>(blockIdx.x) * element_threads + threadIdx.x; e < count;
       e += static_cast<int64>(gridDim.x) * element_threads) {
    const int64 r = row_of_element(e, args.columns, count), c = e - r * args.columns;
    const int64 meet = args.row_list.count(r) * args.column_list.count(c);
    if (meet == 0) continue;
    const int64 at[1] = {r * args.t_stride + c}, absent[1] = {-1};
    const index unread[1] = {0};
    typename Op::result z[1];
    // One that has no partner is copied; the others go through the stored type, as on the CPU.
    for (int64 q = args.joins ? 0 : meet - 1; q < meet; ++q) {
      const int64 y[1] = {met_at(args, r, c, q)};
      const bool is_first = q == 0 || !args.joins;
      compute<Op>(args.elements, is_first ? absent : at, y, unread, unread, z);
      scatter(args.elements, at, z);
    }
  }
}

/// The same on packed elements of one type, 16 bytes at a time. A constant is not read.
struct packed_arguments {
  element_arguments elements;
  int64 count = 0;
  bool has_y = false;
};

template <class T, int Vectors, int N>
__device__ __forceinline__ void load_packed(const element_array& from, int64 first, int64 vectors,
                                            T (&to)[N]) {
  constexpr int width = N / Vectors;
  if (from.values == nullptr) {
    for (int k = 0; k < N; ++k) to[k] = *reinterpret_cast<const T*>(from.iso.bytes);
    return;
  }
  for (int u = 0; u < Vectors; ++u) {
    const int64 at = first + u * element_threads;
    if (at >= vectors) break;
    const any_value loaded = static_cast<const any_value*>(from.values)[at];
    for (int k = 0; k < width; ++k) to[u * width + k] = reinterpret_cast<const T*>(loaded.bytes)[k];
  }
}

/// One block computes `packed_each` elements.
template <class T>
inline constexpr int packed_vectors = sizeof(T) < 4 ? 1 : 4;
template <class T>
inline constexpr int64 packed_each = int64{element_threads} *
                                     packed_vectors<T>*(16 / static_cast<int64>(sizeof(T)));

template <class Op>
__global__ void __launch_bounds__(element_threads) packed_values(packed_arguments args) {
  using T = typename Op::packed;
  constexpr int vectors = packed_vectors<T>, width = 16 / sizeof(T), n = vectors * width;
  const int64 all = args.count / width;
  for (int64 first = static_cast<int64>(blockIdx.x) * element_threads * vectors + threadIdx.x;
       first < all; first += static_cast<int64>(gridDim.x) * element_threads * vectors) {
    T x[n] = {}, y[n] = {}, z[n];
    load_packed<T, vectors>(args.elements.x, first, all, x);
    if (args.has_y) load_packed<T, vectors>(args.elements.y, first, all, y);
    Op::compute_all(args.elements, x, y, z);
    for (int u = 0; u < vectors; ++u) {
      const int64 at = first + u * element_threads;
      if (at >= all) break;
      any_value made;
      for (int k = 0; k < width; ++k) reinterpret_cast<T*>(made.bytes)[k] = z[u * width + k];
      static_cast<any_value*>(args.elements.out)[at] = made;
    }
  }
  // What is left of a vector.
  const int64 rest = all * width + threadIdx.x;
  if (blockIdx.x != 0 || rest >= args.count) return;
  const int64 at[1] = {rest}, of_y[1] = {args.has_y ? rest : -1};
  const index unread[1] = {0};
  T z[1];
  compute<Op>(args.elements, at, of_y, unread, unread, z);
  scatter(args.elements, at, z);
}

/// C⟨mask⟩ = X op Y, all dense; outside the mask C stays, or becomes `fill`.
struct dense_arguments {
  element_arguments elements;
  int64 rows = 0, columns = 0;
  int64 x_stride = 0, y_stride = 0, c_stride = 0;
  bool has_y = false;
  mask_arguments mask;
  const bool *region_rows = nullptr, *region_columns = nullptr;  ///< null: all of them
  bool outside_fills = false;
  any_value fill = {};  ///< in C's storage type
};

template <class Op>
__global__ void __launch_bounds__(element_threads) dense_values(dense_arguments args) {
  constexpr int n = elements_in_flight, block = element_threads * n;
  const int64 count = args.rows * args.columns;
  for (int64 first = static_cast<int64>(blockIdx.x) * block + threadIdx.x; first < count;
       first += static_cast<int64>(gridDim.x) * block) {
    int64 at[n], x[n], y[n];
    index rows[n] = {}, columns[n] = {};
    for (int k = 0; k < n; ++k) {
      const int64 e = first + k * element_threads;
      at[k] = x[k] = y[k] = -1;
      if (e >= count) continue;
      // One row: packed operands, which may have 2^31 elements and more.
      const int64 i = args.rows == 1 ? 0 : row_of_element(e, args.columns, count),
                  j = e - i * args.columns;
      rows[k] = static_cast<index>(i);
      columns[k] = static_cast<index>(j);
      const int64 c = i * args.c_stride + j;
      if (allows(args.mask, rows[k], columns[k])) {
        if ((args.region_rows != nullptr && !args.region_rows[i]) ||
            (args.region_columns != nullptr && !args.region_columns[j]))
          continue;
        at[k] = c;
        x[k] = i * args.x_stride + j;
        if (args.has_y) y[k] = i * args.y_stride + j;
      } else if (args.outside_fills) {
        store_bytes(args.elements, c, args.fill);
      }
    }
    typename Op::result z[n];
    compute<Op>(args.elements, x, y, rows, columns, z);
    scatter(args.elements, at, z);
  }
}

/// Joins elements that meet at one place: out[g] = ((out[g] op y[members[s + 1]]) op …), where s is
/// the start of group g. x is `out`.
struct group_arguments {
  element_arguments elements;
  int64 groups = 0;
  const int64 *starts = nullptr, *members = nullptr;  ///< starts has the end, too
};

/// One thread per group, in order, through the stored type as on the CPU.
template <class Op>
__global__ void __launch_bounds__(element_threads) join_groups(group_arguments args) {
  for (int64 g = static_cast<int64>(blockIdx.x) * element_threads + threadIdx.x; g < args.groups;
       g += static_cast<int64>(gridDim.x) * element_threads)
    for (int64 q = args.starts[g] + 1; q < args.starts[g + 1]; ++q) {
      const int64 at[1] = {g}, member[1] = {args.members[q]};
      const index none[1] = {0};
      typename Op::result z[1];
      compute<Op>(args.elements, at, member, none, none, z);
      scatter(args.elements, at, z);
    }
}

}  // namespace rig::on_cuda
