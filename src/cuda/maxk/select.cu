// MaxK on a device: selects the k greatest numbers of every row, and copies between a cbsr and a
// dense matrix.
//
// Rows of at most 1 024 columns: one warp per row, with the numbers in registers. A bisection finds
// the least retained number, with one count over the warp per step. It bisects the numbers, and
// after 16 steps the bits of their keys.
// Wider rows: one block per row, a radix selection of eight bits per pass in shared memory; each
// pass reads the row again.
// Cost: O(m · f); a row that fits in registers is read once. Source: radix selection; the rule for
// ties is that of MaxK-GNN (Peng et al., ASPLOS 2024). Measured: suite maxk.

#include "cuda/runtime/runtime.hpp"
#include "storage/sort_key.hpp"

namespace rig::on_cuda {
namespace {

constexpr unsigned all_lanes = 0xffffffffu;
constexpr int row_threads = 128;  // four rows per block
constexpr int wide_threads = 256;
constexpr index widest_in_registers = 1024;

/// The type in which numbers are compared: 16-bit floats are compared as float.
template <class T>
using wide_of = std::conditional_t<sizeof(T) == 8, double, float>;
template <class T>
using key_word = typename word_of<sizeof(wide_of<T>)>::type;

template <class T>
__device__ key_word<T> key_of(T x) {
  return sort_key(convert<wide_of<T>>(x));
}

/// The least and the greatest value over the warp.
template <class Word>
__device__ Word least_of_warp(Word x) {
  if constexpr (sizeof(Word) == 4) {
    return __reduce_min_sync(all_lanes, x);
  } else {
    for (int distance = 16; distance > 0; distance /= 2)
      x = min(x, __shfl_xor_sync(all_lanes, x, distance));
    return x;
  }
}
template <class Word>
__device__ Word greatest_of_warp(Word x) {
  return ~least_of_warp(static_cast<Word>(~x));
}

/// The sum of `mine` over the lanes before this one.
__device__ int count_before(int mine) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int sum = mine;
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(all_lanes, sum, distance);
    if (lane >= distance) sum += other;
  }
  return sum - mine;
}

/// How many of a warp's numbers are at least `bound`.
template <class T, int E>
__device__ __forceinline__ int count_from(const T (&numbers)[E], T bound) {
  int found = 0;
#pragma unroll
  for (int e = 0; e < E; ++e) found += numbers[e] >= bound;
  return __reduce_add_sync(all_lanes, found);
}

/// Where the key of the least retained number lies: in [threshold, most]. `reached`: how many keys
/// are at least `threshold`; never fewer than k.
template <class T>
struct key_range {
  key_word<T> threshold, most;
  int reached;
};

/// Bisects finite numbers, which takes few steps when they have similar magnitudes.
template <class T, int E>
__device__ __forceinline__ void bisect_numbers(const wide_of<T> (&numbers)[E], wide_of<T> low,
                                               wide_of<T> high, int k, key_range<T>& in) {
  using wider = wide_of<T>;
  in.most = sort_key(high);
  for (int step = 0; step < 16 && in.reached > k; ++step) {
    const wider middle = low * wider(0.5) + high * wider(0.5);
    if (!(middle > low && middle < high)) break;
    const int found = count_from(numbers, middle);
    if (found >= k) {
      low = middle;
      in.reached = found;
    } else {
      high = middle;
      in.most = sort_key(high) - 1;
    }
  }
  in.threshold = sort_key(low);
}

template <class T, int E>
__device__ __forceinline__ void bisect_keys(const key_word<T> (&keys)[E], int k, key_range<T>& in) {
  while (in.threshold < in.most && in.reached > k) {
    const key_word<T> middle = in.threshold + (in.most - in.threshold + 1) / 2;
    const int found = count_from(keys, middle);
    if (found >= k) {
      in.threshold = middle;
      in.reached = found;
    } else {
      in.most = middle - 1;
    }
  }
}

/// The lane's retained numbers, one bit each. Among numbers equal to the least retained one, the
/// first in the row are retained.
template <class T, int E>
__device__ __forceinline__ unsigned retained_of(const key_word<T> (&keys)[E], int k,
                                                const key_range<T>& in) {
  unsigned taken = 0;
#pragma unroll
  for (int e = 0; e < E; ++e) taken |= static_cast<unsigned>(keys[e] >= in.threshold) << e;
  if (in.reached <= k) return taken;
  unsigned tied = 0;
#pragma unroll
  for (int e = 0; e < E; ++e) tied |= static_cast<unsigned>(keys[e] == in.threshold) << e;
  const int greater = __reduce_add_sync(all_lanes, __popc(taken & ~tied));
  int left = k - greater - count_before(__popc(tied));
  for (; tied != 0; tied &= tied - 1)
    if (left-- <= 0) taken &= ~(tied & (~tied + 1));
  return taken;
}

/// E neighbouring numbers of a row. `packed`: rows begin on 16 bytes and fill all lanes.
template <class T, int E>
struct alignas(16) lane_numbers {
  T number[E];

