#pragma once

// sort_rows, of gustavson: a block per row lists the products of the row in the order of A's
// entries, sorts their numbers by column, a digit at a time, and adds the products of each column.
// count_rows counts the columns before. Lists are in shared memory, or in device memory for rows of
// more products. Source: Bell,
// Dalton & Olson, SISC 2012 (expand, sort, compress); Merrill & Grimshaw, PPL 2011 (radix sort).
// Determinism: the sort is stable, so each sum is added in the order of A's entries.

#include "cuda/spgemm/product.cuh"
#include "cuda/spgemm/row_classes.cuh"

namespace rig::on_cuda {

constexpr int most_sort_threads = 1024;
/// Products that a thread loads together.
constexpr int listed_in_flight = 4;

template <bool Wide>
struct product_number {
  using type = unsigned short;
};
template <>
struct product_number<true> {
  using type = unsigned;
};

/// The products of a row, and their numbers in two orders.
template <class S, bool Wide>
struct product_list {
  using accum = typename S::accum;
  using number = typename product_number<Wide>::type;
  accum* sums;
  int* keys;  ///< columns
  number *order, *other;

  /// Lists for `room` products, which is a multiple of 32, so that each begins on 16 bytes.
  __device__ product_list(unsigned char* memory, int64 room)
      : sums(reinterpret_cast<accum*>(memory)),
        keys(reinterpret_cast<int*>(memory + room * static_cast<int64>(sizeof(accum)))),
        order(reinterpret_cast<number*>(keys + room)),
        other(order + room) {}
  __device__ int key_at(int place) const { return keys[order[place]]; }
};

/// What the threads of a block share while they list and sort.
struct sort_scratch {
  unsigned* counts;  ///< of each warp's keys, by digit
  unsigned* starts;  ///< by digit: the number of keys with a lower one
  int* totals;       ///< two per warp
  // In the place of counts while products are listed, per entry of A:
  int64* from;  ///< the place in B of the row's first product, less the products before it
  int* before;  ///< products of the entries before
  index* inner;

  __device__ explicit sort_scratch(unsigned* words) {
    const unsigned threads = blockDim.x;
    counts = words;
    starts = counts + threads / 32 * digit_values;
    totals = reinterpret_cast<int*>(starts + digit_values);
    from = reinterpret_cast<int64*>(words);
    before = reinterpret_cast<int*>(from + threads);
    inner = before + threads;
    static_assert(sizeof(int64) + sizeof(int) + sizeof(index) <= digit_values / 32 * 4);
  }
};

/// The sum of x over the threads of the block before this one, and over all.
__device__ __forceinline__ int sum_before(int x, int* totals, int& total) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32,
            warps = static_cast<int>(blockDim.x) / 32;
  int sum = x;
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, sum, distance);
    if (lane >= distance) sum += other;
  }
  __syncthreads();
  if (lane == 31) totals[warp] = sum;
  __syncthreads();
  const int of_lane = lane < warps ? totals[lane] : 0;
  total = __reduce_add_sync(0xffffffffu, of_lane);
  return sum - x + __reduce_add_sync(0xffffffffu, lane < warp ? of_lane : 0);
}

/// The least and the greatest key of a block.
struct key_range {
  int lowest = highest<int>(), greatest = 0;

  __device__ void take(int key) {
    if (key < lowest) lowest = key;
    if (key > greatest) greatest = key;
  }
  /// Joins the ranges of all threads; no thread reads `totals` at the call.
  __device__ void join(int* totals) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32,
              warps = static_cast<int>(blockDim.x) / 32;
    lowest = __reduce_min_sync(0xffffffffu, lowest);
    greatest = __reduce_max_sync(0xffffffffu, greatest);
    if (lane == 0) {
      totals[warp] = lowest;
      totals[32 + warp] = greatest;
    }
    __syncthreads();
    lowest = __reduce_min_sync(0xffffffffu, lane < warps ? totals[lane] : lowest);
    greatest = __reduce_max_sync(0xffffffffu, lane < warps ? totals[32 + lane] : greatest);
  }
};

