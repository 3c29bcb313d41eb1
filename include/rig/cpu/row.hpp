#pragma once

// row: a thread takes whole rows, a tile of columns at a time.
//
// Wins wherever no single row holds a large share of the entries. Source: GE-SpMM (Huang et al., SC
// 2020): CSR as it is, any reduction, the row's entries shared by all columns of a tile. O(nnz ·
// f), no memory but the result. Measured: docs/measured.md, suite cpu.

#include <omp.h>

#include "rig/cpu/threads.hpp"
#include "rig/cpu/write.hpp"
#include "rig/kernels.hpp"
#include "rig/sampling.hpp"

namespace rig::on_cpu {

/// Pieces of work a thread takes on average, so that the last ones are short.
inline constexpr int pieces_a_thread = 16;

/// Threads this problem runs on.
int threads_for(const problem& p);

/// First row of piece `piece` of `pieces`: pieces hold equal sums of rows and entries.
index first_row_of(const sparse_operand& a, int piece, int pieces);

/// Rows [begin, end) that have at most `longest` entries.
template <class S>
void process_rows(const problem& p, index begin, index end, int64 longest, reader<S>& read,
                  const writer<S>& write) {
  constexpr int width = 2 * half_tile<S>;
  typename S::accum sums[width];
  bool allowed_places[width];
  int64 next = p.a.offset(begin);
  for (index row = begin; row < end; ++row) {
    const int64 first_entry = next, last_entry = next = p.a.offset(row + 1);
    const int64 n = last_entry - first_entry;
    if (n > longest) continue;
    mask_row mask(p.mask, row);
    const bool* allowed = mask.absent() ? nullptr : allowed_places;
    for (int64 first = 0; first < p.b.columns; first += width) {
      const int count = static_cast<int>(p.b.columns - first < width ? p.b.columns - first : width);
      const bool any = mask.read(first, count, allowed_places);
      if (n == 0 || !any) {
        write.write_empty(row, first, count, allowed);
        continue;
      }
      write.fetch(row, first, count);
      read.sum(row, first_entry, last_entry, first, count, sums);
      if constexpr (is_rescaling<S>) {
        if (p.rescaled_to != nullptr) {
          const int64 whole = p.rescaled_to->offset(row + 1) - p.rescaled_to->offset(row);
          if (whole != n)
            for (int j = 0; j < count; ++j) sums[j] = rescaled(sums[j], whole, n);
        }
      }
      write.write(row, first, count, sums, n, allowed);
    }
  }
}

/// Every row of at most `longest` entries, in pieces of equal work.
template <class S>
void process_all_rows(const problem& p, int64 longest) {
  const int threads = threads_for(p);
  const int pieces = threads == 1 ? 1 : threads * pieces_a_thread;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    reader<S> read(p);
    const writer<S> write(p);
#pragma omp for schedule(dynamic, 1)
    for (int piece = 0; piece < pieces; ++piece) {
      const index begin = first_row_of(p.a, piece, pieces),
                  end = first_row_of(p.a, piece + 1, pieces);
      if (read.is_direct()) {
        read.sum_to_c(begin, end, longest);
        continue;
      }
      process_rows<S>(p, begin, end, longest, read, write);
    }
  }
}

/// Seconds a product takes if no thread gets more than `share` of its entries. `kept`: the entries
/// of a row of the cbsr that it reads or makes.
double estimate(const problem& p, double share, int kept = 0);

answer row_answer(const problem& p);

template <class S>
void row(const problem& p) {
  process_all_rows<S>(p, highest<int64>());
}

}  // namespace rig::on_cpu
