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
  /// Without `segments`: segment k is elements k / lines · length … of line k % lines. A line has
  /// `total` elements, and element e of line l is at l · line_stride + e · stride.
  int64 lines = 1, length = 0, total = 0, line_stride = 0, stride = 1;
  int lanes = 32;  ///< per segment, a power of two
};

template <class Op>
__global__ void __launch_bounds__(element_threads) fold_segments(fold_arguments args) {
  using T = typename Op::result;
  constexpr int n = elements_in_flight;
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
  const element_place both = {true, true, 0, 0};
  T sum = T();
  for (int64 first = begin + lane; first < end; first += n * args.lanes) {
    int64 at[n];
    T x[n];
    for (int u = 0; u < n; ++u) {
      const int64 e = first + u * args.lanes;
      at[u] = e < end ? base + e * args.stride : -1;
    }
    gather(args.elements.x, at, x);
    for (int u = 0; u < n; ++u) {
      if (at[u] < 0) continue;
      sum = first == begin + lane && u == 0 ? x[u] : Op::compute(args.elements, sum, x[u], both);
    }
  }
  // Lanes from `lane` on that have a sum.
  for (int distance = args.lanes / 2; distance > 0; distance /= 2) {
    const T other = shuffle(sum, [=](unsigned word) {
      return __shfl_down_sync(0xffffffffu, word, static_cast<unsigned>(distance));
    });
    if (lane < distance && lane + distance < end - begin)
      sum = Op::compute(args.elements, sum, other, both);
  }
  const int64 at[1] = {k < args.count && lane == 0 && begin < end ? k : -1};
  const T sums[1] = {sum};
  scatter(args.elements, at, sums);
}

}  // namespace rig::on_cuda