/// The memory of a block for rows: in shared memory behind the scratch, or in device memory, where
/// blocks have so many bytes per product each.
template <bool Wide>
__device__ __forceinline__ unsigned char* row_memory(const product_arguments& args,
                                                     unsigned char* shared, int64 per_product) {
  return Wide ? static_cast<unsigned char*>(args.lists) + blockIdx.x * args.room * per_product
              : shared + sort_scratch_words(static_cast<int>(blockDim.x)) * 4;
}

/// Products of a row that a thread takes together; those that are not there are at −1.
struct some_products {
  static constexpr int count = listed_in_flight;
  int number[count];  ///< in the order of A's entries
  int64 in_a[count], in_b[count];
  index inner[count], columns[count];

  /// Products product, product + threads … of a chunk of A's entries that begins at entry `first`
  /// and has `total` products; `before` are in chunks before. `half` bounds the search.
  __device__ some_products(const product_arguments& args, const sort_scratch& scratch, int64 first,
                           int half, int product, int total, int before) {
    for (int k = 0; k < count; ++k, product += static_cast<int>(blockDim.x)) {
      in_a[k] = in_b[k] = -1;
      if (product >= total) continue;
      int t = 0;  // the last entry with at most `product` products before it
      for (int step = half; step > 0; step /= 2)
        if (scratch.before[t + step] <= product) t += step;
      number[k] = before + product;
      in_a[k] = first + t;
      in_b[k] = scratch.from[t] + product;
      inner[k] = scratch.inner[t];
    }
    for (int k = 0; k < count; ++k) columns[k] = in_b[k] < 0 ? 0 : args.b.columns[in_b[k]];
  }
};

/// Calls work(some_products) for all products of a row; returns their number.
template <class Work>
__device__ __forceinline__ int each_product(const product_arguments& args, index row,
                                            const sort_scratch& scratch, Work work) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int64 begin = args.a.offset(row), end = args.a.offset(row + 1);
  int count = 0;
  for (int64 first = begin; first < end; first += threads) {
    index inner = 0;
    int64 from = 0;
    int length = 0, total = 0;
    if (first + thread < end) {
      inner = args.a.columns[first + thread];
      from = args.b.offset(inner);
      length = static_cast<int>(args.b.offset(inner + 1) - from);
    }
    const int before = sum_before(length, scratch.totals, total);
    // Entries beyond the last one begin after all products, so that no search ends there.
    scratch.before[thread] = first + thread < end ? before : highest<int>();
    scratch.from[thread] = from - before;
    scratch.inner[thread] = inner;
    __syncthreads();
    int half = threads / 2;  // a power of two; fewer entries need fewer steps
    while (half > 0 && half >= end - first) half /= 2;
    for (int product = thread; product < total; product += threads * some_products::count)
      work(some_products(args, scratch, first, half, product, total, count));
    count += total;
  }
  __syncthreads();
  return count;
}

/// Lists the products of a row in the order of A's entries; returns their number.
template <class S, bool Wide>
__device__ int list_row(const product_arguments& args, index row, const sort_scratch& scratch,
                        const product_list<S, Wide>& list, key_range& keys) {
  return each_product(args, row, scratch, [&](const some_products& of) {
    typename S::left x[some_products::count]{};
    typename S::right y[some_products::count]{};
    if constexpr (!is_ignoring_left<S>) gather(args.a.values, of.in_a, x);
    if constexpr (!is_ignoring_right<S>) gather(args.b.values, of.in_b, y);
    for (int k = 0; k < some_products::count; ++k) {
      if (of.in_b[k] < 0) continue;
      const int to = of.number[k];
      const index column = of.columns[k];
      list.keys[to] = column;
      list.order[to] = static_cast<typename product_list<S, Wide>::number>(to);
      list.sums[to] = product<S>(x[k], y[k], {args.flips ? column : row, of.inner[k]});
      keys.take(column);
    }
  });
}

