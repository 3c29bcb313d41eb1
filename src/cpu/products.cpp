// The parts of the CPU kernels with sparse results that do not depend on a semiring.

#include <algorithm>
#include <numeric>

#include "cpu/measured.hpp"
#include "rig/kernels/cpu/closure.hpp"
#include "rig/kernels/cpu/multiply.hpp"
#include "rig/kernels/cpu/row.hpp"
#include "storage/backend.hpp"

namespace rig::on_cpu {

std::optional<double> count_products(const problem& p) {
  if (!has_rows(p)) return {};
  const oriented rows = right_by_rows(p);
  const int threads = threads_for(static_cast<double>(p.a.nnz), p.desc->threads);
  int64 products = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : products)
  for (int64 e = 0; e < p.a.nnz; ++e)
    products += rows.sparse.offset(p.a.entries[e] + 1) - rows.sparse.offset(p.a.entries[e]);
  return static_cast<double>(products);
}

[[gnu::always_inline]] inline index* column_set::drain_leaf(std::size_t at, index* to) {
  std::uint64_t bits = leaves_[at];
  leaves_[at] = 0;
  for (; bits != 0; bits &= bits - 1)
    *to++ = static_cast<index>(at * 64 + static_cast<std::size_t>(__builtin_ctzll(bits)));
  return to;
}
index* column_set::drain(std::size_t level, std::size_t at, index* to) {
  std::uint64_t bits = levels_[level][at];
  levels_[level][at] = 0;
  for (; bits != 0; bits &= bits - 1) {
    const std::size_t below = at * 64 + static_cast<std::size_t>(__builtin_ctzll(bits));
    to = level == 1 ? drain_leaf(below, to) : drain(level - 1, below, to);
  }
  return to;
}
index* column_set::drain(index* to) {
  return levels_.size() == 1 ? drain_leaf(0, to) : drain(levels_.size() - 1, 0, to);
}
index* column_set::drain_all(index columns, index* to) {
  const std::size_t words = static_cast<std::size_t>(columns) / 64 + 1;
  for (std::size_t at = 0; at < words; ++at) to = drain_leaf(at, to);
  return to;
}

void row_mask_flags::set_flags_of_dense() {
  const int64 first = first_of_row();
  for (index column = 0; column < columns_; column += 64) flags_.clear(column);
  for (index column = 0; column < columns_; ++column)
    if (mask_.structural || is_true(mask_, first + column)) flags_.set(column);
}

#define RIG_SHARED(T)                                                                  \
  template sparse_result assemble<T>(const problem&, index, index, std::vector<int64>, \
                                     std::vector<result_piece<T>>&);                   \
  template void read_line<T>(const dense_operand&, int64, int64, index, T*);
RIG_EACH_ALGEBRA(RIG_SHARED)
#undef RIG_SHARED

result_rows make_rows(const problem& p, std::vector<int64>& lengths) {
  int64 nnz = 0;
  for (int64& length : lengths) nnz += std::exchange(length, nnz);
  lengths.push_back(nnz);
  const auto count = static_cast<std::size_t>(nnz);
  result_rows out;
  out.offsets = pack_offsets(lengths, out.offsets_64);
  out.columns = buffer::allocate(count * sizeof(index));
  out.values = buffer::allocate(count * p.c.value_bytes);
  return out;
}

std::vector<index> cut_rows(const std::vector<int64>& work, int pieces) {
  const auto rows = static_cast<index>(work.size());
  const auto total = static_cast<double>(std::accumulate(work.begin(), work.end(), int64{0}));
  std::vector<index> out{0};
  int64 so_far = 0;
  double next = total / pieces;  // the work before the next piece
  for (index i = 0; i < rows && static_cast<int>(out.size()) < pieces; ++i) {
    so_far += work[static_cast<std::size_t>(i)];
    if (static_cast<double>(so_far) < next) continue;
    out.push_back(i + 1);
    next = total / pieces * static_cast<double>(out.size());
  }
  if (out.back() != rows || out.size() == 1) out.push_back(rows);
  return out;
}

std::vector<int64> products_of_rows(const problem& p, const sparse_operand& b) {
  const sparse_operand& a = p.a;
  std::vector<int64> work(static_cast<std::size_t>(a.rows));
  const int threads = threads_for(static_cast<double>(a.nnz), p.desc->threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1024)
  for (index i = 0; i < a.rows; ++i) {
    int64 sum = 0;
    for (int64 e = a.offset(i); e < a.offset(i + 1); ++e)
      sum += 1 + b.offset(a.entries[e] + 1) - b.offset(a.entries[e]);
    work[static_cast<std::size_t>(i)] = sum;
  }
  return work;
}

