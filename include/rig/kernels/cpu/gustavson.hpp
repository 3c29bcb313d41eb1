#pragma once

// gustavson: row i of C is the sum of the rows of B that row i of A names, in a dense row.
// push: the same for a sparse vector, whose threads take parts of the columns.
//
// Wins unless the mask has few entries beside the products. Source: Gustavson, ACM TOMS 1978.
// Cost: a step per product; memory: a row of sums per thread, and the result twice.

#include <algorithm>

#include "rig/kernels/cpu/sparse_rows.hpp"

namespace rig::on_cpu {

/// One row of sums, and what a thread needs to form it.
template <class S>
class row_sums {
 public:
  using accum = typename S::accum;
  using result = output<S>;

  row_sums(const problem& p, const sparse_operand& b)
      : p_(p),
        b_(b),
        flips_(p.flips_positions),
        are_far_(are_far(p.a, b)),
        left_(p.a, is_ignoring_left<S>),
        right_(b, is_ignoring_right<S>),
        mask_(p.mask, b.columns),
        present_(b.columns),
        sums_(b.columns) {}

  void start() {
    mask_.start();
    present_.start();
  }
  /// Appends columns first … last of row i, which has so many products, to `to`, which has room for
  /// them; returns their number.
  int64 add_row(index i, double products, index first, index last, result_piece<result>& to) {
    const int64 begin = p_.a.offset(i), end = p_.a.offset(i + 1);
    if (begin == end) return 0;
    mask_.begin(i);
    // A row with many products is added without a test per product.
    const bool is_full = products > b_.columns && first == 0 && last == b_.columns;
    const index* formed;
    if (is_full) {
      std::fill_n(&sums_[0], b_.columns, S::zero());
      mask_.with_test_of_many([&](auto allows) { form<true>(i, begin, end, first, last, allows); });
      formed = present_.drain_all(b_.columns, to.next_columns());
    } else {
      mask_.with_test([&](auto allows) { form<false>(i, begin, end, first, last, allows); });
      formed = present_.drain(to.next_columns());
    }
    mask_.end();
    const int64 before = to.size();
    to.add_values(formed, [&](index column) { return finished<S>(sums_[column], end - begin); });
    return to.size() - before;
  }

 private:
  template <bool Full, class Allows>
  void form(index i, int64 begin, int64 end, index first, index last, Allows allows) {
    const bool is_part = first > 0 || last < b_.columns;
    for (int64 e = begin, n; e < end; e += n) {
      n = left_.at_once(end - e);
      const typename S::left* const a = left_.read(e, n);
      for (int64 k = 0; k < n; ++k) {
        const index inner = p_.a.entries[e + k];
        prefetch(e + k);
        int64 from = b_.offset(inner), to = b_.offset(inner + 1);
        if (is_part) {
          const index* const columns = b_.entries;
          from = std::lower_bound(columns + from, columns + to, first) - columns;
          to = std::lower_bound(columns + from, columns + to, last) - columns;
        }
        add_products<Full>(i, inner, a[k], from, to, allows);
      }
    }
  }
  /// Prefetches rows of B that are used after entry e of A.
  [[gnu::always_inline]] void prefetch(int64 e) const {
    if (!are_far_) return;
    const index* const rows = p_.a.entries + e;
    prefetch_rows(b_, rows, p_.a.nnz - e);
    // A sparse mask allows few products, and only these read a value.
    if (p_.mask.over != mask_operand::kind::matrix && p_.a.nnz - e > rows_ahead)
      right_.prefetch(b_.offset(rows[rows_ahead]), b_.nnz);
  }
  template <bool Full, class Allows>
  void add_products(index i, index inner, const typename S::left& a, int64 from, int64 to,
                    Allows allows) {
    for (int64 q = from, n; q < to; q += n) {
      n = right_.at_once(to - q);
      const typename S::right* const b = right_.read(q, n);
      const index* const columns = b_.entries + q;
      accum* const sums = &sums_[0];
      for (int64 k = 0; k < n; ++k) {
        const index j = columns[k];
        if (!allows(j)) continue;
        const accum x = product<S>(a, b[k], {flips_ ? j : i, inner});
        if constexpr (Full) {
          present_.insert_unmarked(j);
          sums[j] = S::add(sums[j], x);
        } else if (present_.insert(j)) {
          sums[j] = x;
        } else {
          sums[j] = S::add(sums[j], x);
        }
      }
    }
  }

