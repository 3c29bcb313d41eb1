#pragma once

// dot: each entry of the mask is the product of a row of A and a column of B.
// pull: the same for a sparse vector and every column that the mask allows; dot under a dense mask.
//
// Wins if the mask has few entries beside the products of A and B, or if sums end early. Reads the
// transpose of B. Cost: a step per entry of B's columns that are read; no memory but the result.

#include <algorithm>

#include "rig/kernels/cpu/sparse_rows.hpp"

namespace rig::on_cpu {

/// One row of A, spread over its columns.
template <class S>
class spread_row {
 public:
  spread_row(const problem& p)
      : a_(p.a),
        flips_(p.flips_positions),
        left_(p.a, is_ignoring_left<S>),
        present_(p.a.columns),
        spread_(is_ignoring_left<S> ? 0 : p.a.columns) {}

  void start() { present_.start(); }
  /// Spreads row i, in place of the last one.
  void begin(index i) {
    for (int64 e = begin_; e < end_; ++e) present_.clear(a_.entries[e]);
    row_ = i;
    begin_ = a_.offset(i);
    end_ = a_.offset(i + 1);
    if constexpr (is_ignoring_left<S>) {
      for (int64 e = begin_; e < end_; ++e) present_.set(a_.entries[e]);
      return;
    }
    for (int64 e = begin_, n; e < end_; e += n) {
      n = left_.at_once(end_ - e);
      const typename S::left* const a = left_.read(e, n);
      for (int64 k = 0; k < n; ++k) {
        const index inner = a_.entries[e + k];
        present_.set(inner);
        if constexpr (!is_ignoring_left<S>) spread_[inner] = a[k];
      }
    }
  }
  bool is_empty() const { return begin_ == end_; }

  /// Returns whether the row and column j of B, entries [from, to), have products; `sum` is theirs.
  bool dot(const sparse_operand& b, entry_values<typename S::right>& right, index j, int64 from,
           int64 to, typename S::accum& sum) {
    // Looks up the shorter one in the longer one if that takes fewer steps.
    if (to - from > 32 * (end_ - begin_)) return look_up(b, right, j, from, to, sum);
    bool has_products = false;
    if constexpr (is_ignoring_right<S>) {
      for (int64 q = from; q < to; ++q)
        if (present_.contains(b.entries[q]) && add(j, b.entries[q], {}, has_products, sum))
          return true;
      return has_products;
    }
    for (int64 q = from, n; q < to; q += n) {
      n = right.at_once(to - q);
      const typename S::right* const values = right.read(q, n);
      for (int64 k = 0; k < n; ++k) {
        const index inner = b.entries[q + k];
        if (!present_.contains(inner)) continue;
        if (add(j, inner, values[k], has_products, sum)) return true;
      }
    }
    return has_products;
  }
  int64 nnz() const { return end_ - begin_; }
  /// Whether C is a column, whose rows are those that `dot` reads as columns.
  bool is_flipped() const { return flips_; }

 private:
  /// Adds a product to `sum`; returns whether the sum cannot change any more.
  bool add(index j, index inner, const typename S::right& b, bool& has_products,
           typename S::accum& sum) {
    typename S::left a{};
    if constexpr (!is_ignoring_left<S>) a = spread_[inner];
    const typename S::accum x = product<S>(a, b, {flips_ ? j : row_, inner});
    sum = has_products ? S::add(sum, x) : x;
    has_products = true;
    if constexpr (is_keeping_first<S>)
      return true;
    else if constexpr (has_terminal<S>)
      return sum == S::terminal();
    else
      return false;
  }
  bool look_up(const sparse_operand& b, entry_values<typename S::right>& right, index j, int64 from,
               int64 to, typename S::accum& sum) {
    bool has_products = false;
    const index* next = b.entries + from;
    const index* const end = b.entries + to;
    for (int64 e = begin_; e < end_; ++e) {
      const index inner = a_.entries[e];
      next = std::lower_bound(next, end, inner);
      if (next == end) break;
      if (*next == inner && add(j, inner, *right.read(next - b.entries, 1), has_products, sum))
        break;
    }
    return has_products;
  }