/// The part of `count` places that a warp takes. It begins at a multiple of 32, and is empty if it
/// does not end after its begin.
struct warp_part {
  int begin, end;
  __device__ explicit warp_part(int count) {
    const int warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
    const int each = (count + 32 * warps - 1) / (32 * warps) * 32;
    begin = warp * each;
    end = begin + each < count ? begin + each : count;
  }
};

/// Turns counts by warp and digit into places: those of a digit's keys begin at `starts`, and those
/// of its warps follow each other.
__device__ __forceinline__ void place_digits(const sort_scratch& scratch, int values) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int digit = thread; digit < values; digit += threads) {
    unsigned sum = 0;
    for (int warp = 0; warp < threads / 32; ++warp) {
      unsigned& count = scratch.counts[warp * digit_values + digit];
      const unsigned here = count;
      count = sum;
      sum += here;
    }
    scratch.starts[digit] = sum;
  }
  __syncthreads();
  if (thread < 32) {
    unsigned sum = 0;
    for (int first = 0; first < values; first += 32) {
      const int digit = first + thread;
      const unsigned here = digit < values ? scratch.starts[digit] : 0;
      unsigned upto = here;
      for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned other = __shfl_up_sync(0xffffffffu, upto, distance);
        if (thread >= distance) upto += other;
      }
      if (digit < values) scratch.starts[digit] = sum + upto - here;
      sum += __shfl_sync(0xffffffffu, upto, 31);
    }
  }
  __syncthreads();
}

/// Sorts the numbers `order` to `other` by the digit of `bits` bits from `shift` on of their keys,
/// less `lowest`; stable.
template <class Number>
__device__ void sort_digit(const int* keys, int lowest, const Number* order, Number* other,
                           int count, int shift, int bits, const sort_scratch& scratch) {
  const int lane = static_cast<int>(threadIdx.x) % 32, values = 1 << bits;
  const warp_part part(count);
  unsigned* const counts = scratch.counts + threadIdx.x / 32 * digit_values;
  const auto digit_of = [&](int number) {
    return static_cast<unsigned>(keys[number] - lowest) >> shift &
           static_cast<unsigned>(values - 1);
  };
  for (int digit = lane; digit < values; digit += 32) counts[digit] = 0;
  __syncwarp();
  for (int i = part.begin + lane; i < part.end; i += 32) atomicAdd(counts + digit_of(order[i]), 1u);
  __syncthreads();
  place_digits(scratch, values);
  for (int first = part.begin; first < part.end; first += 32) {
    const bool is_there = first + lane < part.end;
    const Number number = is_there ? order[first + lane] : Number(0);
    const unsigned digit = digit_of(number);
    unsigned alike = __ballot_sync(0xffffffffu, is_there);  // lanes with the same digit
    for (int bit = 0; bit < bits; ++bit) {
      const bool is_one = (digit >> bit & 1) != 0;
      const unsigned ones = __ballot_sync(0xffffffffu, is_one);
      alike &= is_one ? ones : ~ones;
    }
    const int before = __popc(alike & ((1u << lane) - 1));
    const unsigned place = scratch.starts[digit] + counts[digit];
    __syncwarp();
    if (is_there) {
      if (before == 0) counts[digit] += static_cast<unsigned>(__popc(alike));
      other[place + static_cast<unsigned>(before)] = number;
    }
    __syncwarp();
  }
  __syncthreads();
}

/// Sorts the numbers of products by column; stable.
template <class S, bool Wide>
__device__ void sort_list(product_list<S, Wide>& list, int count, const key_range& keys,
                          const sort_scratch& scratch) {
  const int bits = count == 0 ? 0 : 32 - __clz(keys.greatest - keys.lowest);
  const int passes = (bits + digit_bits - 1) / digit_bits;
  const int each = passes == 0 ? 0 : (bits + passes - 1) / passes;
  for (int pass = 0; pass < passes; ++pass) {
    sort_digit(list.keys, keys.lowest, list.order, list.other, count, pass * each, each, scratch);
    auto* const sorted = list.other;
    list.other = list.order;
    list.order = sorted;
  }
}

