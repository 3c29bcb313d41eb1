// Structural work on the device: derived structures of a pattern, transposed copies. No hot loop:
// CUB sorts and scans.

#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "cuda/analysis/build.hpp"
#include "cuda/device/arguments.cuh"
#include "cuda/runtime/context.hpp"

namespace rig::on_cuda {
namespace {

__global__ void count_columns(const index* entries, int64 nnz, unsigned long long* counts) {
  for (int64 p = static_cast<int64>(blockIdx.x) * blockDim.x + threadIdx.x; p < nnz;
       p += static_cast<int64>(gridDim.x) * blockDim.x)
    atomicAdd(counts + entries[p], 1ull);
}

template <class Offset>
__global__ void number(Offset* out, int64 count) {
  for (int64 p = static_cast<int64>(blockIdx.x) * blockDim.x + threadIdx.x; p < count;
       p += static_cast<int64>(gridDim.x) * blockDim.x)
    out[p] = static_cast<Offset>(p);
}

/// rows_of[q] = the row that holds entry permutation[q], by a search in the offsets.
template <class Offset>
__global__ void find_rows(const void* offsets, bool offsets_64, index rows,
                          const Offset* permutation, int64 nnz, index* rows_of) {
  for (int64 q = static_cast<int64>(blockIdx.x) * blockDim.x + threadIdx.x; q < nnz;
       q += static_cast<int64>(gridDim.x) * blockDim.x) {
    rows_of[q] = row_of_entry(offsets, offsets_64, 0, rows, permutation[q]);
  }
}

template <class Offset>
std::shared_ptr<const pattern> transpose_as(const pattern& original, buffer& permutation) {
  const place where = original.where();
  const auto stream = static_cast<cudaStream_t>(original.stream());
  const int64 nnz = original.nnz();
  const auto count = static_cast<std::size_t>(nnz);
  const auto rows = static_cast<std::size_t>(original.columns());
  const auto room = [&](std::size_t bytes) { return buffer::temporary(bytes, where, stream); };
  // A transpose can be a result, which outlives the caller's streams.
  const auto own = static_cast<cudaStream_t>(stream_for(where.device, nullptr));
  const auto result = [&](std::size_t bytes) { return buffer::allocate(bytes, where, own); };

  // Offsets: the running sum of the entries per column.
  const buffer counts = room((rows + 1) * sizeof(unsigned long long));
  buffer offsets = result((rows + 1) * sizeof(Offset));
  permutation = result(count * sizeof(Offset));
  buffer rows_of = result(count * sizeof(index));
  if (own != stream) order(own, where.device, stream, where.device);
  check(cudaMemsetAsync(counts.data(), 0, counts.bytes(), stream), "transpose");
  const build in(original, transposed::name);
  in.start(&count_columns, nnz, original.column_indices(), nnz, counts.data<unsigned long long>());
  std::size_t bytes = 0;
  const auto scan = [&](void* scratch) {
    check(
        cub::DeviceScan::ExclusiveSum(scratch, bytes, counts.data<const unsigned long long>(),
                                      offsets.data<Offset>(), static_cast<int64>(rows + 1), stream),
        "transpose");
  };
  scan(nullptr);
  scan(room(bytes).data());

  // Entries: a stable sort by column keeps the rows of a column ascending.
  const buffer sorted_columns = room(count * sizeof(index));
  const buffer numbers = room(count * sizeof(Offset));
  if (nnz > 0) {
    in.start(&number<Offset>, nnz, numbers.data<Offset>(), nnz);
    int bits = 1;
    while (bits < 31 && (int64{1} << bits) < original.columns()) ++bits;
    const auto sort = [&](void* scratch) {
      check(cub::DeviceRadixSort::SortPairs(
                scratch, bytes, original.column_indices(), sorted_columns.data<index>(),
                numbers.data<const Offset>(), permutation.data<Offset>(), nnz, 0, bits, stream),
            "transpose");
    };
    sort(nullptr);
    sort(room(bytes).data());
    in.start(&find_rows<Offset>, nnz, original.offsets(), original.offsets_64(), original.rows(),
             permutation.data<const Offset>(), nnz, rows_of.data<index>());
  }
  // One wait at creation, so that a call on any stream finds the structure complete.
  check(cudaStreamSynchronize(stream), "transpose");
  return std::make_shared<const pattern>(original.columns(), original.rows(), nnz,
                                         std::move(offsets), sizeof(Offset) == sizeof(int64),
                                         std::move(rows_of));
}

template <class Word>
__global__ void transpose_words(const Word* from, int64 stride, index rows, index columns,
                                Word* to) {
  __shared__ Word tile[32][33];
  for (int64 block_row = blockIdx.y; block_row * 32 < rows; block_row += gridDim.y) {
    const int64 i0 = block_row * 32, j0 = static_cast<int64>(blockIdx.x) * 32;
    for (int64 y = threadIdx.y; y < 32; y += 8)
      if (i0 + y < rows && j0 + threadIdx.x < columns)
        tile[y][threadIdx.x] = from[(i0 + y) * stride + j0 + threadIdx.x];
    __syncthreads();
    for (int64 y = threadIdx.y; y < 32; y += 8)
      if (j0 + y < columns && i0 + threadIdx.x < rows)
        to[(j0 + y) * rows + i0 + threadIdx.x] = tile[threadIdx.x][y];
    __syncthreads();
  }
}

/// A warp takes four rows at a time, so that four loads are in flight; docs/lab/exact.md.
template <class Word>
__global__ void __launch_bounds__(256) pad_words(const Word* from, int64 stride, index rows,
                                                 index columns, Word* to, int64 to_stride) {
  constexpr int in_flight = 4;
  const int64 row = (static_cast<int64>(blockIdx.x) * blockDim.y + threadIdx.y) * in_flight;
  for (int64 j = threadIdx.x; j < to_stride; j += 32) {
    Word words[in_flight] = {};
#pragma unroll
    for (int u = 0; u < in_flight; ++u)
      if (row + u < rows && j < columns) words[u] = from[(row + u) * stride + j];
#pragma unroll
    for (int u = 0; u < in_flight; ++u)
      if (row + u < rows) to[(row + u) * to_stride + j] = words[u];
  }
}

/// A block copies neighbouring rows of a tile of 2^tile_bits columns, in the order of `to`. With
/// the last tile it also copies the columns left of its rows. Eight words per thread, because loops
/// over rows need too many registers; docs/lab/exact.md.
template <class Word>
__global__ void __launch_bounds__(256)
    tile_words(const Word* from, int64 stride, index rows, index columns, Word* to, int tile_bits,
               int rest) {
  constexpr int each = words_per_block / 256;
  const index tile = 1 << tile_bits, tiles = columns >> tile_bits;
  const index block_rows = words_per_block >> tile_bits;
  const int64 row = static_cast<int64>(blockIdx.x) * block_rows;
  const int64 count = rows - row < block_rows ? rows - row : block_rows;
  for (index t = static_cast<index>(blockIdx.y); t < tiles; t += static_cast<index>(gridDim.y)) {
    const int64 first = static_cast<int64>(t) << tile_bits;
    const Word* const source = from + row * stride + first;
    Word* const target = to + first * rows + (row << tile_bits);
    Word words[each];
#pragma unroll
    for (int u = 0; u < each; ++u) {
      const auto word = static_cast<index>(u * 256 + threadIdx.x);
      if (word >> tile_bits < count)
        words[u] = source[(word >> tile_bits) * stride + (word & (tile - 1))];
    }
#pragma unroll
    for (int u = 0; u < each; ++u) {
      const auto word = static_cast<index>(u * 256 + threadIdx.x);
      if (word >> tile_bits < count) target[word] = words[u];
    }
    if (t + 1 < tiles) continue;
    const index left = tiles << tile_bits;
    Word* const beyond = to + static_cast<int64>(left) * rows + row * rest;
    for (auto word = static_cast<index>(threadIdx.x); word < count * rest; word += 256) {
      const index i = word / rest, j = left + word % rest;
      beyond[word] = j < columns ? from[(row + i) * stride + j] : Word();
    }
  }
}

struct word16 {
  unsigned long part[2];
};

}  // namespace

std::shared_ptr<const pattern> transpose(const pattern& original, buffer& permutation) {
  const device_scope scope(original.where().device);
  return original.nnz() > highest<int32>() ? transpose_as<int64>(original, permutation)
                                           : transpose_as<int32>(original, permutation);
}

void transpose_elements(const dense_operand& from, void* to, void* stream) {
  const device_scope scope(from.where.device);
  const dim3 grid((static_cast<unsigned>(from.columns) + 31) / 32,
                  static_cast<unsigned>(from.rows / 32 < 65535 ? from.rows / 32 + 1 : 65535));
  const dim3 threads(32, 8);
  const auto run = [&](auto word) {
    using Word = decltype(word);
    launch_kernel(&transpose_words<Word>, "transpose_words", from.where.device,
                  static_cast<cudaStream_t>(stream), grid, threads,
                  static_cast<const Word*>(from.data), from.stride, from.rows, from.columns,
                  static_cast<Word*>(to));
  };
  if (from.rows == 0 || from.columns == 0) return;
  switch (from.value_bytes) {
    case 1:
      return run(static_cast<unsigned char>(0));
    case 2:
      return run(static_cast<unsigned short>(0));
    case 4:
      return run(0u);
    case 8:
      return run(0ul);
    case 16:
      return run(word16());
    default:
      fail(errc::type, {"mxm: a dense with elements of ", from.value_bytes,
                        " bytes cannot be transposed on a device"});
  }
}

namespace {

/// Calls `call` with a word of as many bytes as an element: 1, 2, 4 or 8.
template <class Call>
void by_word(std::size_t bytes, Call call) {
  switch (bytes) {
    case 1:
      return call(static_cast<unsigned char>(0));
    case 2:
      return call(static_cast<unsigned short>(0));
    case 4:
      return call(0u);
    default:
      return call(0ul);
  }
}

}  // namespace

void pad_rows(const dense_operand& from, void* to, int64 stride, void* stream) {
  const dim3 threads(32, 8), grid((static_cast<unsigned>(from.rows) + 31) / 32);
  by_word(from.value_bytes, [&](auto word) {
    using Word = decltype(word);
    launch_kernel(&pad_words<Word>, "pad_words", from.where.device,
                  static_cast<cudaStream_t>(stream), grid, threads,
                  static_cast<const Word*>(from.data), from.stride, from.rows, from.columns,
                  static_cast<Word*>(to), stride);
  });
}

void tile_rows(const dense_operand& from, void* to, int tile, int rest, void* stream) {
  const int tile_bits = std::countr_zero(static_cast<unsigned>(tile));
  const int64 tiles = from.columns / tile, most = 65535, block_rows = words_per_block >> tile_bits;
  const dim3 grid(static_cast<unsigned>((from.rows + block_rows - 1) / block_rows),
                  static_cast<unsigned>(tiles < most ? tiles : most));
  by_word(from.value_bytes, [&](auto word) {
    using Word = decltype(word);
    launch_kernel(&tile_words<Word>, "tile_words", from.where.device,
                  static_cast<cudaStream_t>(stream), grid, 256, static_cast<const Word*>(from.data),
                  from.stride, from.rows, from.columns, static_cast<Word*>(to), tile_bits, rest);
  });
}

}  // namespace rig::on_cuda
