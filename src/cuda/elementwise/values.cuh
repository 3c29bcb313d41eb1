#pragma once

// Element-wise work without a merge: values of entries, and dense elements.
// Cost: one read of each operand, one write. Determinism: each element on its own.

#include "cuda/device/element.cuh"

namespace rig::on_cuda {

/// Element k takes x at position x[k], or k; and y at position y[k], or k.
struct value_arguments {
  element_arguments elements;
  int64 count = 0;
  const int64 *x = nullptr, *y = nullptr;
  bool has_y = false;
  bool y_by_row = false, y_by_column = false;  ///< y at (row or column) · y_stride instead
  int64 y_stride = 0;
  // The places of entries, if they are read: `columns` is null if not
  const void* offsets = nullptr;
  bool offsets_64 = false;
  index rows = 0;
  const index* columns = nullptr;
};

/// The row that holds entry p: the last that begins at or before p.
__device__ inline index row_of_entry(const void* offsets, bool offsets_64, index rows, int64 p) {
  index low = 0, high = rows;
  while (high - low > 1) {
    const index middle = low + (high - low) / 2;
    const int64 begin = offsets_64 ? static_cast<const int64*>(offsets)[middle]
                                   : static_cast<const int32*>(offsets)[middle];
    if (begin <= p)
      low = middle;
    else
      high = middle;
  }
  return low;
}

template <class Op>
__global__ void __launch_bounds__(element_threads) entry_values(value_arguments args) {
  constexpr int n = elements_in_flight, block = element_threads * n;
  for (int64 first = static_cast<int64>(blockIdx.x) * block + threadIdx.x; first < args.count;
       first += static_cast<int64>(gridDim.x) * block) {
    int64 at[n], x[n], y[n];
    index rows[n] = {}, columns[n] = {};
    for (int k = 0; k < n; ++k) {
      const int64 p = first + k * element_threads;
      at[k] = p < args.count ? p : -1;
      x[k] = at[k] < 0 || args.x == nullptr ? at[k] : args.x[p];
      y[k] = at[k] < 0 || !args.has_y ? -1 : args.y == nullptr ? at[k] : args.y[p];
      if (at[k] < 0 || args.columns == nullptr) continue;
      rows[k] = row_of_entry(args.offsets, args.offsets_64, args.rows, p);
      columns[k] = args.columns[p];
      if (args.y_by_row) y[k] = rows[k] * args.y_stride;
      if (args.y_by_column) y[k] = columns[k] * args.y_stride;
    }
    typename Op::result z[n];
    compute<Op>(args.elements, x, y, rows, columns, z);
    scatter(args.elements, at, z);
  }
}

/// C⟨mask⟩ = X op Y, all dense; outside the mask C stays, or becomes `fill`.
struct dense_arguments {
  element_arguments elements;
  int64 rows = 0, columns = 0;
  int64 x_stride = 0, y_stride = 0, c_stride = 0;
  bool has_y = false;
  mask_arguments mask;
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
      const int64 i = args.rows == 1 ? 0 : e / args.columns, j = e - i * args.columns;
      rows[k] = static_cast<index>(i);
      columns[k] = static_cast<index>(j);
      const int64 c = i * args.c_stride + j;
      if (allows(args.mask, rows[k], columns[k])) {
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