/// Sets a bit for the first place of each column that the mask allows.
template <class S, bool Wide>
__device__ void mark_columns(const product_arguments& args, index row,
                             const product_list<S, Wide>& list, int count, unsigned* kept) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const bool is_inside = is_inside_mask(args.mask);
  const int64 begin = is_inside ? args.mask.offset(row) : 0,
              end = is_inside ? args.mask.offset(row + 1) : 0;
  if (is_inside && end - begin <= count) {  // search for the fewer in the more
    for (int word = thread; word * 32 < count; word += threads) kept[word] = 0;
    __syncthreads();
    for (int64 e = begin + thread; e < end; e += threads) {
      const index column = args.mask.entries[e];
      int low = 0, high = count;
      while (low < high) {
        const int middle = low + (high - low) / 2;
        if (list.key_at(middle) < column)
          low = middle + 1;
        else
          high = middle;
      }
      if (low < count && list.key_at(low) == column && is_set(args.mask, e))
        atomicOr(kept + low / 32, 1u << low % 32);
    }
  } else {
    const warp_part part(count);
    for (int first = part.begin; first < part.end; first += 32) {
      const int i = first + thread % 32;
      const int key = i < part.end ? list.key_at(i) : -1;
      const bool is_kept =
          key >= 0 && (i == 0 || list.key_at(i - 1) != key) && allows(args.mask, row, key);
      const unsigned bits = __ballot_sync(0xffffffffu, is_kept);
      if (thread % 32 == 0) kept[first / 32] = bits;
    }
  }
  __syncthreads();
}

/// The sum of the products of one column, the first of which is at place i.
template <class S, bool Wide>
__device__ __forceinline__ typename S::accum add_run(const product_list<S, Wide>& list, int i,
                                                     int key, int count) {
  constexpr int N = 4;  // loaded together
  typename S::accum sum = list.sums[list.order[i]];
  bool goes_on = i + 1 < count && list.key_at(i + 1) == key;
  for (int next = i + 1; goes_on; next += N) {
    bool is_alike[N];
    typename S::accum x[N];
    for (int k = 0; k < N; ++k) {
      const int number = list.order[next + k < count ? next + k : i];
      is_alike[k] = next + k < count && list.keys[number] == key;
      x[k] = list.sums[number];
    }
    for (int k = 0; k < N; ++k) {
      goes_on = goes_on && is_alike[k];
      if (goes_on) sum = S::add(sum, x[k]);
    }
  }
  return sum;
}

/// Writes the sum of each marked column; returns the number of columns.
template <class S, bool Wide>
__device__ int add_columns(const product_arguments& args, index row,
                           const product_list<S, Wide>& list, int count, const unsigned* kept,
                           int* totals) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int64 n = args.a.offset(row + 1) - args.a.offset(row);
  const warp_part part(count);
  int columns = 0, total = 0;
  for (int word = part.begin / 32 + lane; word * 32 < part.end; word += 32)
    columns += __popc(kept[word]);
  columns = sum_before(columns, totals, total);
  int64 to = args.before[row] + __shfl_sync(0xffffffffu, columns, 0);
  for (int first = part.begin; first < part.end; first += 32) {
    const unsigned bits = kept[first / 32];
    if ((bits >> lane & 1) != 0) {
      const int i = first + lane, key = list.key_at(i);
      const int64 at = to + __popc(bits & ((1u << lane) - 1));
      args.out_columns[at] = key;
      store_as(args.out_values, args.out_type, at, finished<S>(add_run(list, i, key, count), n));
    }
    to += __popc(bits);
  }
  return total;
}

