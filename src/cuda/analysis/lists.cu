// Makes the lists of rows that `split` and `spmv` read.

#include <algorithm>

#include "cuda/analysis/lists.hpp"

namespace rig::on_cuda {
namespace {

constexpr int block = 256;

struct counters {
  int32 rows, segments;
};

/// The sum of x over the threads before this one; `total`: the sum over the block.
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

/// A block takes `block` neighbouring rows, and one range of each list for all of their segments,
/// so that segments of neighbours run together. Blocks take their ranges in any order, because sums
/// do not depend on the ranges. With null lists the kernel only counts.
__global__ void split_rows_of(const void* offsets, bool offsets_64, index rows, int64 split_length,
                              int64 segment_length, counters* taken, row_segment* segments,
                              split_row* split_rows) {
  __shared__ int first_segment, first_row;
  const int64 i = static_cast<int64>(blockIdx.x) * block + threadIdx.x;
  const auto row = static_cast<index>(i);
  const int64 length =
      i < rows ? offset_at(offsets, offsets_64, row + 1) - offset_at(offsets, offsets_64, row) : 0;
  const int count = length > split_length ? static_cast<int>((length - 1) / segment_length + 1) : 0;
  int all_segments = 0, all_rows = 0;
  const int my_segment = before_me(count, all_segments),
            my_row = before_me(count > 0 ? 1 : 0, all_rows);
  if (all_rows == 0) return;
  if (threadIdx.x == 0) {
    first_segment = atomicAdd(&taken->segments, all_segments);
    first_row = atomicAdd(&taken->rows, all_rows);
  }
  __syncthreads();
  if (segments == nullptr || count == 0) return;
  split_rows[first_row + my_row] = {row, first_segment + my_segment, count};
  for (int p = 0; p < count; ++p)
    segments[first_segment + my_segment + p] = {row, p, first_row + my_row};
}

/// Classes of row lengths: longest first, eight per octave, rows without entries last.
constexpr int classes = 8 * 31 + 1;

__device__ int class_of(int64 length) {
  if (length == 0) return classes - 1;
  const int octave = 31 - __clz(static_cast<int>(length));
  const auto eighth = static_cast<int>((length << 3 >> octave) & 7);
  return classes - 2 - (octave * 8 + eighth);
}

/// Rows are taken in blocks of this many, which stay together within a class.
constexpr int block_rows = 1024;

/// Counts rows by class; the last block turns the counts into first places.
__global__ void count_classes(const void* offsets, bool offsets_64, index rows, int* next,
                              unsigned* finished) {
  __shared__ int count[classes];
  for (int c = static_cast<int>(threadIdx.x); c < classes; c += block) count[c] = 0;
  __syncthreads();
  for (int r = 0; r < block_rows / block; ++r) {
    const int64 i = static_cast<int64>(blockIdx.x) * block_rows + r * block + threadIdx.x;
    if (i >= rows) continue;
    const auto row = static_cast<index>(i);
    atomicAdd(&count[class_of(offset_at(offsets, offsets_64, row + 1) -
                              offset_at(offsets, offsets_64, row))],
              1);
  }
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.x); c < classes; c += block)
    if (count[c] > 0) atomicAdd(&next[c], count[c]);
  __threadfence();
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(finished, 1) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  int before = 0;
  for (int first = 0; first < classes; first += block) {
    const int c = first + static_cast<int>(threadIdx.x);
    int total = 0;
    const int mine = before_me(c < classes ? __ldcg(next + c) : 0, total);
    if (c < classes) next[c] = before + mine;
    before += total;
  }
}

/// out = the rows, class by class. A block takes one range of each class for all of its rows.
__global__ void place_rows(const void* offsets, bool offsets_64, index rows, int* next,
                           listed_row* out) {
  __shared__ int count[classes], first[classes];
  for (int c = static_cast<int>(threadIdx.x); c < classes; c += block) count[c] = 0;
  __syncthreads();
  int my_class[block_rows / block], my_place[block_rows / block];
  listed_row my_row[block_rows / block];
  for (int r = 0; r < block_rows / block; ++r) {
    const int64 i = static_cast<int64>(blockIdx.x) * block_rows + r * block + threadIdx.x;
    if (i >= rows) continue;
    const auto row = static_cast<index>(i);
    const int64 begin = offset_at(offsets, offsets_64, row),
                length = offset_at(offsets, offsets_64, row + 1) - begin;
    my_row[r] = {begin, static_cast<unsigned>(length), row};
    my_class[r] = class_of(length);
    my_place[r] = atomicAdd(&count[my_class[r]], 1);
  }
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.x); c < classes; c += block)
    if (count[c] > 0) first[c] = atomicAdd(&next[c], count[c]);
  __syncthreads();
  for (int r = 0; r < block_rows / block; ++r) {
    const int64 i = static_cast<int64>(blockIdx.x) * block_rows + r * block + threadIdx.x;
    if (i < rows) out[first[my_class[r]] + my_place[r]] = my_row[r];
  }
}