  const problem& p_;
  const sparse_operand& b_;
  const bool flips_, are_far_;
  entry_values<typename S::left> left_;
  entry_values<typename S::right> right_;
  row_mask_flags mask_;
  column_set present_;
  column_elements<accum> sums_;
};

/// Throws the error of a thread whose row of sums finds no room.
[[noreturn, gnu::cold]] inline void say_bytes_of_sums(const problem& p, index columns,
                                                      std::size_t bytes_each, int threads) {
  fail(errc::out_of_memory,
       {p.name, ": out of memory: a row of sums for ", columns, " columns needs ",
        static_cast<std::size_t>(columns) * bytes_each, " bytes on cpu, in each of ", threads,
        " threads; ",
        threads > 1 ? "set fewer threads" : "multiply by some columns of B at a time"});
}

/// The sums of one thread. Sets `has_failed` if they find no room.
template <class S>
row_sums<S> sums_of_thread(const problem& p, const sparse_operand& b, int threads,
                           bool& has_failed) {
  try {
    return row_sums<S>(p, b);
  } catch (const error& failure) {
    if (failure.code() != errc::out_of_memory) throw;
    has_failed = true;
  }
  say_bytes_of_sums(p, b.columns, sizeof(typename S::accum), threads);
}

/// The number of products of each row of C, plus its entries of A.
std::vector<int64> products_of_rows(const problem& p, const sparse_operand& b);

/// Counts the entries of C, and throws an error with the bytes that they need.
[[noreturn]] void say_bytes_of_product(const problem& p, const sparse_operand& b,
                                       const std::vector<index>& rows, int threads);

template <class S>
sparse_result form_rows(const problem& p, const sparse_operand& b, const std::vector<int64>& work,
                        const std::vector<index>& rows, int threads, bool& lacks_sums) {
  std::vector<result_piece<output<S>>> pieces(rows.size() - 1);
  std::vector<index> next(rows.begin(), rows.end() - 1);
  std::vector<int64> lengths(static_cast<std::size_t>(p.a.rows), 0);
  const auto most_of_row = [&](index i) {
    const int64 products = work[static_cast<std::size_t>(i)];
    return allowed_of_row(p.mask, i, std::min<int64>(products, b.columns));
  };
  fill_pieces(
      pieces, threads, [&] { return sums_of_thread<S>(p, b, threads, lacks_sums); },
      [&](std::size_t k) {
        const int64 usual = std::max(entries_at_first, pieces[k].size());
        int64 entries = 0;
        for (index i = next[k]; i < rows[k + 1] && entries < usual; ++i) entries += most_of_row(i);
        return entries;
      },
      [&](row_sums<S>& row, std::size_t k) {
        index i = next[k];
        for (; i < rows[k + 1] && most_of_row(i) <= pieces[k].room(); ++i) {
          const auto at = static_cast<std::size_t>(i);
          lengths[at] = row.add_row(i, static_cast<double>(work[at]), 0, b.columns, pieces[k]);
        }
        next[k] = i;
      });
  return assemble(p, p.a.rows, b.columns, std::move(lengths), pieces);
}

template <class S>
sparse_result gustavson(const problem& p) {
  const oriented b = right_by_rows(p);
  const std::vector<int64> work = products_of_rows(p, b.sparse);
  const int threads = threads_for(p.products, p.desc->threads);
  const std::vector<index> rows = cut_rows(work, threads == 1 ? 1 : 16 * threads);
  bool lacks_sums = false;
  try {
    return form_rows<S>(p, b.sparse, work, rows, threads, lacks_sums);
  } catch (const error& failure) {
    if (failure.code() != errc::out_of_memory || lacks_sums) throw;
  }
  say_bytes_of_product(p, b.sparse, rows, threads);
}

/// The columns of B as parts of equal work, as far as it is known: part k begins at the k-th.
std::vector<index> cut_columns(const problem& p, int parts);

template <class S>
sparse_result push(const problem& p) {
  const oriented b = right_by_rows(p);
  const int threads = threads_for(p.products, p.desc->threads);
  // Each part searches its columns in every row, so rows of few entries are cut into few parts.
  const bool is_short = p.products < 32 * static_cast<double>(p.a.nnz);
  const int parts = threads == 1 || is_short ? threads : 4 * threads;
  const std::vector<index> columns = cut_columns(p, parts);
  std::vector<result_piece<output<S>>> pieces(static_cast<std::size_t>(parts));
  // Counted, because p.products is an estimate where B had no rows.
  const int64 most = allowed_of_row(p.mask, 0, products_of_rows(p, b.sparse).front());
  for (std::size_t k = 0; k < pieces.size(); ++k)
    pieces[k].grow(std::min<int64>(most, columns[k + 1] - columns[k]));
  bool lacks_sums = false;
  in_pieces(
      parts, threads, [&] { return sums_of_thread<S>(p, b.sparse, threads, lacks_sums); },
      [&](row_sums<S>& row, int piece) {
        const auto k = static_cast<std::size_t>(piece);
        row.add_row(0, p.products, columns[k], columns[k + 1], pieces[k]);
      });
  int64 length = 0;
  for (const auto& piece : pieces) length += piece.size();
  return assemble(p, 1, b.sparse.columns, {length}, pieces);
}

answer gustavson_answer(const problem& p);
answer push_answer(const problem& p);

}  // namespace rig::on_cpu
