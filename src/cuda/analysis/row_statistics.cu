// The statistics of rows.

#include <algorithm>
#include <map>
#include <mutex>

#include "cuda/analysis/row_statistics.hpp"
#include "cuda/runtime/runtime.hpp"

namespace rig::on_cuda {
namespace {

/// The statistics, in this order: `longest_row` is a maximum, the others are sums. `quads`: four
/// times the longest of each four neighbouring rows.
enum seen : int {
  longest_row,
  quads,
  near,
  looked_at,
  rows_with_entries,
  rows_to_split,
  segments_of_them = rows_to_split + split_length_count,
  seen_count = segments_of_them + split_length_count
};
using number = unsigned long long;

using over_ranks::near_share;
using over_ranks::sampled_rows;

/// As many blocks as an H200 runs at once, because all of them add to the same few numbers;
/// docs/lab/exact.md. Other sizes are unmeasured.
constexpr int statistics_threads = 512, statistics_blocks = 528;

/// Adds the block's numbers to `out`. The last block to finish writes the results to the host, and
/// leaves `out` and `finished` zero for the next pass.
__device__ __forceinline__ void add_block(const unsigned (&mine)[seen_count], number my_quads,
                                          number* out, unsigned* finished, number* on_host) {
  __shared__ number of_warps[seen_count][statistics_threads / 32];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  for (int step = 16; step > 0; step /= 2) my_quads += __shfl_xor_sync(0xffffffffu, my_quads, step);
#pragma unroll
  for (int s = 0; s < seen_count; ++s) {
    const number of_warp = s == quads         ? my_quads
                           : s == longest_row ? __reduce_max_sync(0xffffffffu, mine[s])
                                              : __reduce_add_sync(0xffffffffu, mine[s]);
    if (threadIdx.x % 32 == 0) of_warps[s][warp] = of_warp;
  }
  __syncthreads();
  if (threadIdx.x < seen_count) {
    number all = 0;
    for (const number one : of_warps[threadIdx.x])
      all = threadIdx.x != longest_row ? all + one : all > one ? all : one;
    if (threadIdx.x == longest_row)
      atomicMax(out + longest_row, all);
    else
      atomicAdd(out + threadIdx.x, all);
  }
  __threadfence();
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (is_last && threadIdx.x < seen_count) on_host[threadIdx.x] = atomicExch(out + threadIdx.x, 0);
}

/// A thread takes four neighbouring rows at a time.
__global__ void __launch_bounds__(statistics_threads, 4)
    statistics(const void* offsets, bool offsets_64, const index* entries, index rows,
               index columns, number* out, unsigned* finished, number* on_host) {
  unsigned mine[seen_count] = {};
  number my_quads = 0;
  const int64 thread = static_cast<int64>(blockIdx.x) * statistics_threads + threadIdx.x,
              threads = static_cast<int64>(gridDim.x) * statistics_threads;
  for (int64 i = 4 * thread; i < rows; i += 4 * threads) {
    int64 begin[5];
#pragma unroll
    for (int r = 0; r < 5; ++r)
      begin[r] = offset_at(offsets, offsets_64, static_cast<index>(i + r < rows ? i + r : rows));
    unsigned longest = 0;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const auto length = static_cast<unsigned>(begin[r + 1] - begin[r]);
      longest = length > longest ? length : longest;
      mine[rows_with_entries] += length > 0 ? 1 : 0;
#pragma unroll
      for (int c = 0; c < split_length_count; ++c) {
        const auto split_length = static_cast<unsigned>(nth_split_length(c));
        if (length <= split_length) continue;
        ++mine[rows_to_split + c];
        mine[segments_of_them + c] +=
            (length - 1) / (split_length * static_cast<unsigned>(splits_per_segment)) + 1;
      }
    }
    my_quads += 4ull * longest;
    mine[longest_row] = longest > mine[longest_row] ? longest : mine[longest_row];
    if (i % sampled_rows == 0 && begin[1] > begin[0]) {
      const int64 diagonal = i * columns / rows;
      const int64 away = entries[begin[0] + (begin[1] - begin[0]) / 2] - diagonal;
      ++mine[looked_at];
      mine[near] += (away < 0 ? -away : away) <= columns / near_share ? 1 : 0;
    }
  }
  add_block(mine, my_quads, out, finished, on_host);
}

/// The memory that passes over a device's matrices share, one at a time. Lives as long as the
/// process.
struct statistics_space {
  std::mutex busy;
  number* out = nullptr;
  unsigned* finished = nullptr;
  number* on_host = nullptr;  ///< pinned; the device writes it