/// out[c] = the first row that begins at item c · chunk_items or later; out[chunks] = rows. Row i
/// is item i + offset(i), and its entries follow it. A warp tests 32 rows per round, because a
/// thread alone needs several times the rounds (docs/lab/exact.md).
__global__ void find_chunks(const void* offsets, bool offsets_64, index rows, index chunks,
                            index* out) {
  const int64 c = (static_cast<int64>(blockIdx.x) * block + threadIdx.x) / 32;
  if (c > chunks) return;
  const auto lane = static_cast<int64>(threadIdx.x) % 32;
  int64 low = 0, high = c < chunks ? rows : 0;  // the row is one of low … high
  while (low < high) {
    const int64 step = (high - low + 31) / 32, row = low + lane * step;
    const bool begins =
        row >= high ||
        offset_at(offsets, offsets_64, static_cast<index>(row)) + row >= c * chunk_items;
    const unsigned those = __ballot_sync(0xffffffffu, begins);
    const int64 first = those != 0 ? __ffs(static_cast<int>(those)) - 1 : 32;
    if (first < 32 && low + first * step < high) high = low + first * step;
    if (first > 0) low += (first - 1) * step + 1;
  }
  if (lane == 0) out[c] = c < chunks ? static_cast<index>(low) : rows;
}

unsigned blocks_of(index rows, int rows_per_block) {
  return static_cast<unsigned>((static_cast<int64>(rows) + rows_per_block - 1) / rows_per_block);
}

/// Launches a kernel over a pattern, in the order of its stream.
template <class... Parameters>
void launch_over(const pattern& of, void (*kernel)(Parameters...), unsigned blocks, int threads,
                 std::type_identity_t<Parameters>... given) {
  launch_kernel(kernel, row_statistics::name, of.where().device,
                static_cast<cudaStream_t>(of.stream()), blocks, static_cast<unsigned>(threads),
                given...);
}

/// The segments of rows longer than `split_length`, counted on the device.
counters count_segments(const pattern& of, int64 split_length, int64 segment_length) {
  const auto stream = static_cast<cudaStream_t>(of.stream());
  const buffer taken = buffer::allocate(sizeof(counters), of.where(), of.stream());
  check(cudaMemsetAsync(taken.data(), 0, taken.bytes(), stream), "splitting rows");
  launch_over(of, &split_rows_of, blocks_of(of.rows(), block), block, of.offsets(), of.offsets_64(),
              of.rows(), split_length, segment_length, taken.data<counters>(), nullptr, nullptr);
  return *taken.to(cpu()).data<counters>();
}

/// Those of `row`, from the statistics if these have this split length and are of this pattern, not
/// of the whole that it is a part of. Longer ones, of rows of half a million entries, are counted.
counters segments_of(const pattern& of, const row_statistics& statistics, int64 split_length) {
  for (int kind = 0; kind < split_length_count && statistics.whole_nnz < 0; ++kind)
    if (nth_split_length(kind) == split_length)
      return {statistics.split_rows[kind], statistics.segments[kind]};
  return count_segments(of, split_length, splits_per_segment * split_length);
}

/// What the kernels that make the lists count: `taken` by the segments of blocks and of warps.
struct list_counts {
  counters taken[2];
  unsigned finished;
  int next[classes];
};

/// The bytes at which the lists begin in their allocation.
struct list_places {
  std::size_t counts, segments[2], split_rows[2], chunks, order, bytes;
};
list_places places_for(const split_lists* const (&split)[2], std::size_t chunks,
                       std::size_t ordered_rows) {
  std::size_t size = 0;
  const auto reserve = [&](std::size_t bytes) {
    const std::size_t at = size;
    size += (bytes + 15) / 16 * 16;
    return at;
  };
  list_places out = {};
  out.counts = reserve(sizeof(list_counts));
  for (int kind = 0; kind < 2; ++kind) {
    out.segments[kind] =
        reserve(static_cast<std::size_t>(split[kind]->segment_count) * sizeof(row_segment));
    out.split_rows[kind] =
        reserve(static_cast<std::size_t>(split[kind]->split_count) * sizeof(split_row));
  }
  out.chunks = reserve((chunks + 1) * sizeof(index));
  out.order = reserve(ordered_rows * sizeof(listed_row));
  out.bytes = size;
  return out;
}