std::vector<index> cut_columns(const problem& p, int parts) {
  std::vector<index> out(static_cast<std::size_t>(parts) + 1);
  // Low columns of many graphs have most entries; only a transpose counts them.
  const bool is_counted = parts > 1 && has_columns(p);
  const oriented b = is_counted ? right_by_columns(p) : oriented{p.right.sparse, nullptr};
  for (int k = 0; k <= parts; ++k)
    out[static_cast<std::size_t>(k)] =
        is_counted ? first_row_of(b.sparse, k, parts)
                   : static_cast<index>(int64{p.right.columns()} * k / parts);
  return out;
}

using measured::step_seconds;

void say_bytes_of_product(const problem& p, const sparse_operand& b, const std::vector<index>& rows,
                          int threads) {
  struct row_places {
    row_mask_flags mask;
    column_set columns;
    column_elements<index> found;

    void start() {
      mask.start();
      columns.start();
    }
  };
  std::vector<int64> counts(rows.size() - 1, 0);
  in_pieces(
      static_cast<int>(counts.size()), threads,
      [&] {
        return row_places{row_mask_flags(p.mask, b.columns), column_set(b.columns),
                          column_elements<index>(b.columns)};
      },
      [&](row_places& of, int piece) {
        for (index i = rows[piece]; i < rows[piece + 1]; ++i) {
          of.mask.begin(i);
          of.mask.with_test([&](auto allows) {
            for (int64 e = p.a.offset(i); e < p.a.offset(i + 1); ++e)
              for (int64 q = b.offset(p.a.entries[e]); q < b.offset(p.a.entries[e] + 1); ++q)
                if (allows(b.entries[q])) of.columns.insert(b.entries[q]);
          });
          of.mask.end();
          counts[static_cast<std::size_t>(piece)] += of.columns.drain(&of.found[0]) - &of.found[0];
        }
      });
  int64 nnz = 0;
  for (const int64 count : counts) nnz += count;
  const std::size_t bytes = static_cast<std::size_t>(nnz) * (sizeof(index) + p.c.value_bytes);
  constexpr const char* remedy =
      " bytes on cpu, and up to three times as many while they are made; give a mask, or multiply "
      "some rows at a time";
  fail(errc::out_of_memory,
       {"out of memory: the product has ", nnz, " entries, which need ", bytes, remedy});
}

answer gustavson_answer(const problem& p) {
  return by_rows_answer(
      p, {verdict::can, "", step_seconds * (p.products + static_cast<double>(p.a.nnz))});
}

namespace {

/// The entries of B's columns that `dot` reads, if length(j) is the length of column j.
template <class Length>
double entries_of_columns(const problem& p, Length length) {
  const sparse_operand& m = p.mask.sparse;
  const int threads = threads_for(static_cast<double>(m.nnz), p.desc->threads);
  int64 sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
  for (int64 e = 0; e < m.nnz; ++e) sum += length(m.entries[e]);
  return static_cast<double>(sum);
}
double entries_of_columns(const problem& p) {
  const oriented b = right_by_columns(p);
  return entries_of_columns(p,
                            [&](index j) { return b.sparse.offset(j + 1) - b.sparse.offset(j); });
}

/// `dot` of two matrices where B's columns are not there. It can serve if the products by rows
/// would pay several times for the transpose, which it then builds.
answer unprepared_dot(const problem& p, double step) {
  const double entries = static_cast<double>(p.mask.sparse.nnz),
               nnz = static_cast<double>(p.right.sparse.nnz), columns = p.right.columns(),
               build = step_seconds * measured::transpose_steps * (nnz + columns + p.right.rows());
  const auto cost = [&](double read) { return build + step * (entries + read); };
  const auto pays = [&](double seconds) {
    return measured::transpose_margin * seconds < step_seconds * p.products;
  };
  // Counting the columns' lengths pays only if the mean length promises enough.
  double seconds = cost(nnz / std::max(1.0, columns) * entries);
  if (pays(seconds)) {
    std::vector<int64> lengths(static_cast<std::size_t>(p.right.columns()), 0);
    for (int64 e = 0; e < p.right.sparse.nnz; ++e)
      ++lengths[static_cast<std::size_t>(p.right.sparse.entries[e])];
    seconds =
        cost(entries_of_columns(p, [&](index j) { return lengths[static_cast<std::size_t>(j)]; }));
  }
  const answer out{verdict::can, "", seconds};
  return pays(seconds) ? out : by_columns_answer(p, out);
}

/// The places of a dense mask, and the entries of B's columns at those that it allows.
double steps_under_dense(const problem& p) {
  const dense_operand& m = p.mask.full;
  const double places = static_cast<double>(m.rows) * m.columns;
  // Products by rows cost less than the places alone, or the columns are not there.
  if (!has_columns(p) || places > p.products)
    return places + p.products + static_cast<double>(p.a.nnz);
  const oriented b = right_by_columns(p);
  const int threads = threads_for(places, p.desc->threads);
  constexpr index grain = 4096;  // columns of a row; a mask of one row has parts too
  const index parts = (m.columns + grain - 1) / grain;
  const int64 all = int64{m.rows} * parts;
  const int pieces = threads == 1 ? 1 : 16 * threads;
  std::vector<int64> sums(static_cast<std::size_t>(pieces), 0);
  in_pieces(
      pieces, threads, [&] { return row_mask_flags(p.mask, m.columns); },
      [&](row_mask_flags& mask, int piece) {
        int64 sum = 0;
        for (int64 part = all * piece / pieces; part < all * (piece + 1) / pieces; ++part) {
          const auto first = static_cast<index>(part % parts * grain);
          const index end = first + std::min(grain, m.columns - first);
          mask.begin(static_cast<index>(part / parts));
          mask.with_test([&](auto allows) {
            for (index j = first; j < end; ++j)
              if (allows(j)) sum += b.sparse.offset(j + 1) - b.sparse.offset(j);
          });
        }
        sums[static_cast<std::size_t>(piece)] = sum;
      });
  return std::accumulate(sums.begin(), sums.end(), places);
}

/// Each row under a dense mask has pieces of its own.
constexpr index most_dense_rows = 4096;

}  // namespace