  __device__ __forceinline__ lane_numbers(const T* from, index columns, bool packed) {
    constexpr int words = static_cast<int>(sizeof(T)) * E / 16;
    if (words > 0 && packed) {
      for (int w = 0; w < words; ++w)
        reinterpret_cast<uint4*>(number)[w] = __ldcs(reinterpret_cast<const uint4*>(from) + w);
    } else {
      for (int e = 0; e < E; ++e) number[e] = e < columns ? from[e] : T();
    }
  }
};

/// One warp per row; lane l has columns E·l … E·l + E − 1.
template <class T, class Index, int E>
__global__ void __launch_bounds__(row_threads)
    select_top_k_of_rows(const T* x, int64 stride, index rows, index columns, int k, bool packed,
                         T* values, Index* indices) {
  using wider = wide_of<T>;
  const index row = static_cast<index>(blockIdx.x * (row_threads / 32) + threadIdx.x / 32);
  if (row >= rows) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const lane_numbers<T, E> of(x + row * stride + lane * E, columns - lane * E, packed);
  wider numbers[E], finite = 0, least = 0, greatest = 0;
#pragma unroll
  for (int e = 0; e < E; ++e) {
    numbers[e] = convert<wider>(of.number[e]);
    finite += numbers[e] * wider(0);  // NaN if any number is infinite or NaN
    if (e == 0 || numbers[e] < least) least = numbers[e];
    if (e == 0 || numbers[e] > greatest) greatest = numbers[e];
  }
  const bool is_full = columns == 32 * E;
  key_range<T> in = {1, ~key_word<T>(0), columns};
  if (__all_sync(all_lanes, is_full && finite == 0))
    bisect_numbers<T>(numbers, number_of_key<wider>(least_of_warp(sort_key(least))),
                      number_of_key<wider>(greatest_of_warp(sort_key(greatest))), k, in);
  key_word<T> keys[E];
#pragma unroll
  for (int e = 0; e < E; ++e)
    keys[e] = is_full || lane * E + e < columns ? sort_key(numbers[e]) : 0;
  bisect_keys<T>(keys, k, in);
  const unsigned taken = retained_of<T>(keys, k, in);
  int64 to = static_cast<int64>(row) * k + count_before(__popc(taken));
#pragma unroll
  for (int e = 0; e < E; ++e)
    if ((taken >> e & 1) != 0) {
      values[to] = of.number[e];
      indices[to++] = static_cast<Index>(lane * E + e);
    }
}

/// The sum of `mine` over the block's threads before this one; `all` is the sum over all threads.
__device__ int count_before_in_block(int mine, int& all) {
  __shared__ int of_warp[wide_threads / 32];
  const int before = count_before(mine);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x % 32 == 31) of_warp[warp] = before + mine;
  __syncthreads();
  int sum = before;
  all = 0;
  for (int w = 0; w < wide_threads / 32; ++w) {
    if (w < warp) sum += of_warp[w];
    all += of_warp[w];
  }
  __syncthreads();
  return sum;
}

/// One block per row, for rows of any length.
template <class T>
__global__ void __launch_bounds__(wide_threads)
    select_top_k_of_wide_rows(const T* x, int64 stride, index rows, index columns, int k, T* values,
                              unsigned short* indices) {
  __shared__ int count[256];
  __shared__ int digit, greater;
  const int thread = static_cast<int>(threadIdx.x);
  for (index row = static_cast<index>(blockIdx.x); row < rows;
       row += static_cast<index>(gridDim.x)) {
    const T* const from = x + row * stride;
    // The key of the least retained number, found eight bits at a time; `known` masks the bits
    // found so far.
    key_word<T> threshold = 0, known = 0;
    int wanted = k;
    for (int shift = static_cast<int>(sizeof(key_word<T>)) * 8 - 8; shift >= 0; shift -= 8) {
      count[thread] = 0;
      __syncthreads();
      for (index j = thread; j < columns; j += wide_threads) {
        const key_word<T> key = key_of(from[j]);
        if ((key & known) == threshold) atomicAdd(count + (key >> shift & 255), 1);
      }
      __syncthreads();
      if (thread == 0) {
        digit = 255;
        greater = 0;
        while (greater + count[digit] < wanted) greater += count[digit--];
      }
      __syncthreads();
      threshold |= static_cast<key_word<T>>(digit) << shift;
      known |= static_cast<key_word<T>>(255) << shift;
      wanted -= greater;
      __syncthreads();
    }
    int64 to = static_cast<int64>(row) * k;
    int ties = wanted;  // how many numbers equal to `threshold` are retained, the first ones
    for (index first = 0; first < columns; first += wide_threads) {
      const index j = first + thread;
      const key_word<T> key = j < columns ? key_of(from[j]) : 0;
      int tied = 0, all = 0;
      const int rank = count_before_in_block(key == threshold, tied);
      const bool taken = key > threshold || (key == threshold && rank < ties);
      const int at = count_before_in_block(taken, all);
      if (taken) {
        values[to + at] = from[j];
        indices[to + at] = static_cast<unsigned short>(j);
      }
      ties -= tied < ties ? tied : ties;
      to += all;
    }
  }
}

