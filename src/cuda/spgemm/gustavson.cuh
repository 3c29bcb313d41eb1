#pragma once

// gustavson: row i of C is the sum of the rows of B that row i of A names.
//
// Rows of few products list them in shared memory and order them by column, a subwarp per row. Rows
// of more products are sorted by a block (sort_rows.cuh); rows of many products per window of
// columns are summed in windows, a warp per row and window. The rows of B are added one after the
// other, and no two lanes add to one column at a time. Kernels run twice: to count the entries of
// C, and to write them. Rows of few products, and all rows if the mask has room for them, are
// written at once, apart, and copied. Source: Nagasaka et al., ICPP 2017 (classes of rows).
// Determinism: each sum is added in the order of A's entries.

#include "cuda/spgemm/product.cuh"

namespace rig::on_cuda {

/// Writes entries from place `at` on, and returns the place after them. They are at the columns of
/// the mask's row from `first_column` on and before `last_column` that have a sum:
/// sums[find(column)], unless that is −1.
template <class S, int G, bool Fills, class T, class Find>
__device__ int64 write_in_mask(const product_arguments& args, index row, index first_column,
                               index last_column, const T* sums, int64 at, Find find) {
  const int lane = static_cast<int>(threadIdx.x) % G;
  const unsigned members = members_of<G>(), shift = threadIdx.x % 32 / G * G;
  const int64 n = args.a.offset(row + 1) - args.a.offset(row), row_end = args.mask.offset(row + 1);
  const int64 begin = first_from(args.mask.entries, args.mask.offset(row), row_end, first_column),
              end = first_from(args.mask.entries, begin, row_end, last_column);
  for (int64 first = begin; first < end; first += G) {
    const int64 e = first + lane;
    const index column = e < end ? args.mask.entries[e] : 0;
    const int found = e < end && is_set(args.mask, e) ? find(column) : -1;
    const unsigned kept = (__ballot_sync(members, found >= 0) & members) >> shift;
    if (Fills && found >= 0) {
      const int64 to = at + __popc(kept & ((1u << lane) - 1));
      args.out_columns[to] = column;
      store_as(args.out_values, args.out_type, to, finished<S>(sums[found], n));
    }
    at += __popc(kept);
  }
  return at;
}

/// Lists the products of a row in the order of A's entries; returns their number.
template <class S, int G, bool Fills, class T>
__device__ int list_products(const product_arguments& args, index row, int* keys, T* sums) {
  const int lane = static_cast<int>(threadIdx.x) % G;
  const unsigned members = members_of<G>();
  const int64 begin = args.a.offset(row), end = args.a.offset(row + 1);
  int count = 0;
  for (int64 first = begin; first < end; first += G) {
    index inner = 0;
    int64 from = 0;
    int length = 0;
    if (first + lane < end) {
      inner = args.a.columns[first + lane];
      from = args.b.offset(inner);
      length = static_cast<int>(args.b.offset(inner + 1) - from);
    }
    int before = length;  // over the lanes up to this one
    for (int distance = 1; distance < G; distance *= 2) {
      const int other = __shfl_up_sync(members, before, distance, G);
      if (lane >= distance) before += other;
    }
    const int total = __shfl_sync(members, before, G - 1, G);
    before -= length;
    for (int place = lane; place - lane < total; place += G) {
      int t = 0;  // the last entry with at most `place` products before it
      for (int step = G / 2; step > 0; step /= 2)
        if (__shfl_sync(members, before, t + step, G) <= place) t += step;
      const index k = __shfl_sync(members, inner, t, G);
      const int64 q = __shfl_sync(members, from, t, G) + place - __shfl_sync(members, before, t, G);
      if (place >= total) continue;
      const index column = args.b.columns[q];
      keys[count + place] = column;
      if constexpr (Fills)
        sums[count + place] =
            product_at<S>(args, left_at<S>(args, first + t), q, args.flips ? column : row, k);
    }
    count += total;
  }
  __syncwarp(members);
  return count;
}

/// The number of keys that are less than key `at`, or equal and before it. The last vector of four
/// keys is padded.
__device__ __forceinline__ int rank_of(const int* keys, int count, int at) {
  const auto key = static_cast<unsigned>(keys[at]);
  const int own = at / 4 * 4;
  int rank = 0;
  for (int i = 0; i < count; i += 4) {
    const uint4 four = *reinterpret_cast<const uint4*>(keys + i);
    const unsigned than = i < own ? key + 1 : key;
    rank += (four.x < than) + (four.y < than) + (four.z < than) + (four.w < than);
  }
  for (int i = own; i < at; ++i) rank += keys[i] == keys[at];
  return rank;
}

/// Numbers products by column; those of one column stay in their order.
template <int G>
__device__ void order_products(int* keys, int count, unsigned char* order) {
  const int lane = static_cast<int>(threadIdx.x) % G;
  const unsigned members = members_of<G>();
  if (count + lane < (count + 3) / 4 * 4) keys[count + lane] = -1;  // above all, without a sign
  __syncwarp(members);
  for (int at = lane; at < count; at += G)
    order[rank_of(keys, count, at)] = static_cast<unsigned char>(at);
  __syncwarp(members);
}

/// Adds the products of each column that the mask allows; returns the number of columns.
template <class S, int G, bool Fills, class T>
__device__ int add_runs(const product_arguments& args, index row, const int* keys, const T* sums,
                        const unsigned char* order, int count) {
  const int lane = static_cast<int>(threadIdx.x) % G;
  const unsigned members = members_of<G>(), shift = threadIdx.x % 32 / G * G;
  const int64 n = args.a.offset(row + 1) - args.a.offset(row);
  int written = 0;
  for (int first = 0; first < count; first += G) {
    const int i = first + lane;
    const int key = i < count ? keys[order[i]] : -1;
    const bool is_kept =
        key >= 0 && (i == 0 || keys[order[i - 1]] != key) && allows(args.mask, row, key);
    const unsigned kept = (__ballot_sync(members, is_kept) & members) >> shift;
    if (Fills && is_kept) {
      T sum = sums[order[i]];
      for (int next = i + 1; next < count && keys[order[next]] == key; ++next)
        sum = S::add(sum, sums[order[next]]);
      const int64 to = args.before[row] + written + __popc(kept & ((1u << lane) - 1));
      args.out_columns[to] = key;
      store_as(args.out_values, args.out_type, to, finished<S>(sum, n));
    }
    written += __popc(kept);
  }
  return written;
}

/// A subwarp of G lanes per row, which has at most Products products.
template <class S, int G, int Products, int Threads, bool Fills>
__global__ void __launch_bounds__(Threads) rank_rows(product_arguments args) {
  using accum = typename S::accum;
  constexpr int subwarps = Threads / G;
  __shared__ alignas(16) int all_keys[subwarps][Products];
  __shared__ alignas(16) unsigned char all_sums[Fills ? subwarps * Products * sizeof(accum) : 16];
  __shared__ unsigned char all_orders[subwarps][Products];
  static_assert(Products <= 256);
  const int subwarp = static_cast<int>(threadIdx.x) / G;
  int* const keys = all_keys[subwarp];
  accum* const sums = reinterpret_cast<accum*>(all_sums) + (Fills ? subwarp * Products : 0);
  for (int64 r = static_cast<int64>(blockIdx.x) * subwarps + subwarp; r < args.count;
       r += static_cast<int64>(gridDim.x) * subwarps) {
    const index row = args.rows[r];
    const int count = list_products<S, G, Fills>(args, row, keys, sums);
    order_products<G>(keys, count, all_orders[subwarp]);
    const int written = add_runs<S, G, Fills>(args, row, keys, sums, all_orders[subwarp], count);
    if (threadIdx.x % G == 0 && args.lengths != nullptr) args.lengths[row] = written;
    __syncwarp(members_of<G>());
  }
}

/// Columns of a window, whose sums a warp holds in shared memory.
template <class S>
constexpr int window_columns = [] {
  int columns = 16384;
  while (columns > 32 && columns * static_cast<int>(sizeof(typename S::accum)) > 16384)
    columns /= 2;
  return columns;
}();

/// One window of sums, and which of them there are.
template <class S, bool Fills>
struct sum_window {
  static constexpr int words = window_columns<S> / 32;
  unsigned present[words];
  alignas(16) unsigned char memory[Fills ? window_columns<S> * sizeof(typename S::accum) : 16];
  __device__ typename S::accum* sums() { return reinterpret_cast<typename S::accum*>(memory); }
};

/// Adds the rows of B that row `row` of A names, in columns [first, last).
template <class S, bool Fills>
__device__ void add_window(const product_arguments& args, index row, index first_column,
                           index last_column, sum_window<S, Fills>& window) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int64 begin = args.a.offset(row), end = args.a.offset(row + 1);
  for (int64 first = begin; first < end; first += 32) {
    index inner = 0;
    int64 from = 0, to = 0;
    if (first + lane < end) {
      inner = args.a.columns[first + lane];
      to = args.b.offset(inner + 1);
      from = first_from(args.b.columns, args.b.offset(inner), to, first_column);
      to = first_from(args.b.columns, from, to, last_column);
    }
    for (unsigned todo = __ballot_sync(0xffffffffu, from < to); todo != 0; todo &= todo - 1) {
      const int t = __ffs(static_cast<int>(todo)) - 1;
      const index k = __shfl_sync(0xffffffffu, inner, t);
      const int64 q_end = __shfl_sync(0xffffffffu, to, t);
      typename S::left a{};
      if constexpr (Fills) a = left_at<S>(args, first + t);
      for (int64 q = __shfl_sync(0xffffffffu, from, t) + lane; q < q_end; q += 32) {
        const index column = args.b.columns[q];
        const int at = column - first_column;
        const unsigned bit = 1u << (at % 32);
        const bool is_new = (atomicOr(&window.present[at / 32], bit) & bit) == 0;
        if constexpr (Fills) {
          const typename S::accum x = product_at<S>(args, a, q, args.flips ? column : row, k);
          window.sums()[at] = is_new ? x : S::add(window.sums()[at], x);
        }
      }
      __syncwarp();
    }
  }
}

