#pragma once

// dot: each entry of the mask is the product of a row of A and a column of B, by a subwarp. The
// shorter of row and column is read by the lanes and looked up in the longer one.
// pull: each column of B that the mask allows, looked up in a bit per place of the vector. A thread
// reads a short column, a warp a longer one, and a block a hub's.
//
// Determinism: each lane adds its products in order, and the lanes' sums are joined in a fixed
// order.

#include "cuda/spgemm/product.cuh"

namespace rig::on_cuda {

/// The products of row `row` of A and column `column` of B. Returns whether there is one.
template <class S, int G>
__device__ bool dot_sparse(const product_arguments& args, index row, index column,
                           typename S::accum& sum) {
  int64 a = args.a.offset(row), b = args.b.offset(column);
  const int64 a_end = args.a.offset(row + 1), b_end = args.b.offset(column + 1);
  const bool reads_a = a_end - a <= b_end - b;
  const int lane = static_cast<int>(threadIdx.x) % G;
  const int64 end = reads_a ? a_end : b_end;
  const index* const read = reads_a ? args.a.columns : args.b.columns;
  const index* const searched = reads_a ? args.b.columns : args.a.columns;
  int64 low = reads_a ? b : a;
  const int64 high = reads_a ? b_end : a_end;
  bool has_sum = false;
  for (int64 e = (reads_a ? a : b) + lane; e < end && low < high; e += G) {
    const index inner = read[e];
    low = first_from(searched, low, high, inner);
    if (low == high || searched[low] != inner) continue;
    const typename S::accum x =
        product_at<S>(args, left_at<S>(args, reads_a ? e : low), reads_a ? low : e, row, inner);
    sum = has_sum ? S::add(sum, x) : x;
    has_sum = true;
    if constexpr (has_terminal<S>)
      if (sum == S::terminal()) break;
  }
  __syncwarp(members_of<G>());
  return join_lanes<S, G>(sum, has_sum);
}

/// The products of row `row` of a dense A and column `column` of a dense B.
template <class S, int G>
__device__ bool dot_dense(const product_arguments& args, index row, index column,
                          typename S::accum& sum) {
  bool has_sum = false;
  for (index k = static_cast<index>(threadIdx.x) % G; k < args.inner; k += G) {
    typename S::left a{};
    typename S::right b{};
    if constexpr (!is_ignoring_left<S>)
      a = element_at<typename S::left>(args.full_a.elements,
                                       row * args.full_a.line + k * args.full_a.step);
    if constexpr (!is_ignoring_right<S>)
      b = element_at<typename S::right>(args.full_b.elements,
                                        column * args.full_b.line + k * args.full_b.step);
    const typename S::accum x = product<S>(a, b, {row, k});
    sum = has_sum ? S::add(sum, x) : x;
    has_sum = true;
  }
  __syncwarp(members_of<G>());
  return join_lanes<S, G>(sum, has_sum);
}

/// Writes the candidate's sum; the values of candidates are packed later.
template <class S, int G>
__device__ void write_candidate(const product_arguments& args, int64 at, bool has_sum,
                                typename S::accum sum, int64 n) {
  if (threadIdx.x % G != 0) return;
  args.present[at] = has_sum;
  if (has_sum) store_as(args.out_values, args.out_type, at, finished<S>(sum, n));
}

/// A subwarp of G lanes per entry of the mask.
template <class S, int G, bool Dense>
__global__ void __launch_bounds__(element_threads) dot_entries(product_arguments args) {
  constexpr int subwarps = element_threads / G;
  for (int64 e = static_cast<int64>(blockIdx.x) * subwarps + threadIdx.x / G; e < args.count;
       e += static_cast<int64>(gridDim.x) * subwarps) {
    const index row = args.candidate_rows[e], column = args.candidate_columns[e];
    bool has_sum = is_set(args.mask, e);
    typename S::accum sum{};
    int64 n = args.inner;
    if (has_sum) {
      if constexpr (Dense) {
        has_sum = dot_dense<S, G>(args, row, column, sum);
      } else {
        has_sum = dot_sparse<S, G>(args, row, column, sum);
        n = args.a.offset(row + 1) - args.a.offset(row);
      }
    }
    write_candidate<S, G>(args, e, has_sum, sum, n);
  }
}

/// Adds the product of entry q of a column of B, if the vector has it. Returns whether the sum can
/// end.
template <class S>
__device__ __forceinline__ bool pull_entry(const product_arguments& args, index column, int64 q,
                                           typename S::accum& sum, bool& has_sum) {
  const index inner = args.b.columns[q];
  if ((args.in_vector[inner / 32] >> (inner % 32) & 1) == 0) return false;
  const index p = is_ignoring_left<S> ? 0 : args.places[inner];
  const typename S::accum x =
      product_at<S>(args, left_at<S>(args, p), q, args.flips ? column : 0, inner);
  sum = has_sum ? S::add(sum, x) : x;
  has_sum = true;
  if constexpr (has_terminal<S>) return sum == S::terminal();
  return false;
}

/// Writes the sum of a column of so many entries.
template <class S>
__device__ void write_pulled(const product_arguments& args, index column, int64 length,
                             bool has_sum, typename S::accum sum) {
  args.present[column] = has_sum;
  if (has_sum)
    store_as(args.out_values, args.out_type, column,
             finished<S>(sum, args.flips ? length : args.a.offset(1) - args.a.offset(0)));
}

/// The first entries of a column that one thread reads; a warp reads the others, or a block if
/// there are more than `entries_per_warp`.
constexpr int entries_per_thread = 32, entries_per_warp = 256;

/// A thread per column of B, and the warp for the rest of longer ones. Lists those that are left.
template <class S>
__global__ void __launch_bounds__(element_threads) pull_columns(product_arguments args) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int64 first = static_cast<int64>(blockIdx.x) * element_threads + threadIdx.x - lane;
       first < args.count; first += static_cast<int64>(gridDim.x) * element_threads) {
    const bool is_there = first + lane < args.count;
    const auto column = static_cast<index>(first + lane);
    int64 at = 0, end = 0, length = 0;
    if (is_there) {
      at = args.b.offset(column);
      end = args.b.offset(column + 1);
      length = end - at;
      if (length > 0 && !allows(args.mask, 0, column)) end = at;
    }
    typename S::accum sum{};
    bool has_sum = false;
    for (int i = 0; i < entries_per_thread && at < end; ++i, ++at)
      if (pull_entry<S>(args, column, at, sum, has_sum)) end = at;
    const bool is_left = end - at > entries_per_warp;
    if (is_left) {
      args.long_columns[atomicAdd(args.long_count, 1u)] = column;
      end = at;
    }
    for (unsigned todo = __ballot_sync(0xffffffffu, at < end); todo != 0; todo &= todo - 1) {
      const int of = __ffs(static_cast<int>(todo)) - 1;
      const int64 to = __shfl_sync(0xffffffffu, end, of);
      typename S::accum rest{};
      bool has_rest = false, is_over = false;
      for (int64 q = __shfl_sync(0xffffffffu, at, of); q < to && !is_over; q += 32) {
        if (q + lane < to)
          is_over = pull_entry<S>(args, static_cast<index>(first + of), q + lane, rest, has_rest);
        if constexpr (has_terminal<S>) is_over = __any_sync(0xffffffffu, is_over) != 0;
      }
      has_rest = join_lanes<S, 32>(rest, has_rest);
      if (lane != of || !has_rest) continue;
      sum = has_sum ? S::add(sum, rest) : rest;
      has_sum = true;
    }
    if (is_there && !is_left) write_pulled<S>(args, column, length, has_sum, sum);
  }
}

