// The order LOA of HC-SpMM: each window of 16 rows takes rows that share columns.

#include <omp.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "graph/windows.hpp"
#include "rig/kernels/cpu/threads.hpp"
#include "rig/rearrange.hpp"

namespace rig {
namespace {

/// A window's rows are chosen among so many positions after its first row.
constexpr index reach = 300;

/// The list of an entry so far ahead is fetched, because lists lie apart in memory.
constexpr int64 ahead = 8;

/// Chunks of rows are ordered independently, so that threads share nothing. A constant, because
/// the order must not depend on the number of threads.
constexpr index chunk_rows = 8192;
static_assert(chunk_rows % window_rows == 0);

/// Rows, and for each column the rows that have it.
struct two_ways {
  explicit two_ways(const matrix<bool>& of)
      : rows(of.structure()),
        ranks(buffer::allocate(static_cast<std::size_t>(of.nnz()) * sizeof(index))) {
    transposed transpose(rows);
    holders = std::move(transpose.structure);
    const int threads = on_cpu::threads_for(2 * static_cast<double>(of.nnz()));
#pragma omp parallel for schedule(dynamic, 512) num_threads(threads)
    for (index column = 0; column < rows.columns(); ++column) {
      const int64 begin = holders->offset(column), end = holders->offset(column + 1);
      for (int64 q = begin; q < end; ++q) {
        const int64 entry = holders->offsets_64() ? transpose.permutation.data<int64>()[q]
                                                  : transpose.permutation.data<int32>()[q];
        ranks.data<index>()[entry] = static_cast<index>(q - begin);
      }
    }
  }

  const pattern& rows;
  std::shared_ptr<const pattern> holders;  // row u lists, ascending, the rows with column u
  buffer ranks;                            // of each entry of `rows` in the list of its column
};

/// Fills one window after another from a chunk of rows.
class window_filler {
 public:
  /// `taken` has a byte per row.
  window_filler(const two_ways& graph, std::vector<char>& taken)
      : rows_(graph.rows),
        holders_(*graph.holders),
        ranks_(graph.ranks.data<index>()),
        taken_(taken),
        columns_(graph.rows.columns()) {}

  /// Writes the order of the rows first … last − 1 to `out`.
  void fill(index first, index last, index* out) {
    for (index left = last - first; left > 0;) {
      while (is_taken(first)) ++first;
      open(first, std::min(last - 1 - first, reach));
      const index size = std::min(left, window_rows);
      for (index k = 0; k < size; ++k) {
        out[k] = k == 0 ? first : choose();
        add(out[k], k + 1 < size);
      }
      for (index k = 0; k < size; ++k) columns_.clear_row(rows_, out[k]);
      out += size;
      left -= size;
    }
  }

 private:
  bool is_taken(index row) const { return taken_[static_cast<std::size_t>(row)] != 0; }
  static std::size_t at(index k) { return static_cast<std::size_t>(k); }

  void open(index first, index count) {
    first_ = first;
    count_ = count;
    entries_ = distinct_ = 0;
    for (index k = 0; k <= count; ++k) {
      const index row = first + k;
      common_[at(k)] = 0;
      // No comparison holds for NaN, so rows that are taken are never chosen.
      lengths_[at(k)] = is_taken(row)
                            ? std::numeric_limits<double>::quiet_NaN()
                            : static_cast<double>(rows_.offset(row + 1) - rows_.offset(row));
    }
  }

  /// The row that gives the window the most entries per column: the first such row. Exact, because
  /// quotients of integers below 2^26 differ in double if they differ.
  index choose() {
    std::array<double, reach + 1> density{};
    for (index k = 1; k <= count_; ++k)
      density[at(k)] =
          (entries_ + lengths_[at(k)]) / (distinct_ + lengths_[at(k)] - common_[at(k)]);
    index best = 0;
    double greatest = 0;
    for (index k = 1; k <= count_; ++k)
      if (density[at(k)] > greatest) {
        greatest = density[at(k)];
        best = k;
      }
    if (best > 0) return first_ + best;
    count_ = 0;  // nothing is left in reach, or the window has no entries
    index next = first_ + 1;
    while (is_taken(next)) ++next;
    return next;
  }

  /// Adds a row; with `more` to come, counts what the candidates share with its new columns. Each
  /// entry of a candidate is counted once per window at most, which bounds the work.
  void add(index row, bool more) {
    taken_[at(row)] = 1;
    const bool counts = more && count_ > 0;
    const int64 begin = rows_.offset(row), end = rows_.offset(row + 1);
    entries_ += static_cast<double>(end - begin);
    if (row - first_ <= count_)
      lengths_[at(row - first_)] = std::numeric_limits<double>::quiet_NaN();
    for (int64 p = begin; p < end; ++p) {
      if (counts && p + ahead < end) __builtin_prefetch(holder(p + ahead));
      const index column = rows_.column_indices()[p];
      if (!columns_.insert(column)) continue;
      ++distinct_;
      if (counts) count_holders(column, holder(p));
    }
  }

  /// Where the list of an entry's column has the entry's row.
  const index* holder(int64 p) const {
    return holders_.column_indices() + holders_.offset(rows_.column_indices()[p]) + ranks_[p];
  }

  /// Counts a new column for its holders among the candidates, which lie around `holder`.
  void count_holders(index column, const index* holder) {
    const index* const begin = holders_.column_indices() + holders_.offset(column);
    const index* const end = holders_.column_indices() + holders_.offset(column + 1);
    const index last = first_ + count_;
    for (const index* row = holder; row != begin && *--row > first_;)
      if (*row <= last) ++common_[at(*row - first_)];
    for (const index* row = holder + 1; row < end && *row <= last; ++row)
      ++common_[at(*row - first_)];
  }

  const pattern &rows_, &holders_;
  const index* ranks_;
  std::vector<char>& taken_;
  column_set columns_;
  index first_ = 0, count_ = 0;  // the window's first row, and the candidates after it
  double entries_ = 0, distinct_ = 0;
  std::array<double, reach + 1> lengths_{};
  std::array<int32, reach + 1> common_{};  // columns that a candidate shares with the window
};

}  // namespace

std::vector<index> loa_order(const matrix<bool>& a) {
  const index n = a.rows();
  const pattern& given = a.structure();
  const std::vector<index> sorted = sorted_by(n, n, [&](index i) {
    return given.offset(i) < given.offset(i + 1) ? given.column_indices()[given.offset(i)] : n;
  });
  const matrix<bool> rows = extract(a, sorted, all);
  const two_ways graph(rows);

  const index chunks = n / chunk_rows + (n % chunk_rows != 0 ? 1 : 0);
  constexpr double multiply_adds = 32;  // one entry takes about this many multiply-adds
  const int threads = std::min(
      on_cpu::threads_for(multiply_adds * static_cast<double>(a.nnz() + n)), std::max(chunks, 1));
  std::vector<char> taken(static_cast<std::size_t>(n), 0);
  std::vector<index> order(static_cast<std::size_t>(n));
  // Allocated here, because an exception must not leave a parallel region.
  std::vector<window_filler> fillers(static_cast<std::size_t>(threads),
                                     window_filler(graph, taken));
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (index chunk = 0; chunk < chunks; ++chunk) {
    const index first = chunk * chunk_rows, last = first + std::min(chunk_rows, n - first);
    index* const out = order.data() + first;
    fillers[static_cast<std::size_t>(omp_get_thread_num())].fill(first, last, out);
    for (index k = 0; k < last - first; ++k) out[k] = sorted[static_cast<std::size_t>(out[k])];
  }
  return order;
}

}  // namespace rig