  const sparse_operand& a_;
  const bool flips_;
  entry_values<typename S::left> left_;
  column_flags present_;
  column_elements<typename S::left> spread_;
  index row_ = 0;
  int64 begin_ = 0, end_ = 0;
};

/// Elements of a dense as values of type T: row i, or column j if `of` is read by columns.
template <class T>
void read_line(const dense_operand& of, int64 first, int64 step, index count, T* to) {
  const element_source from = source_of(of);
  constexpr int most = elements_at_once<T>;
  int64 at[std::size_t(most)];
  for (index k = 0; k < count; k += most) {
    const int here = count - k < most ? count - k : most;
    for (int t = 0; t < here; ++t) at[t] = first + (k + t) * step;
    gather(from, {at}, here, to + k);
  }
}

#define RIG_SHARED(T) \
  extern template void read_line<T>(const dense_operand&, int64, int64, index, T*);
RIG_EACH_ALGEBRA(RIG_SHARED)
#undef RIG_SHARED

/// A row of a dense A and a column of a dense B, in S's types.
template <class S>
class dense_lines {
 public:
  using accum = typename S::accum;

  explicit dense_lines(const problem& p)
      : p_(p),
        inner_(p.desc->transpose_a ? p.left_full.rows : p.left_full.columns),
        left_(is_ignoring_left<S> ? 0 : inner_),
        right_(is_ignoring_right<S> ? 0 : inner_) {}

  void begin(index i) {
    row_ = i;
    const dense_operand& a = p_.left_full;
    if constexpr (!is_ignoring_left<S>)
      read_line(a, p_.desc->transpose_a ? i : i * a.stride, p_.desc->transpose_a ? a.stride : 1,
                inner_, &left_[0]);
  }
  bool is_empty() const { return inner_ == 0; }
  void prefetch(const index*, int64) const {}  // the machine foresees a long line
  index inner() const { return inner_; }

  /// The sum of all products, in `lanes` partial sums that are added in order.
  accum dot(index j) {
    const dense_operand& b = p_.b;
    const typename S::right* column = &right_[0];
    const bool is_packed = p_.desc->transpose_b || b.stride == 1;
    const int64 first = p_.desc->transpose_b ? j * b.stride : j;
    if constexpr (!is_ignoring_right<S>) {
      if (is_packed && b.value_type == type_of<typename S::right>)
        column = static_cast<const typename S::right*>(b.data) + first;
      else
        read_line(b, first, is_packed ? 1 : b.stride, inner_, &right_[0]);
    }
    constexpr index lanes = 8;
    accum sums[lanes]{};
    const index whole = inner_ < lanes ? inner_ : lanes;
    const auto at = [&](index k) {
      typename S::left x{};
      typename S::right y{};
      if constexpr (!is_ignoring_left<S>) x = left_[k];
      if constexpr (!is_ignoring_right<S>) y = column[k];
      return product<S>(x, y, {row_, k});
    };
    for (index k = 0; k < whole; ++k) sums[k] = at(k);
    index k = lanes;
    for (; k + lanes <= inner_; k += lanes)
      for (index lane = 0; lane < lanes; ++lane) sums[lane] = S::add(sums[lane], at(k + lane));
    for (; k < inner_; ++k) sums[k % lanes] = S::add(sums[k % lanes], at(k));
    accum sum = sums[0];
    for (index lane = 1; lane < whole; ++lane) sum = S::add(sum, sums[lane]);
    return sum;
  }