/// A block per row, with lists for `room` products, in device memory if wide.
template <class S, bool Wide>
__global__ void __launch_bounds__(most_sort_threads) sort_rows(product_arguments args) {
  extern __shared__ __align__(16) unsigned char sort_memory[];
  const sort_scratch scratch(reinterpret_cast<unsigned*>(sort_memory));
  unsigned char* const memory =
      row_memory<Wide>(args, sort_memory, sort_list_bytes(true, sizeof(typename S::accum)));
  for (int64 r = blockIdx.x; r < args.count; r += gridDim.x) {
    const index row = args.rows[r];
    product_list<S, Wide> list(memory, args.room);
    key_range keys;
    const int count = list_row(args, row, scratch, list, keys);
    keys.join(scratch.totals);
    sort_list(list, count, keys, scratch);
    auto* const kept = reinterpret_cast<unsigned*>(list.other);
    mark_columns(args, row, list, count, kept);
    const int columns = add_columns(args, row, list, count, kept, scratch.totals);
    if (threadIdx.x == 0 && args.lengths != nullptr) args.lengths[row] = columns;
    __syncthreads();
  }
}

/// The columns of a row in a table, which no thread reads in order.
struct column_table {
  int* keys;
  unsigned slots;

  __device__ unsigned first_slot(index column) const {
    return __umulhi(static_cast<unsigned>(column) * 2654435769u, slots);
  }
  __device__ unsigned next_slot(unsigned slot) const { return slot + 1 < slots ? slot + 1 : 0; }
  __device__ void clear() const {
    for (unsigned slot = threadIdx.x; slot < slots; slot += blockDim.x) keys[slot] = -1;
    __syncthreads();
  }
  /// Returns whether the column is new.
  __device__ bool insert(index column) const {
    for (unsigned slot = first_slot(column);; slot = next_slot(slot)) {
      int key = static_cast<volatile int*>(keys)[slot];
      if (key == -1) key = atomicCAS(keys + slot, -1, column);
      if (key == -1 || key == column) return key == -1;
    }
  }
  __device__ bool contains(index column) const {
    unsigned slot = first_slot(column);
    while (keys[slot] != column && keys[slot] != -1) slot = next_slot(slot);
    return keys[slot] == column;
  }
};

/// Counts the columns that the mask allows in the rows of `sort_rows`.
template <class S, bool Wide>
__global__ void __launch_bounds__(most_sort_threads) count_rows(product_arguments args) {
  extern __shared__ __align__(16) unsigned char sort_memory[];
  const sort_scratch scratch(reinterpret_cast<unsigned*>(sort_memory));
  const column_table table{
      reinterpret_cast<int*>(row_memory<Wide>(args, sort_memory, count_bytes_per_product)),
      static_cast<unsigned>(args.room * slots_per_product)};
  for (int64 r = blockIdx.x; r < args.count; r += gridDim.x) {
    const index row = args.rows[r];
    const bool is_inside = is_inside_mask(args.mask);
    const int64 begin = is_inside ? args.mask.offset(row) : 0,
                end = is_inside ? args.mask.offset(row + 1) : 0;
    const bool looks_up = is_inside && end - begin <= table.slots;
    int columns = 0, total = 0;
    table.clear();
    each_product(args, row, scratch, [&](const some_products& of) {
      for (int k = 0; k < some_products::count; ++k)
        if (of.in_b[k] >= 0 && table.insert(of.columns[k]) && !looks_up)
          columns += allows(args.mask, row, of.columns[k]) ? 1 : 0;
    });
    for (int64 e = begin + threadIdx.x; looks_up && e < end; e += blockDim.x)
      columns += table.contains(args.mask.entries[e]) && is_set(args.mask, e) ? 1 : 0;
    sum_before(columns, scratch.totals, total);
    if (threadIdx.x == 0) args.lengths[row] = total;
    __syncthreads();
  }
}

}  // namespace rig::on_cuda