answer dot_answer(const problem& p) {
  if (p.mask.over == mask_operand::kind::dense && operands_of(p) == operands::sparse) {
    if (p.mask.full.rows > most_dense_rows)
      return refusal(p, "under a dense mask it forms few rows, each in parts: at most 4096");
    return by_columns_answer(p, {verdict::can, "", step_seconds * steps_under_dense(p)});
  }
  if (p.mask.over != mask_operand::kind::matrix || p.mask.complemented)
    return refusal(p, "needs a mask that is a matrix, not its complement, or a dense");
  const double entries = static_cast<double>(p.mask.sparse.nnz);
  if (operands_of(p) == operands::dense_pair) return {verdict::can, "", step_seconds * entries};
  // A step that only tests for an entry is cheaper than one that looks up its value.
  const bool reads_values = !p.algebra->ignores_left || !p.algebra->ignores_right;
  const double step =
      (reads_values ? measured::dot_steps : measured::dot_steps_without_values) * step_seconds;
  if (!has_columns(p)) return unprepared_dot(p, step);
  return {verdict::can, "", step * (entries + entries_of_columns(p))};
}

answer push_answer(const problem& p) {
  if (const char* const why = no_finish_because(p)) return refusal(p, why);
  return gustavson_answer(p);
}

double steps_of_pull(const problem& p, const sparse_operand& b, double share_read) {
  if (!allows_few(p.mask))
    return (static_cast<double>(b.rows) + share_read * static_cast<double>(b.nnz)) * p.a.rows;
  const sparse_operand& m = p.mask.sparse;
  int64 read = 0;
  for (int64 e = 0; e < m.nnz; ++e) read += b.offset(m.entries[e] + 1) - b.offset(m.entries[e]);
  return static_cast<double>(m.nnz) + share_read * static_cast<double>(read);
}

answer pull_answer(const problem& p) {
  // The values of a transpose lie at places of the matrix that a permutation scatters.
  const bool is_scattered =
      !p.algebra->ignores_right && p.right.sparse.values != nullptr && !p.right.is_transposed;
  const double read = p.algebra->ends_early ? measured::pull_share_read
                      : is_scattered        ? measured::pull_scattered
                                            : 1;
  const double steps = has_columns(p)
                           ? steps_of_pull(p, right_by_columns(p).sparse, read)
                           : p.right.columns() + read * static_cast<double>(p.right.sparse.nnz);
  return by_columns_answer(p, {verdict::can, "", measured::pull_steps * step_seconds * steps});
}

answer closure_answer(const problem& p) {
  return {verdict::can, "",
          measured::step_seconds * static_cast<double>(p.a.nnz + p.a.rows) * p.c.columns};
}

void closure_run(const problem& p, workspace&) { p.closure->run_cpu(p); }

}  // namespace rig::on_cpu
