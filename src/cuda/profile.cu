// The look at a pattern and the lists that `split` works from.

#include "arguments.cuh"
#include "profile.hpp"
#include "runtime.hpp"

namespace rig::on_cuda {
namespace {

constexpr int block = 256;

__device__ int64 offset_at(const void* offsets, bool wide, index row) {
  return wide ? static_cast<const int64*>(offsets)[row] : static_cast<const int32*>(offsets)[row];
}

/// Sums over all rows; `quads` adds up four times the longest of each four neighbouring rows.
struct sums {
  unsigned long long longest, quads, near, looked_at, rows;
  unsigned long long cut_rows[2], pieces[2];  // for cuts of 128 and 512
};
constexpr int sum_count = sizeof(sums) / sizeof(unsigned long long);

/// Every 16th row's middle entry says whether entries lie near the diagonal.
constexpr index sampled_rows = 16;
constexpr index near_share = 32;  // near: within 1/32 of the columns

__global__ void look(const void* offsets, bool wide, const index* entries, index rows,
                     index columns, sums* out) {
  sums mine = {};
  const int64 rounded = (static_cast<int64>(rows) + 31) / 32 * 32;
  for (int64 i = static_cast<int64>(blockIdx.x) * block + threadIdx.x; i < rounded;
       i += static_cast<int64>(gridDim.x) * block) {
    unsigned long long length = 0;
    if (i < rows) {
      const auto row = static_cast<index>(i);
      const int64 begin = offset_at(offsets, wide, row);
      length = static_cast<unsigned long long>(offset_at(offsets, wide, row + 1) - begin);
      if (length > 0 && row % sampled_rows == 0) {
        const int64 diagonal = static_cast<int64>(row) * columns / rows;
        const int64 away = entries[begin + static_cast<int64>(length / 2)] - diagonal;
        ++mine.looked_at;
        mine.near += (away < 0 ? -away : away) <= columns / near_share ? 1 : 0;
      }
    }
    mine.longest = length > mine.longest ? length : mine.longest;
    mine.rows += length > 0 ? 1 : 0;
    for (int c = 0; c < 2; ++c) {
      const unsigned long long cut =
          static_cast<unsigned long long>(c == 0 ? fine_cut : coarse_cut);
      if (length <= cut) continue;
      ++mine.cut_rows[c];
      mine.pieces[c] += (length + cut - 1) / cut;
    }
    for (int step = 1; step < 4; step *= 2) {
      const unsigned long long other = __shfl_xor_sync(0xffffffffu, length, step);
      length = other > length ? other : length;
    }
    mine.quads += length;
  }
  __shared__ sums all;
  if (threadIdx.x == 0) all = {};
  __syncthreads();
  // All but the first number add up.
  auto* numbers = reinterpret_cast<unsigned long long*>(&mine);
  auto* together = reinterpret_cast<unsigned long long*>(&all);
  auto* result = reinterpret_cast<unsigned long long*>(out);
#pragma unroll
  for (int s = 0; s < sum_count; ++s) {
    for (int step = 16; step > 0; step /= 2) {
      const unsigned long long other = __shfl_xor_sync(0xffffffffu, numbers[s], step);
      numbers[s] = s > 0 ? numbers[s] + other : numbers[s] > other ? numbers[s] : other;
    }
    if (threadIdx.x % 32 != 0) continue;
    if (s == 0)
      atomicMax(together, numbers[0]);
    else
      atomicAdd(together + s, numbers[s]);
  }
  __syncthreads();
  if (threadIdx.x == 0)
    atomicMax(result, together[0]);
  else if (threadIdx.x < sum_count)
    atomicAdd(result + threadIdx.x, together[threadIdx.x]);
}

struct counters {
  int32 rows, pieces;
};

/// Sum of x over the threads before this one; `total` over all.
__device__ int before_me(int x, int& total) {
  __shared__ int warps[block / 32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  int sum = x;
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  int before = 0;
  total = 0;
  for (int w = 0; w < block / 32; ++w) {
    before += w < warp ? warps[w] : 0;
    total += warps[w];
  }
  __syncthreads();
  return before + sum - x;
}

/// A block takes `block` neighbouring rows and one place in each list for all of their pieces, so
/// that pieces of neighbours run together. Blocks take their places in any order: sums do not
/// depend on where they lie. With null lists only counts.
__global__ void cut_rows_of(const void* offsets, bool wide, index rows, int64 cut, counters* taken,
                            piece* pieces, cut_row* cut_rows) {
  __shared__ int first_piece, first_row;
  const int64 i = static_cast<int64>(blockIdx.x) * block + threadIdx.x;
  const auto row = static_cast<index>(i);
  const int64 length =
      i < rows ? offset_at(offsets, wide, row + 1) - offset_at(offsets, wide, row) : 0;
  const int count = length > cut ? static_cast<int>((length + cut - 1) / cut) : 0;
  int all_pieces = 0, all_rows = 0;
  const int my_piece = before_me(count, all_pieces),
            my_row = before_me(count > 0 ? 1 : 0, all_rows);
  if (all_rows == 0) return;
  if (threadIdx.x == 0) {
    first_piece = atomicAdd(&taken->pieces, all_pieces);
    first_row = atomicAdd(&taken->rows, all_rows);
  }
  __syncthreads();
  if (pieces == nullptr || count == 0) return;
  cut_rows[first_row + my_row] = {row, first_piece + my_piece, count};
  for (int p = 0; p < count; ++p) pieces[first_piece + my_piece + p] = {row, p};
}

/// Longest first, eight classes an octave.
constexpr int classes = 8 * 33;

__device__ int class_of(int64 length) {
  if (length == 0) return classes - 1;
  const double octaves = log2(static_cast<double>(length));
  const int place = static_cast<int>(octaves * 8);
  return place < classes - 1 ? classes - 2 - place : 0;
}

/// Rows are taken in blocks of this many, which stay together within a class.
constexpr int block_rows = 1024;

template <bool Place>
__global__ void sort_rows(const void* offsets, bool wide, index rows, int* next, index* out) {
  __shared__ int count[classes], first[classes];
  for (int c = static_cast<int>(threadIdx.x); c < classes; c += block) count[c] = 0;
  __syncthreads();
  int my_class[block_rows / block], my_place[block_rows / block];
  for (int r = 0; r < block_rows / block; ++r) {
    const int64 i = static_cast<int64>(blockIdx.x) * block_rows + r * block + threadIdx.x;
    if (i >= rows) continue;
    const auto row = static_cast<index>(i);
    my_class[r] = class_of(offset_at(offsets, wide, row + 1) - offset_at(offsets, wide, row));
    my_place[r] = atomicAdd(&count[my_class[r]], 1);
  }
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.x); c < classes; c += block)
    if (count[c] > 0) first[c] = atomicAdd(&next[c], count[c]);
  if constexpr (Place) {
    __syncthreads();
    for (int r = 0; r < block_rows / block; ++r) {
      const int64 i = static_cast<int64>(blockIdx.x) * block_rows + r * block + threadIdx.x;
      if (i < rows) out[first[my_class[r]] + my_place[r]] = static_cast<index>(i);
    }
  }
}

/// Counts to first places: one block of `classes` threads or more.
__global__ void start_classes(int* counts) {
  __shared__ int sum[512];
  const int c = static_cast<int>(threadIdx.x);
  const int mine = c < classes ? counts[c] : 0;
  sum[c] = mine;
  __syncthreads();
  for (int step = 1; step < 512; step *= 2) {
    const int other = c >= step ? sum[c - step] : 0;
    __syncthreads();
    sum[c] += other;
    __syncthreads();
  }
  if (c < classes) counts[c] = sum[c] - mine;
}

/// out[c] = the first row that begins at item c · chunk_items or later, where row i is item
/// i + offset(i) and its entries follow it; out[chunks] = rows.
__global__ void find_chunks(const void* offsets, bool wide, index rows, index chunks, index* out) {
  const int64 c = static_cast<int64>(blockIdx.x) * block + threadIdx.x;
  if (c > chunks) return;
  index low = 0, high = rows;
  while (low < high) {
    const index middle = low + (high - low) / 2;
    if (offset_at(offsets, wide, middle) + middle < c * chunk_items)
      low = middle + 1;
    else
      high = middle;
  }
  out[c] = c < chunks ? low : rows;
}

unsigned blocks_for(int64 count) {
  const int64 wanted = (count + block - 1) / block, most = 132 * 8;
  return static_cast<unsigned>(wanted < most ? (wanted > 0 ? wanted : 1) : most);
}

buffer zeroed(std::size_t bytes, const pattern& of) {
  buffer made = buffer::allocate(bytes, of.where(), of.stream());
  check(cudaMemsetAsync(made.data(), 0, bytes, static_cast<cudaStream_t>(of.stream())),
        "a look at a matrix");
  return made;
}

}  // namespace