 private:
  const problem& p_;
  const index inner_;
  column_elements<typename S::left> left_;
  column_elements<typename S::right> right_;
  index row_ = 0;
};

/// The first rows of pieces with equal numbers of the mask's entries, and the end. Their work is
/// not equal, so there are many.
inline std::vector<index> cut_mask(const sparse_operand& m, int threads) {
  const int pieces = threads == 1 ? 1 : 64 * threads;
  std::vector<index> out;
  for (int k = 0; k <= pieces; ++k) out.push_back(first_row_of(m, k, pieces));
  return out;
}

/// Writes each entry of the mask for which make(line, j, sum, n) is true; n is finish's.
template <class S, class Make, class Form>
sparse_result dot_under_mask(const problem& p, double steps, Make make, Form form) {
  const sparse_operand& m = p.mask.sparse;
  const int threads = threads_for(steps, p.desc->threads);
  const std::vector<index> rows = cut_mask(m, threads);
  std::vector<result_piece<output<S>>> pieces(rows.size() - 1);
  for (std::size_t k = 0; k < pieces.size(); ++k)
    pieces[k].grow(m.offset(rows[k + 1]) - m.offset(rows[k]));
  std::vector<int64> lengths(static_cast<std::size_t>(m.rows), 0);
  in_pieces(static_cast<int>(pieces.size()), threads, make, [&](auto& line, int number) {
    const auto piece = static_cast<std::size_t>(number);
    result_piece<output<S>>& to = pieces[piece];
    for (index i = rows[piece]; i < rows[piece + 1]; ++i) {
      const int64 before = to.size();
      line.begin(i);
      for (int64 e = m.offset(i); e < m.offset(i + 1) && !line.is_empty(); ++e) {
        line.prefetch(m.entries + e, m.nnz - e);
        if (p.mask.structural || is_true(p.mask, e)) form(line, m.entries[e], to);
      }
      lengths[static_cast<std::size_t>(i)] = to.size() - before;
    }
  });
  return assemble(p, m.rows, m.columns, std::move(lengths), pieces);
}

/// What a thread of `dot` holds.
template <class S>
struct dot_state : spread_row<S> {
  const sparse_operand& b;  ///< by columns
  entry_values<typename S::right> right;
  dot_state(const problem& p, const sparse_operand& of)
      : spread_row<S>(p),
        b(of),
        right(of, is_ignoring_right<S>),
        are_far_(p.mask.over == mask_operand::kind::matrix && are_far(p.mask.sparse, of)) {}
  [[gnu::always_inline]] void prefetch(const index* columns, int64 count) const {
    if (are_far_) prefetch_rows(b, columns, count);
  }
  [[gnu::always_inline]] void add_column(index j, result_piece<output<S>>& to) {
    const int64 begin = b.offset(j), end = b.offset(j + 1);
    typename S::accum sum{};
    if (this->dot(b, right, j, begin, end, sum))
      to.add(j, finished<S>(sum, this->is_flipped() ? end - begin : this->nnz()));
  }

 private:
  const bool are_far_;
};

/// Whether a mask lists the columns that it allows.
inline bool lists_columns(const mask_operand& mask) {
  return mask.over == mask_operand::kind::matrix && !mask.complemented;
}

/// What a thread of `pull` holds: a row of A, spread, and of a mask that lists no columns.
template <class S>
struct pull_state : dot_state<S> {
  row_mask_flags mask;
  index row = -1;
  pull_state(const problem& p, const sparse_operand& of)
      : dot_state<S>(p, of), mask(p.mask, lists_columns(p.mask) ? 0 : of.rows), p_(p) {}

  void start() {
    dot_state<S>::start();
    mask.start();
  }
  /// Adds columns [j, end) of row i to `to`; returns the first for which it has no room.
  index add_columns(index i, index j, index end, result_piece<output<S>>& to) {
    begin_row(i);
    if (this->is_empty()) return end;
    if (lists_columns(p_.mask)) return add_listed(j, end, to);
    // The allowed columns are listed first: a branch for each is seldom foreseen.
    constexpr index at_once = 1024;
    index allowed[at_once];
    for (index stop; j < end; j = stop) {
      stop = j + std::min(at_once, end - j);
      const index* const last = mask.list(j, stop, allowed);
      for (const index* at = allowed; at < last; ++at) {
        // A pull often ends in the first cache line of a column.
        if (last - at > rows_ahead) prefetch_column(at[rows_ahead]);
        if (to.room() == 0) return *at;
        this->add_column(*at, to);
      }
    }
    return end;
  }

 private:
  void prefetch_column(index j) const { __builtin_prefetch(this->b.entries + this->b.offset(j)); }
  void begin_row(index i) {
    if (i == row) return;
    if (row >= 0 && !lists_columns(p_.mask)) mask.end();
    row = i;
    this->begin(i);
    if (!lists_columns(p_.mask)) mask.begin(i);
  }
  /// The columns that the mask lists.
  index add_listed(index j, index end, result_piece<output<S>>& to) {
    const sparse_operand& m = p_.mask.sparse;
    const index* const columns = m.entries;
    const int64 last = m.offset(row + 1);
    int64 e = std::lower_bound(columns + m.offset(row), columns + last, j) - columns;
    for (; e < last && columns[e] < end; ++e) {
      if (last - e > rows_ahead) prefetch_column(columns[e + rows_ahead]);
      if (!p_.mask.structural && !is_true(p_.mask, e)) continue;
      if (to.room() == 0) return columns[e];
      this->add_column(columns[e], to);
    }
    return end;
  }

