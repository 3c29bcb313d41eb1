#pragma once

// split: rows longer than `long_row` are split into segments that all threads share; other rows go
// as in `row`.
//
// Wins if a few rows hold a large share of the entries: the hub of a star, a dense row. Segments do
// not depend on the number of threads, and the sums of segments are added in order, so results are
// deterministic. Cost: O(nnz · f); scratch: segments · f accumulators. Measured: suite cpu.

#include <vector>

#include "rig/kernels/cpu/row.hpp"

namespace rig::on_cpu {

/// A second thread does not pay for a shorter row.
inline constexpr int64 long_row = 65536;

/// Segments per long row: fixed, so results do not depend on the number of threads.
inline constexpr int segments_per_row = 32;

/// Whether `split` is chosen for a matrix of `nnz` entries whose longest row has `longest`.
bool splits(int64 nnz, int64 longest);

answer split_answer(const problem& p);

/// The sums of each segment of a row.
template <class S, bool OneColumn>
void sum_segments(const problem& p, index row, typename S::accum* scratch) {
  using accum = typename S::accum;
  constexpr int most = 2 * half_tile<S>;
  const int width = tile_columns<S>();
  const int64 begin = p.a.offset(row), n = p.a.offset(row + 1) - begin;
  const int64 f = p.b.columns;
  const int threads = threads_for(static_cast<double>(n * f), p.desc->threads);
#pragma omp parallel num_threads(threads)
  {
    reader<S, OneColumn> read(p);
#pragma omp for schedule(dynamic, 1)
    for (int segment = 0; segment < segments_per_row; ++segment) {
      const int64 from = begin + n / segments_per_row * segment;
      const int64 to = segment + 1 == segments_per_row ? begin + n : from + n / segments_per_row;
      for (int64 first = 0; first < f; first += width) {
        const int count = static_cast<int>(f - first < width ? f - first : width);
        accum sums[std::size_t(most)];
        read.sum(row, from, to, first, count, sums);
        for (int j = 0; j < count; ++j) scratch[segment * f + first + j] = sums[j];
      }
    }
  }
}

template <class S, bool OneColumn>
void split_row(const problem& p, index row, typename S::accum* scratch) {
  using accum = typename S::accum;
  constexpr int most = 2 * half_tile<S>;
  const int width = tile_columns<S>();
  const int64 n = p.a.offset(row + 1) - p.a.offset(row), f = p.b.columns;
  if (allows_in(p, row)) sum_segments<S, OneColumn>(p, row, scratch);
  const writer<S> write(p);
  mask_row mask(p.mask, row);
  bool allowed[std::size_t(most)];
  for (int64 first = 0; first < f; first += width) {
    const int count = static_cast<int>(f - first < width ? f - first : width);
    if (!mask.read(first, count, allowed)) {
      write.write_empty(row, first, count, allowed);
      continue;
    }
    accum sums[std::size_t(most)];
    for (int j = 0; j < count; ++j) sums[j] = scratch[first + j];
    for (int segment = 1; segment < segments_per_row; ++segment)
      for (int j = 0; j < count; ++j) sums[j] = S::add(sums[j], scratch[segment * f + first + j]);
    write.write(row, first, count, sums, n, mask.absent() ? nullptr : allowed);
  }
}

template <class S, bool OneColumn = false>
void split(const problem& p) {
  // The only allocation that can fail comes before any write.
  const buffer scratch = buffer::allocate(static_cast<std::size_t>(p.b.columns) * segments_per_row *
                                          sizeof(typename S::accum));
  process_all_rows<S, OneColumn>(p, long_row);
  for (index row = 0; row < p.a.rows; ++row)
    if (p.a.offset(row + 1) - p.a.offset(row) > long_row)
      split_row<S, OneColumn>(p, row, scratch.data<typename S::accum>());
}

}  // namespace rig::on_cpu