profile::profile(const pattern& of) {
  const device_scope scope(of.where().device);
  const buffer found = zeroed(sizeof(sums), of);
  look<<<blocks_for(of.rows()), block, 0, static_cast<cudaStream_t>(of.stream())>>>(
      of.offsets(), of.wide(), of.entries(), of.rows(), of.columns(), found.data<sums>());
  check(cudaGetLastError(), "a look at a matrix");
  launched(of.where().device, "look");
  const buffer seen = found.to(cpu());
  const sums& all = *seen.data<sums>();
  longest = static_cast<int64>(all.longest);
  const auto nnz = static_cast<double>(of.nnz());
  if (all.rows > 0) {
    mean_length = nnz / static_cast<double>(all.rows);
    imbalance = static_cast<double>(all.quads) / nnz;
  }
  for (int c = 0; c < 2; ++c) {
    cut_rows[c] = static_cast<index>(all.cut_rows[c]);
    pieces[c] = static_cast<index>(all.pieces[c]);
  }
  local = all.near * 2 > all.looked_at;
}

row_pieces::row_pieces(const pattern& of) {
  const device_scope scope(of.where().device);
  const auto stream = static_cast<cudaStream_t>(of.stream());
  const auto look = of.form_of<profile>();
  cut = cut_for(*look, of.nnz());
  const auto blocks = static_cast<unsigned>((static_cast<int64>(of.rows()) + block - 1) / block);
  const auto walk = [&](const buffer& taken) {
    cut_rows_of<<<blocks, block, 0, stream>>>(of.offsets(), of.wide(), of.rows(), cut,
                                              taken.data<counters>(), pieces.data<piece>(),
                                              rows.data<cut_row>());
    check(cudaGetLastError(), "cutting rows");
    launched(of.where().device, "cut_rows_of");
  };
  const buffer taken = zeroed(sizeof(counters), of);
  if (cut <= coarse_cut) {
    row_count = look->cut_rows[cut == coarse_cut];
    piece_count = look->pieces[cut == coarse_cut];
  } else {
    walk(taken);
    const buffer seen = taken.to(cpu());
    piece_count = seen.data<counters>()->pieces;
    row_count = seen.data<counters>()->rows;
  }
  pieces = buffer::allocate(static_cast<std::size_t>(piece_count) * sizeof(piece), of.where(),
                            of.stream());
  rows = buffer::allocate(static_cast<std::size_t>(row_count) * sizeof(cut_row), of.where(),
                          of.stream());
  check(cudaMemsetAsync(taken.data(), 0, taken.bytes(), stream), "cutting rows");
  walk(taken);
  // Once: whoever finds the form, on whatever stream, finds it made.
  check(cudaStreamSynchronize(stream), "cutting rows");
}

