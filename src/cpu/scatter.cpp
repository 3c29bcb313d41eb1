// Sums of elements at rows that each one names.

#include <algorithm>

#include "rig/kernels/cpu/threads.hpp"
#include "rig/kernels/cpu/write.hpp"
#include "storage/backend.hpp"

namespace rig::on_cpu {
namespace {

/// Adds X to sums whose rows are `stride` apart. A thread has columns of its own, so the order of a
/// sum is that of the rows of X.
template <class T, class Sum>
void add_to(Sum* sums, int64 stride, index count, const dense_operand& x, const dense_operand& rows,
            int threads) {
  constexpr index line = 64 / sizeof(Sum);
  const index lines = (x.columns - 1) / line + 1;
  threads = std::min(threads, lines);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int part = 0; part < threads; ++part) {
    const auto edge = [&](int64 of) {
      return static_cast<index>(std::min<int64>(x.columns, lines * of / threads * line));
    };
    const index first = edge(part), end = edge(part + 1);
    for (index i = 0; i < x.rows; ++i) {
      const T* const from = static_cast<const T*>(x.data) + i * x.stride;
      const int32* const row = static_cast<const int32*>(rows.data) + i * rows.stride;
      for (index j = first; j < end; ++j)
        if (row[j] >= 0 && row[j] < count) sums[row[j] * stride + j] += convert<Sum>(from[j]);
    }
  }
}

}  // namespace

void scatter_add(const dense_operand& x, const dense_operand& rows, const dense_operand& y,
                 bool accumulates, const descriptor& desc) {
  const double work = (static_cast<double>(x.rows) + y.rows) * x.columns;
  const int threads = threads_for(work, desc.threads);
  with_stored<float>(y, [&]<class T>(T* to) {
    if constexpr (is_float<T>) {
      if (!accumulates)
        for (index i = 0; i < y.rows; ++i) std::fill_n(to + i * y.stride, y.columns, T(0));
      add_to<T>(to, y.stride, y.rows, x, rows, threads);
    } else if constexpr (is_small_float<T>) {
      const int64 count = int64{y.rows} * y.columns;
      const buffer room = buffer::allocate(static_cast<std::size_t>(count) * sizeof(float));
      float* const sums = room.data<float>();
      std::fill_n(sums, count, 0.0f);
      add_to<T>(sums, y.columns, y.rows, x, rows, threads);
#pragma omp parallel for schedule(static) num_threads(threads)
      for (index i = 0; i < y.rows; ++i)
        for (index j = 0; j < y.columns; ++j) {
          T& into = to[i * y.stride + j];
          const float sum = sums[int64{i} * y.columns + j];
          into = convert<T>(accumulates ? convert<float>(into) + sum : sum);
        }
    }
  });
}

}  // namespace rig::on_cpu