void list_chunks(const pattern& of, index chunks, index* out) {
  const int64 threads = 32 * (static_cast<int64>(chunks) + 1);
  launch_over(of, &find_chunks, static_cast<unsigned>((threads + block - 1) / block), block,
              of.offsets(), of.offsets_64(), of.rows(), chunks, out);
}

void list_by_length(const pattern& of, list_counts* counts, listed_row* out) {
  const unsigned blocks = blocks_of(of.rows(), block_rows);
  launch_over(of, &count_classes, blocks, block, of.offsets(), of.offsets_64(), of.rows(),
              counts->next, &counts->finished);
  launch_over(of, &place_rows, blocks, block, of.offsets(), of.offsets_64(), of.rows(),
              counts->next, out);
}

}  // namespace

row_lists::row_lists(const pattern& of) {
  const device_scope scope(of.where().device);
  const auto stream = static_cast<cudaStream_t>(of.stream());
  const auto statistics = of.derived_of<row_statistics>();
  const bool splits = has_rows_to_split(*statistics), sorts = is_skewed(*statistics, of.nnz());
  split_lists* const split[] = {this, &of_warps};
  if (splits) {
    const int64 length = statistics->split_length;
    const counters all[] = {segments_of(of, *statistics, length),
                            count_segments(of, length, length)};
    for (int kind = 0; kind < 2; ++kind)
      *split[kind] = {length, all[kind].segments, all[kind].rows};
  }
  chunk_count = static_cast<index>((of.nnz() + of.rows() + chunk_items - 1) / chunk_items);

  const list_places at = places_for({this, &of_warps}, static_cast<std::size_t>(chunk_count),
                                    sorts ? static_cast<std::size_t>(of.rows()) : 0);
  memory = buffer::allocate(at.bytes, of.where(), of.stream());
  auto* const bytes = memory.data<unsigned char>();
  auto* const counts = reinterpret_cast<list_counts*>(bytes + at.counts);
  if (splits || sorts)
    check(cudaMemsetAsync(counts, 0, sizeof(list_counts), stream), "lists of rows");
  for (int kind = 0; splits && kind < 2; ++kind) {
    auto* const of_segments = reinterpret_cast<row_segment*>(bytes + at.segments[kind]);
    auto* const of_rows = reinterpret_cast<split_row*>(bytes + at.split_rows[kind]);
    launch_over(of, &split_rows_of, blocks_of(of.rows(), block), block, of.offsets(),
                of.offsets_64(), of.rows(), split_length,
                kind == 0 ? splits_per_segment * split_length : split_length, &counts->taken[kind],
                of_segments, of_rows);
    split[kind]->segments = of_segments;
    split[kind]->split_rows = of_rows;
  }
  auto* const of_chunks = reinterpret_cast<index*>(bytes + at.chunks);
  list_chunks(of, chunk_count, of_chunks);
  chunk_rows = of_chunks;
  if (sorts) {
    auto* const order = reinterpret_cast<listed_row*>(bytes + at.order);
    list_by_length(of, counts, order);
    by_length = order;
  }
  // One wait at creation, so that a call on any stream finds the structure complete.
  check(cudaStreamSynchronize(stream), "lists of rows");
}

std::size_t row_lists::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t sum = memory.bytes();
  for (const scratch& some : of_streams_) sum += some.counters.bytes() + some.sums.bytes();
  return sum;
}

buffer row_lists::cached(buffer scratch::*part, void* stream, std::size_t bytes) const {
  constexpr std::size_t most_streams = 16;
  const std::lock_guard lock(mutex_);
  auto at = std::find_if(of_streams_.begin(), of_streams_.end(),
                         [&](const scratch& some) { return some.stream == stream; });
  if (at != of_streams_.end() && (*at.*part).bytes() >= bytes) return *at.*part;
  if (at == of_streams_.end() && of_streams_.size() == most_streams) return {};
  // Freed like the lists, in the order of A's stream, which waits for every call.
  buffer made = buffer::allocate(bytes, memory.where(), memory.stream());
  const auto order = static_cast<cudaStream_t>(memory.stream());
  if (part == &scratch::counters)
    check(cudaMemsetAsync(made.data(), 0, made.bytes(), order), "counters between blocks");
  if (stream != memory.stream()) check(cudaStreamSynchronize(order), "counters between blocks");
  if (at == of_streams_.end()) {
    of_streams_.push_back({stream, {}, {}});
    at = of_streams_.end() - 1;
  }
  return *at.*part = made;
}

buffer row_lists::counters_of(void* stream, std::size_t count) const {
  return cached(&scratch::counters, stream, count * sizeof(unsigned));
}
buffer row_lists::sums_of(void* stream, std::size_t bytes) const {
  return cached(&scratch::sums, stream, bytes);
}

}  // namespace rig::on_cuda