/// A block per column that `pull_columns` lists.
constexpr int long_column_threads = 512;
template <class S>
__global__ void __launch_bounds__(long_column_threads) pull_long_columns(product_arguments args) {
  using accum = typename S::accum;
  constexpr int warps = long_column_threads / 32;
  __shared__ alignas(16) unsigned char memory[warps * sizeof(accum)];
  __shared__ bool has_sums[warps];
  accum* const sums = reinterpret_cast<accum*>(memory);
  const int thread = static_cast<int>(threadIdx.x);
  const unsigned count = *args.long_count;
  for (unsigned i = blockIdx.x; i < count; i += gridDim.x) {
    const index column = args.long_columns[i];
    const int64 begin = args.b.offset(column), end = args.b.offset(column + 1);
    accum sum{};
    bool has_sum = false;
    for (int64 first = begin; first < end; first += long_column_threads) {
      const bool is_over =
          first + thread < end && pull_entry<S>(args, column, first + thread, sum, has_sum);
      if constexpr (has_terminal<S>)
        if (__syncthreads_or(is_over) != 0) break;
    }
    has_sum = join_lanes<S, 32>(sum, has_sum);
    if (thread % 32 == 0) {
      sums[thread / 32] = sum;
      has_sums[thread / 32] = has_sum;
    }
    __syncthreads();
    if (thread < warps) {
      sum = sums[thread];
      has_sum = join_lanes<S, warps>(sum, has_sums[thread]);
      if (thread == 0) write_pulled<S>(args, column, end - begin, has_sum, sum);
    }
    __syncthreads();
  }
}

}  // namespace rig::on_cuda