  const problem& p_;
};

/// The columns that the mask allows or that are tested, and the entries of B's columns; only those
/// under a mask of few entries.
double steps_of_pull(const problem& p, const sparse_operand& b, double share_read = 1);

template <class S>
sparse_result pull(const problem& p) {
  const oriented b = right_by_columns(p);
  const index columns = b.sparse.rows;
  const index rows = p.a.rows;
  const int threads = threads_for(steps_of_pull(p, b.sparse), p.desc->threads);
  const int parts = threads == 1 ? 1 : std::max(1, 16 * threads / std::max(1, rows));  // of a row
  std::vector<result_piece<output<S>>> pieces(static_cast<std::size_t>(rows) *
                                              static_cast<std::size_t>(parts));
  const auto row_of = [&](std::size_t k) { return static_cast<index>(k) / parts; };
  const auto end_of = [&](std::size_t k) {
    return first_row_of(b.sparse, static_cast<int>(k) % parts + 1, parts);
  };
  std::vector<index> next(pieces.size());
  for (std::size_t k = 0; k < next.size(); ++k)
    next[k] = first_row_of(b.sparse, static_cast<int>(k) % parts, parts);
  fill_pieces(
      pieces, threads, [&] { return pull_state<S>(p, b.sparse); },
      [&](std::size_t k) {
        const int64 usual = std::max(entries_at_first, pieces[k].size());
        return std::min(usual, allowed_of_row(p.mask, row_of(k), end_of(k) - next[k]));
      },
      [&](pull_state<S>& line, std::size_t k) {
        next[k] = line.add_columns(row_of(k), next[k], end_of(k), pieces[k]);
      });
  std::vector<int64> lengths(static_cast<std::size_t>(rows), 0);
  for (std::size_t k = 0; k < pieces.size(); ++k)
    lengths[k / static_cast<std::size_t>(parts)] += pieces[k].size();
  return assemble(p, rows, columns, std::move(lengths), pieces);
}

/// Dense operands under a structural mask: C has each of its entries, and shares its pattern. Its
/// values go to `p.c.data` if that is given.
template <class S>
sparse_result dot_in_pattern(const problem& p, double steps) {
  const sparse_operand& m = p.mask.sparse;
  const int threads = threads_for(steps, p.desc->threads);
  const std::vector<index> rows = cut_mask(m, threads);
  sparse_result out;
  out.structure = p.mask.structure;
  const std::size_t bytes = static_cast<std::size_t>(m.nnz) * p.c.value_bytes;
  out.values = p.c.data != nullptr ? buffer::borrow(p.c.data, bytes) : buffer::allocate(bytes);
  dense_operand values;
  values.data = out.values.data();
  values.value_type = p.c.value_type;
  const target to{values, accumulator::none, {}};
  in_pieces(
      static_cast<int>(rows.size()) - 1, threads, [&] { return dense_lines<S>(p); },
      [&](dense_lines<S>& line, int number) {
        const auto piece = static_cast<std::size_t>(number);
        output<S> some[widest_tile];
        for (index i = rows[piece]; i < rows[piece + 1]; ++i) {
          line.begin(i);
          const int64 end = m.offset(i + 1);
          for (int64 e = m.offset(i), count; e < end; e += count) {
            count = std::min<int64>(widest_tile, end - e);
            for (int64 k = 0; k < count; ++k)
              some[k] = finished<S>(line.dot(m.entries[e + k]), line.inner());
            write_tile(to, 0, e, {static_cast<int>(count)}, some, output<S>{});
          }
        }
      });
  return out;
}

template <class S>
sparse_result dot(const problem& p) {
  if (operands_of(p) == operands::dense_pair) {
    const index inner = p.desc->transpose_a ? p.left_full.rows : p.left_full.columns;
    const double steps = static_cast<double>(p.mask.sparse.nnz) * inner;
    if (inner > 0 && p.mask.structural) return dot_in_pattern<S>(p, steps);
    return dot_under_mask<S>(
        p, steps, [&] { return dense_lines<S>(p); },
        [](dense_lines<S>& line, index j, result_piece<output<S>>& to) {
          to.add(j, finished<S>(line.dot(j), line.inner()));
        });
  }
  if (p.mask.over == mask_operand::kind::dense) return pull<S>(p);
  const oriented b = right_by_columns(p);
  const double of_column = static_cast<double>(b.sparse.nnz) / std::max(1, b.sparse.rows);
  const double steps = static_cast<double>(p.mask.sparse.nnz) * (1 + of_column);
  return dot_under_mask<S>(
      p, steps, [&] { return dot_state<S>(p, b.sparse); },
      [&](dot_state<S>& line, index j, result_piece<output<S>>& to) { line.add_column(j, to); });
}

answer dot_answer(const problem& p);
answer pull_answer(const problem& p);

}  // namespace rig::on_cpu