  /// Called with `busy` locked, on the current device. The memory is zeroed on rig's own stream,
  /// and is zero on return: no capture of the pass's stream can record that for later.
  void make(int of) {
    if (on_host != nullptr) return;
    auto* const stream = static_cast<cudaStream_t>(stream_for(of, nullptr));
    void *device = nullptr, *host = nullptr;
    constexpr std::size_t bytes = seen_count * sizeof(number);
    check(cudaHostAlloc(&host, bytes, cudaHostAllocMapped), "row statistics");
    if (const cudaError_t status = cudaMalloc(&device, bytes + sizeof(unsigned));
        status != cudaSuccess) {
      cudaFreeHost(host);
      check(status, "row statistics");
    }
    cudaError_t status = cudaMemsetAsync(device, 0, bytes + sizeof(unsigned), stream);
    if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
    if (status != cudaSuccess) {
      cudaFree(device);
      cudaFreeHost(host);
      check(status, "row statistics");
    }
    out = static_cast<number*>(device);
    finished = reinterpret_cast<unsigned*>(out + seen_count);
    on_host = static_cast<number*>(host);
  }
};

statistics_space& statistics_space_of(int device) {
  static std::mutex mutex;
  // Never destroyed, because a product may run while the process ends.
  static auto& spaces = *new std::map<int, statistics_space>;
  const std::lock_guard lock(mutex);
  return spaces[device];
}

}  // namespace

row_statistics::row_statistics(const pattern& of) {
  const device_scope scope(of.where().device);
  const auto stream = static_cast<cudaStream_t>(of.stream());
  number all[seen_count];
  {
    statistics_space& space = statistics_space_of(of.where().device);
    const std::lock_guard lock(space.busy);
    space.make(of.where().device);
    const int64 wanted =
        (static_cast<int64>(of.rows()) + 4 * statistics_threads - 1) / (4 * statistics_threads);
    const auto blocks = static_cast<unsigned>(std::clamp<int64>(wanted, 1, statistics_blocks));
    launch_kernel(&statistics, name, of.where().device, stream, blocks, statistics_threads,
                  of.offsets(), of.offsets_64(), of.column_indices(), of.rows(), of.columns(),
                  space.out, space.finished, space.on_host);
    check(cudaStreamSynchronize(stream), "row statistics");
    std::copy_n(space.on_host, seen_count, all);
  }
  for (int c = 0; c < split_length_count; ++c) {
    split_rows[c] = static_cast<index>(all[rows_to_split + c]);
    segments[c] = static_cast<index>(all[segments_of_them + c]);
  }
  const auto sum = [&](seen of_what) { return static_cast<int64>(all[of_what]); };
  take({of.rows(), of.columns(), of.nnz(), sum(longest_row), sum(quads), sum(rows_with_entries),
        sum(looked_at), sum(near)});
}

row_statistics::row_statistics(const over_ranks::whole_rows& whole)
    : whole_rows(whole.rows), whole_columns(whole.columns), whole_nnz(whole.nnz) {
  take(whole);
}

void row_statistics::take(const over_ranks::whole_rows& of) {
  longest = of.longest;
  if (of.with_entries > 0) {
    const auto nnz = static_cast<double>(of.nnz);
    mean_length = nnz / static_cast<double>(of.with_entries);
    imbalance = static_cast<double>(of.quads) / nnz;
  }
  local = of.near * 2 > of.looked_at;
  split_length = split_length_of(*this, of.nnz);
}

row_statistics row_statistics::sampled(int width) const {
  row_statistics out = *this;
  out.longest = std::min<int64>(longest, width);
  // Rows cut down to one length are even.
  if (width < mean_length) {
    out.mean_length = width;
    out.imbalance = 1;
  }
  return out;
}

}  // namespace rig::on_cuda