rows_by_length::rows_by_length(const pattern& of) {
  const device_scope scope(of.where().device);
  const auto stream = static_cast<cudaStream_t>(of.stream());
  rows = buffer::allocate(static_cast<std::size_t>(of.rows()) * sizeof(index), of.where(),
                          of.stream());
  const buffer next = zeroed(classes * sizeof(int), of);
  const auto blocks =
      static_cast<unsigned>((static_cast<int64>(of.rows()) + block_rows - 1) / block_rows);
  sort_rows<false>
      <<<blocks, block, 0, stream>>>(of.offsets(), of.wide(), of.rows(), next.data<int>(), nullptr);
  start_classes<<<1, 512, 0, stream>>>(next.data<int>());
  sort_rows<true><<<blocks, block, 0, stream>>>(of.offsets(), of.wide(), of.rows(),
                                                next.data<int>(), rows.data<index>());
  check(cudaGetLastError(), "rows by length");
  launched(of.where().device, "sort_rows");
  check(cudaStreamSynchronize(stream), "rows by length");
}

row_chunks::row_chunks(const pattern& of) {
  const device_scope scope(of.where().device);
  const auto stream = static_cast<cudaStream_t>(of.stream());
  count = static_cast<index>((of.nnz() + of.rows() + chunk_items - 1) / chunk_items);
  rows = buffer::allocate((static_cast<std::size_t>(count) + 1) * sizeof(index), of.where(),
                          of.stream());
  find_chunks<<<static_cast<unsigned>(count / block + 1), block, 0, stream>>>(
      of.offsets(), of.wide(), of.rows(), count, rows.data<index>());
  check(cudaGetLastError(), "cutting rows");
  check(cudaStreamSynchronize(stream), "cutting rows");
}

}  // namespace rig::on_cuda
