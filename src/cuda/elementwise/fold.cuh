#pragma once

// Sums of segments by a monoid. A few lanes sum one segment, each every so many elements; then
// their sums are joined in order of lanes.
// Cost: one read. Determinism: the order depends on the length of the segment and on the lanes.

#include "cuda/device/element.cuh"

namespace rig::on_cuda {

struct fold_segment {
  int64 begin, end;
};

struct fold_arguments {
  element_arguments elements;  ///< x is what is summed
  int64 count = 0;             ///< of the segments
  const fold_segment* segments = nullptr;
  /// Without `segments`: segment k is elements k / lines · length … of line k % lines, and the ones
  /// `step` further, and so on. A line has `total` elements; element e of line l is at
  /// l · line_stride + e · stride.
  int64 lines = 1, length = 0, step = 0, total = 0, line_stride = 0, stride = 1;
  int lanes = 32;  ///< per segment, a power of two
  /// Elements have the type of the sums and are read 16 bytes at a time, because each segment
  /// begins on 16 bytes.
  bool in_vectors = false;
};

/// The sum of a lane, if it has one.
template <class T, class Join>
struct lane_sum {
  const Join& join;
  T sum = T();
  bool is_set = false;

  __device__ __forceinline__ void add(const T& x) {
    sum = is_set ? join(sum, x) : x;
    is_set = true;
  }
};

/// Adds elements begin + lane, begin + lane + lanes, … to a lane's sum.
template <class T, class Join>
__device__ __forceinline__ void add_elements(const fold_arguments& args, int64 base, int64 begin,
                                             int64 end, int lane, lane_sum<T, Join>& to) {
  constexpr int n = 4;
  for (int64 first = begin + lane; first < end; first += n * args.lanes) {
    int64 at[n];
    T x[n];
    for (int u = 0; u < n; ++u) {
      const int64 e = first + u * args.lanes;
      at[u] = e < end ? base + e * args.stride : -1;
    }
    gather(args.elements.x, at, x);
    for (int u = 0; u < n; ++u)
      if (at[u] >= 0) to.add(x[u]);
  }
}

/// The same by vectors of 16 bytes; returns the first element that is left.
template <class T, class Join>
__device__ __forceinline__ int64 add_vectors(const fold_arguments& args, int64 base, int64 begin,
                                             int64 end, int lane, lane_sum<T, Join>& to) {
  constexpr int n = 4, width = 16 / sizeof(T);
  const auto* const from =
      reinterpret_cast<const any_value*>(static_cast<const T*>(args.elements.x.values) + base);
  const int64 last = end / width;
  for (int64 first = begin / width + lane; first < last; first += n * args.lanes) {
    any_value loaded[n];
    for (int u = 0; u < n; ++u)
      if (first + u * args.lanes < last) loaded[u] = from[first + u * args.lanes];
    for (int u = 0; u < n; ++u) {
      if (first + u * args.lanes >= last) break;
      for (int k = 0; k < width; ++k) to.add(reinterpret_cast<const T*>(loaded[u].bytes)[k]);
    }
  }
  return last * width;
}

/// `Logical`: sums are 0 or 1, those of one element too.
template <class T, bool Logical, class Join>
__device__ __forceinline__ void sum_segment(const fold_arguments& args, const Join& join) {
  const auto thread = static_cast<int64>(blockIdx.x) * element_threads + threadIdx.x;
  const int64 k = thread / args.lanes;
  const int lane = static_cast<int>(thread % args.lanes);
  int64 begin = 0, end = 0, base = 0;
  if (k < args.count && args.segments != nullptr) {
    begin = args.segments[k].begin;
    end = args.segments[k].end;
  } else if (k < args.count) {
    begin = k / args.lines * args.length;
    end = begin + args.length < args.total ? begin + args.length : args.total;
    base = k % args.lines * args.line_stride;
  }
  lane_sum<T, Join> mine{join};
  while (begin < end) {
    int64 rest = begin;
    if constexpr (16 % sizeof(T) == 0 && is_storage<T>)
      if (args.in_vectors) rest = add_vectors(args, base, begin, end, lane, mine);
    add_elements(args, base, rest, end, lane, mine);
    if (args.step == 0) break;
    begin += args.step;
    end = begin + args.length < args.total ? begin + args.length : args.total;
  }
  for (int distance = args.lanes / 2; distance > 0; distance /= 2) {
    const T other = shuffle(mine.sum, [=](unsigned word) {
      return __shfl_down_sync(0xffffffffu, word, static_cast<unsigned>(distance));
    });
    const bool is_set = __shfl_down_sync(0xffffffffu, static_cast<int>(mine.is_set),
                                         static_cast<unsigned>(distance));
    if (lane < distance && is_set) mine.add(other);
  }
  const int64 at[1] = {lane == 0 && mine.is_set ? k : -1};
  if constexpr (Logical) mine.sum = join(mine.sum, mine.sum);
  const T sums[1] = {mine.sum};
  scatter(args.elements, at, sums);
}

template <class Op>
__global__ void __launch_bounds__(element_threads, 5) fold_segments(fold_arguments args) {
  using T = typename Op::result;
  if constexpr (requires { typename Op::folds; }) {
    // Loops do not test which of the builtin monoids it is.
    with_code<binary::plus, binary::times, binary::minimum, binary::maximum, binary::logical_or,
              binary::logical_and>(args.elements.code, [&]<binary Code>() {
      constexpr bool is_logical = Code == binary::logical_or || Code == binary::logical_and;
      sum_segment<T, is_logical>(args,
                                 [](T x, T y) { return accumulate(as_accumulator(Code), x, y); });
    });
  } else {
    sum_segment<T, Op::is_logical>(args, [&](const T& x, const T& y) {
      return Op::compute(args.elements, x, y, {true, true, 0, 0});
    });
  }
}

}  // namespace rig::on_cuda