template <class T>
void select_top_k_as(const dense_operand& x, int k, void* values, void* indices,
                     cudaStream_t stream) {
  const auto* const from = static_cast<const T*>(x.data);
  auto* const to = static_cast<T*>(values);
  const auto rows_per_block = static_cast<unsigned>(row_threads / 32);
  const auto in_registers = [&]<class Index, int E>(Index* at, std::integral_constant<int, E>) {
    const bool packed = x.columns == 32 * E && reinterpret_cast<std::size_t>(from) % 16 == 0 &&
                        static_cast<std::size_t>(x.stride) * sizeof(T) % 16 == 0;
    launch_kernel(&select_top_k_of_rows<T, Index, E>, "select_top_k", x.where.device, stream,
                  (static_cast<unsigned>(x.rows) + rows_per_block - 1) / rows_per_block,
                  row_threads, from, x.stride, x.rows, x.columns, k, packed, to, at);
  };
  // Indices take one byte for rows of up to 256 columns.
  auto* const indices_8 = static_cast<unsigned char*>(indices);
  auto* const indices_16 = static_cast<unsigned short*>(indices);
  if (x.columns <= 32)
    in_registers(indices_8, std::integral_constant<int, 1>());
  else if (x.columns <= 128)
    in_registers(indices_8, std::integral_constant<int, 4>());
  else if (x.columns <= 256)
    in_registers(indices_8, std::integral_constant<int, 8>());
  else if (x.columns <= 512)
    in_registers(indices_16, std::integral_constant<int, 16>());
  else if (x.columns <= widest_in_registers)
    in_registers(indices_16, std::integral_constant<int, 32>());
  else
    launch_kernel(&select_top_k_of_wide_rows<T>, "select_top_k", x.where.device, stream,
                  static_cast<unsigned>(x.rows < 65536 ? x.rows : 65536), wide_threads, from,
                  x.stride, x.rows, x.columns, k, to, indices_16);
}

constexpr int copy_threads = 256;

unsigned blocks_for(int64 count) {
  const int64 wanted = (count + copy_threads - 1) / copy_threads;
  return static_cast<unsigned>(wanted < 65536 ? wanted : 65536);
}

/// Copies the retained places between a dense matrix and the values of a cbsr.
template <class Word, class Index, bool ToDense>
__global__ void __launch_bounds__(copy_threads)
    copy_retained(Word* full, int64 stride, const Index* indices, int64 count, int k,
                  Word* values) {
  for (int64 p = static_cast<int64>(blockIdx.x) * copy_threads + threadIdx.x; p < count;
       p += static_cast<int64>(gridDim.x) * copy_threads) {
    Word& there = full[p / k * stride + indices[p]];
    if constexpr (ToDense)
      there = values[p];
    else
      values[p] = there;
  }
}

template <bool ToDense>
void copy_retained_entries(const dense_operand& full, const dense_operand& retained,
                           cudaStream_t stream) {
  const device_scope scope(full.where.device);
  const int64 count = static_cast<int64>(retained.rows) * retained.k;
  const auto as = [&]<class Word, class Index>(Word, Index) {
    launch_kernel(&copy_retained<Word, Index, ToDense>, "copy_retained", full.where.device, stream,
                  blocks_for(count), copy_threads, static_cast<Word*>(full.data), full.stride,
                  static_cast<const Index*>(retained.indices), count, retained.k,
                  static_cast<Word*>(retained.data));
  };
  const auto of = [&](auto word) {
    retained.indices_8 ? as(word, static_cast<unsigned char>(0))
                       : as(word, static_cast<unsigned short>(0));
  };
  if (full.value_bytes == 2) return of(static_cast<unsigned short>(0));
  if (full.value_bytes == 4) return of(0u);
  of(0ul);
}

}  // namespace

void select_top_k(const dense_operand& x, const dense_operand& retained, const descriptor& desc) {
  const device_scope scope(x.where.device);
  void* const stream = stream_for(x.where.device, desc.stream);
  const auto as = [&]<class T>(T) {
    select_top_k_as<T>(x, retained.k, retained.data, const_cast<void*>(retained.indices),
                       static_cast<cudaStream_t>(stream));
  };
  if (x.value_type == type::float32) as(float());
  if (x.value_type == type::float64) as(double());
  if (x.value_type == type::half) as(half());
  if (x.value_type == type::bfloat16) as(bfloat16());
}

void take_retained(const dense_operand& full, const dense_operand& retained) {
  copy_retained_entries<false>(full, retained, static_cast<cudaStream_t>(retained.stream));
}

void scatter_retained(const dense_operand& retained, const dense_operand& full) {
  const device_scope scope(full.where.device);
  const auto stream = static_cast<cudaStream_t>(full.stream);
  check(cudaMemsetAsync(full.data, 0, full.extent(), stream), "scatter_retained");
  copy_retained_entries<true>(full, retained, stream);
}

}  // namespace rig::on_cuda
