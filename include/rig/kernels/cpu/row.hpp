#pragma once

// row: a thread takes whole rows, one tile of columns at a time.
//
// Wins if no single row holds a large share of the entries. Source: GE-SpMM (Huang et al., SC
// 2020): plain CSR, any reduction, a row's entries shared by all columns of a tile. Cost: O(nnz ·
// f), no memory except the result. Measured: suite cpu.

#include <omp.h>

#include "rig/kernels/cpu/threads.hpp"
#include "rig/kernels/cpu/write.hpp"
#include "rig/kernels/list.hpp"
#include "rig/kernels/sampling.hpp"

namespace rig::on_cpu {

/// The average number of pieces per thread; many pieces make the last ones short.
inline constexpr int pieces_per_thread = 16;

/// The number of threads for this problem. Under a mask of few entries its rows are counted.
int threads_for(const problem& p);

/// Whether the places that a mask allows are so few that counting their work costs little.
bool allows_few(const mask_operand& mask);

/// The first row of piece `piece` of `pieces`; pieces hold equal sums of rows and entries.
index first_row_of(const sparse_operand& a, int piece, int pieces);

/// The first row from `row` that has more than `longest` entries, or `end`.
index next_longer(const sparse_operand& a, index row, index end, int64 longest);

/// Rows from one that are computed, up to `computed`, and then rows that a mask forbids, up to
/// `forbidden`. Without a mask, and under any but a plain one of a matrix, all are computed.
struct rows_under {
  index computed, forbidden;
};
rows_under rows_under_mask(const mask_operand& mask, index row, index end);

/// Whether the mask allows a place of the row.
bool allows_in(const problem& p, index row);

/// Rescales sums of n sampled entries of `row` to estimate sums of the whole row.
template <class S>
void rescale(const problem& p, index row, int64 n, int count, typename S::accum* sums) {
  if constexpr (is_rescaling<S>) {
    if (p.rescaled_to == nullptr) return;
    const int64 whole = p.rescaled_to->offset(row + 1) - p.rescaled_to->offset(row);
    if (whole != n)
      for (int j = 0; j < count; ++j) sums[j] = rescaled(sums[j], whole, n);
  }
}

/// Computes rows [begin, end).
template <class S, class Reader>
void process_rows(const problem& p, index begin, index end, Reader& read, const writer<S>& write) {
  typename S::accum sums[2 * half_tile<S>];
  bool allowed_places[2 * half_tile<S>];
  const int width = tile_columns<S>();
  int64 next = p.a.offset(begin);
  for (index row = begin; row < end; ++row) {
    const int64 first_entry = next, last_entry = next = p.a.offset(row + 1);
    const int64 n = last_entry - first_entry;
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
      rescale<S>(p, row, n, count, sums);
      write.write(row, first, count, sums, n, allowed);
    }
  }
}

/// The same for a product with one column: rows are summed and written by strips.
template <class S, class Reader>
void process_column(const problem& p, index begin, index end, Reader& read,
                    const writer<S>& write) {
  constexpr int most = 2 * half_tile<S>;
  static_assert(most <= widest_tile);
  typename S::accum sums[std::size_t(most)];
  column_strip strip;
  const chosen_places& chosen = strip.chosen;
  for (int64 next = begin; next < end; next += most) {
    const auto row = static_cast<index>(next);
    strip.read(p, row, end - row < most ? end - row : most);
    if (chosen.summed > 0) {
      const auto length = [&](int k) {
        const index here = row + (chosen.sums == nullptr ? k : chosen.sums[k]);
        return p.a.offset(here + 1) - p.a.offset(here);
      };
      read.sum_strip(row, chosen.summed, chosen.sums, sums);
      if (p.rescaled_to != nullptr)
        for (int k = 0; k < chosen.summed; ++k)
          rescale<S>(p, row + (chosen.sums == nullptr ? k : chosen.sums[k]), length(k), 1,
                     sums + k);
      write.write_sums(row, 0, {chosen.summed, chosen.sums, true}, sums, length);
    }
    write.write_fill(row, 0, {chosen.filled, chosen.fills, true});
  }
}

/// Computes rows [begin, end) of at most `longest` entries.
template <class S, class Reader>
void process_short_rows(const problem& p, index begin, index end, int64 longest, Reader& read,
                        const writer<S>& write) {
  for (index row = begin, stop; row < end; row = stop < end ? stop + 1 : end) {
    stop = next_longer(p.a, row, end, longest);
    if (read.is_direct())
      read.sum_to_c(row, stop);
    else if (read.has_strips())
      process_column<S>(p, row, stop, read, write);
    else
      process_rows<S>(p, row, stop, read, write);
  }
}

/// Computes every row of at most `longest` entries, in pieces of equal work. Rows that the mask
/// forbids become the fill, or stay.
template <class S, bool OneColumn>
void process_all_rows(const problem& p, int64 longest) {
  const int threads = threads_for(p);
  const int pieces = threads == 1 ? 1 : threads * pieces_per_thread;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    reader<S, OneColumn> read(p);
    const writer<S> write(p);
#pragma omp for schedule(dynamic, 1)
    for (int piece = 0; piece < pieces; ++piece) {
      const index begin = first_row_of(p.a, piece, pieces),
                  end = first_row_of(p.a, piece + 1, pieces);
      for (index row = begin; row < end;) {
        const rows_under next = rows_under_mask(p.mask, row, end);
        process_short_rows<S>(p, row, next.computed, longest, read, write);
        write.write_outside(next.computed, next.forbidden);
        row = next.forbidden;
      }
    }
  }
}

/// The estimated seconds of a product if no thread gets more than `share` of its entries.
/// `retained`: entries per row of the cbsr that it reads or makes.
double estimate(const problem& p, double share, int retained = 0);

answer row_answer(const problem& p);

template <class S, bool OneColumn = false>
void row(const problem& p) {
  process_all_rows<S, OneColumn>(p, highest<int64>());
}

}  // namespace rig::on_cpu