/// Writes the sums of a window that the mask allows, from place `at` on; returns the place after
/// them.
template <class S, bool Fills>
__device__ int64 write_window(const product_arguments& args, index row, index first_column,
                              sum_window<S, Fills>& window, int64 at) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int64 n = args.a.offset(row + 1) - args.a.offset(row);
  for (int base = 0; base < sum_window<S, Fills>::words; base += 32) {
    unsigned bits = base + lane < sum_window<S, Fills>::words ? window.present[base + lane] : 0;
    const index column = first_column + (base + lane) * 32;
    if (args.mask.over != mask_arguments::absent)
      for (unsigned left = bits; left != 0; left &= left - 1) {
        const int bit = __ffs(static_cast<int>(left)) - 1;
        if (!allows(args.mask, row, column + bit)) bits &= ~(1u << bit);
      }
    int sum = __popc(bits);  // over the lanes up to this one
    const int mine = sum;
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, sum, distance);
      if (lane >= distance) sum += other;
    }
    if constexpr (Fills) {
      int64 to = at + sum - mine;
      for (; bits != 0; bits &= bits - 1, ++to) {
        const int bit = __ffs(static_cast<int>(bits)) - 1;
        args.out_columns[to] = column + bit;
        store_as(args.out_values, args.out_type, to,
                 finished<S>(window.sums()[(base + lane) * 32 + bit], n));
      }
    }
    at += __shfl_sync(0xffffffffu, sum, 31);
  }
  return at;
}

/// A warp per row and window of columns.
template <class S, bool Fills>
__global__ void __launch_bounds__(32) window_rows(product_arguments args) {
  __shared__ sum_window<S, Fills> window;
  for (int64 task = blockIdx.x; task < args.count; task += gridDim.x) {
    const index row = args.rows[task / args.windows];
    const int64 from = task % args.windows * window_columns<S>;
    const auto first = static_cast<index>(from);
    const auto last = static_cast<index>(
        from + window_columns<S> < args.columns ? from + window_columns<S> : args.columns);
    for (int word = static_cast<int>(threadIdx.x); word < sum_window<S, Fills>::words; word += 32)
      window.present[word] = 0;
    __syncwarp();
    add_window<S, Fills>(args, row, first, last, window);
    const int64 start = Fills ? args.before[task] : 0;
    const auto find = [&](index column) {
      const int at = column - first;
      return (window.present[at / 32] >> (at % 32) & 1) != 0 ? at : -1;
    };
    const int64 end =
        is_inside_mask(args.mask)
            ? write_in_mask<S, 32, Fills>(args, row, first, last, window.sums(), start, find)
            : write_window<S, Fills>(args, row, first, window, start);
    if (threadIdx.x == 0 && args.lengths != nullptr) args.lengths[task] = end - start;
    __syncwarp();
  }
}

}  // namespace rig::on_cuda
