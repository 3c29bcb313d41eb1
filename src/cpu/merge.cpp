// Two sorted sparse operands, walked together: each place goes to the result by a table of rules.
//
// The places are cut, in the order of rows and columns, into parts of equal work, so that one long
// row, or a vector, also gives work to every thread. Each part is walked twice: to count its
// entries, and to write them.

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "cpu/with_constant.hpp"
#include "rig/kernels/cpu/element.hpp"
#include "rig/kernels/cpu/threads.hpp"
#include "storage/backend.hpp"

namespace rig::on_cpu {
namespace {

/// A place that the walk has not reached yet: all before it, row by row, are done.
struct cut {
  index row;
  index column;
};

/// The entries of one row of an operand from a column on.
struct cursor {
  const sparse_operand* of = nullptr;
  int64 next = 0, end = 0;

  static constexpr index none = std::numeric_limits<index>::max();
  index column() const { return next < end ? of->entries[next] : none; }
};

cursor at(const sparse_operand* of, cut from) {
  if (of == nullptr || from.row >= of->rows) return {of, 0, 0};
  const int64 begin = of->offset(from.row), end = of->offset(from.row + 1);
  if (from.column == 0) return {of, begin, end};
  const index* const first = std::lower_bound(of->entries + begin, of->entries + end, from.column);
  return {of, first - of->entries, end};
}

/// Which columns of one row the mask allows; columns are given in ascending order.
class row_mask {
 public:
  row_mask(const mask_operand& mask, cut from)
      : mask_(mask.over != mask_operand::kind::absent ? &mask : nullptr), row_(from.row) {
    if (mask.over == mask_operand::kind::matrix) entries_ = at(&mask.sparse, from);
  }

  bool allows(index column) {
    if (mask_ == nullptr) return true;
    const bool is_structural = mask_->structural;
    if (mask_->over == mask_operand::kind::dense) {
      const int64 at = row_ * mask_->full.stride + column;
      if (mask_->full.value_type == type::boolean && !is_structural)
        return static_cast<const bool*>(mask_->full.data)[at] != mask_->complemented;
      return is_true(*mask_, at) != mask_->complemented;
    }
    while (entries_.column() < column) ++entries_.next;
    const bool has_entry = entries_.column() == column;
    return (has_entry && (is_structural || is_true(*mask_, entries_.next))) != mask_->complemented;
  }

 private:
  const mask_operand* mask_;
  index row_;
  cursor entries_;
};

/// Which columns of one row are in the region of a merge.
class row_region {
 public:
  row_region(const merge_step& m, index row)
      : has_row_(m.region_rows == nullptr || m.region_rows[row]), columns_(m.region_columns) {}
  bool holds(index column) const { return has_row_ && (columns_ == nullptr || columns_[column]); }

 private:
  bool has_row_;
  const bool* columns_;
};

/// Whether a place goes to the result only by `keep`: a selection without a mask.
bool is_plain_selection(const merge_step& m) {
  return m.keep != nullptr && m.y == nullptr && m.of.mask.over == mask_operand::kind::absent &&
         m.region_rows == nullptr && m.region_columns == nullptr;
}

/// What walk_row does for a plain selection.
template <class Visit>
void walk_selected(const merge_step& m, cut start, index limit, Visit visit) {
  const int64 first = at(m.x, start).next, last = limit == cursor::none
                                                      ? m.x->offset(start.row + 1)
                                                      : at(m.x, {start.row, limit}).next;
  const index* const columns = m.x->entries;
  const bool* const keep = m.keep;
  for (int64 p = first; p < last; ++p)
    if (keep[p]) visit(start.row, columns[p], p, int64{-1});
}

/// Walks one row from a place to the column `limit`; calls visit(row, column, p of X or −1, p of Y
/// or −1) for each place that goes to the result.
template <class Visit>
void walk_row(const merge_step& m, cut start, index limit, Visit visit) {
  if (is_plain_selection(m)) return walk_selected(m, start, limit, visit);
  cursor x = at(m.x, start), y = at(m.y, start);
  row_mask mask(m.of.mask, start);
  const row_region region(m, start.row);
  for (index column; (column = std::min(x.column(), y.column())) < limit;) {
    const bool in_x = x.column() == column, in_y = y.column() == column;
    const bool is_kept = m.keep == nullptr || !in_x || m.keep[x.next];
    const unsigned state =
        (in_x && is_kept) + 2u * in_y + 4u * mask.allows(column) + 8u * region.holds(column);
    const take here = m.rules[state];
    if (here != take::nothing)
      visit(start.row, column, here == take::y ? int64{-1} : x.next,
            here == take::x ? int64{-1} : y.next);
    x.next += in_x;
    y.next += in_y;
  }
}

/// Walks from one place to another, and calls end_row(row) after the last place of a row.
template <class Visit, class EndRow>
void walk(const merge_step& m, cut from, cut to, Visit visit, EndRow end_row) {
  for (index row = from.row; row < to.row; ++row) {
    walk_row(m, {row, row == from.row ? from.column : 0}, cursor::none, visit);
    end_row(row);
  }
  if (to.column > 0) walk_row(m, {to.row, to.row == from.row ? from.column : 0}, to.column, visit);
}

int64 entries_before(const sparse_operand* of, index row) {
  return of == nullptr ? 0 : of->offset(row) - of->offset(0);
}

/// The place before which `work` entries and rows of the operands lie.
cut cut_at(const merge_step& m, int64 work) {
  const auto before_row = [&](index row) {
    return row + entries_before(m.x, row) + entries_before(m.y, row);
  };
  const index row = first_where(0, m.x->rows, [&](index i) { return before_row(i + 1) > work; });
  if (row == m.x->rows) return {row, 0};
  const int64 rest = work - before_row(row);
  const auto before_column = [&](index column) {
    const cut place{row, column};
    int64 count = 0;
    for (const sparse_operand* of : {m.x, m.y})
      if (of != nullptr) count += at(of, place).next - of->offset(row);
    return count;
  };
  return {row, first_where(0, m.x->columns, [&](index j) { return before_column(j + 1) > rest; })};
}

/// The rows of entries first … first + count. `row` is that of the first, then of the last.
void rows_of(const sparse_operand& x, int64 first, int count, index& row, index* rows) {
  const int64 base = x.offset(0);
  for (int k = 0; k < count;) {
    const int64 end = std::min<int64>(count, x.offset(row + 1) - base - first);
    while (k < end) rows[k++] = row;
    row += k < count;
  }
}

/// Collects places of the result, and computes their values block by block.
class block_writer {
 public:
  block_writer(const merge_step& m, index* columns, unsigned char* values)
      : m_(m),
        x_of_(source_of(*m.x)),
        y_of_(m.y != nullptr ? source_of(*m.y) : element_source()),
        columns_(columns),
        values_(values) {}

  void add(index row, index column, int64 x, int64 y) {
    if (count_ == element_block::most) flush();
    x_[count_] = x;
    y_[count_] = y;
    rows_[count_] = row;
    columns_[count_++] = column;
  }
  void flush() {
    if (count_ == 0) return;
    if (m_.op != nullptr) {
      m_.op->run_cpu({&x_of_,
                      &y_of_,
                      {x_},
                      {y_},
                      m_.code,
                      m_.of.out_type,
                      m_.of.out_bytes,
                      values_,
                      count_,
                      rows_,
                      columns_,
                      m_.of.scalar});
      values_ += static_cast<std::size_t>(count_) * m_.of.out_bytes;
    }
    columns_ += count_;
    count_ = 0;
  }

 private:
  const merge_step& m_;
  const element_source x_of_, y_of_;
  index* columns_;
  unsigned char* values_;
  int count_ = 0;
  int64 x_[element_block::most], y_[element_block::most];
  index rows_[element_block::most];
};

/// The result's memory: offsets of either width, columns, values.
struct rows_made {
  buffer offsets, columns, values;
  bool offsets_64 = false;

  rows_made(index rows, int64 nnz, std::size_t value_bytes) : offsets_64(nnz > highest<int32>()) {
    const auto count = static_cast<std::size_t>(nnz);
    offsets = buffer::allocate((static_cast<std::size_t>(rows) + 1) *
                               (offsets_64 ? sizeof(int64) : sizeof(int32)));
    columns = buffer::allocate(count * sizeof(index));
    values = buffer::allocate(count * value_bytes);
    set(0, 0);
  }
  void set(index row, int64 offset) {
    if (offsets_64)
      offsets.data<int64>()[row] = offset;
    else
      offsets.data<int32>()[row] = static_cast<int32>(offset);
  }
};

sparse_result made_of(const merge_step& m, rows_made&& rows, int64 nnz) {
  sparse_result made;
  made.structure =
      std::make_shared<const pattern>(m.x->rows, m.x->columns, nnz, std::move(rows.offsets),
                                      rows.offsets_64, std::move(rows.columns));
  made.values = std::move(rows.values);
  return made;
}

/// Writes the columns of the kept entries first … last of X from place `to` to `end` of the result,
/// and where the rows end that end among them. The part `is_first` ends the rows before any entry.
void write_kept(const merge_step& m, bool is_first, int64 first, int64 last, int64 to, int64 end,
                rows_made& rows) {
  const sparse_operand& x = *m.x;
  index* const columns = rows.columns.data<index>();
  const bool* const keep = m.keep;
  int64 p = first;
  const auto write_to = [&](int64 stop) {
    // Stores an entry that is not kept too; the next one takes its place.
    for (; p < stop && to < end; ++p) {
      columns[to] = x.entries[p];
      to += keep[p];
    }
    p = stop;
  };
  index row =
      is_first ? 0 : first_where(0, x.rows, [&](index i) { return x.offset(i + 1) > first; });
  for (; row < x.rows && x.offset(row + 1) <= last; ++row) {
    write_to(x.offset(row + 1));
    rows.set(row + 1, to);
  }
  write_to(last);
}

/// Where part k of so many entries begins.
int64 part_of(int64 nnz, int k, int parts) { return nnz / parts * k + nnz % parts * k / parts; }

/// The kept entries of an X without values.
sparse_result kept_entries(const merge_step& m) {
  const int64 base = m.x->offset(0), nnz = m.x->nnz;
  const int threads = threads_for(static_cast<double>(nnz + m.x->rows), m.of.desc->threads);
  const int parts = threads == 1 ? 1 : 4 * threads;
  const auto start = [&](int k) { return base + part_of(nnz, k, parts); };
  std::vector<int64> before(static_cast<std::size_t>(parts) + 1, 0);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int k = 0; k < parts; ++k)
    before[k + 1] = std::count(m.keep + start(k), m.keep + start(k + 1), true);
  for (int k = 0; k < parts; ++k) before[k + 1] += before[k];
  rows_made out(m.x->rows, before.back(), 0);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int k = 0; k < parts; ++k)
    write_kept(m, k == 0, start(k), start(k + 1), before[k], before[k + 1], out);
  return made_of(m, std::move(out), before.back());
}

}  // namespace

sparse_result merge(const merge_step& m) {
  if (is_plain_selection(m) && m.op == nullptr) return kept_entries(m);
  const int64 work = m.x->rows + entries_before(m.x, m.x->rows) + entries_before(m.y, m.x->rows);
  const int threads = threads_for(static_cast<double>(work), m.of.desc->threads);
  const int parts = threads == 1 ? 1 : 4 * threads;
  std::vector<cut> cuts(static_cast<std::size_t>(parts) + 1, {0, 0});
  for (int k = 1; k < parts; ++k) cuts[k] = cut_at(m, work / parts * k);
  cuts.back() = {m.x->rows, 0};

  std::vector<int64> before(static_cast<std::size_t>(parts) + 1, 0);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int k = 0; k < parts; ++k) {
    int64 count = 0;
    walk(
        m, cuts[k], cuts[k + 1], [&](index, index, int64, int64) { ++count; }, [](index) {});
    before[k + 1] = count;
  }
  for (int k = 0; k < parts; ++k) before[k + 1] += before[k];

  const std::size_t value_bytes = m.op != nullptr ? m.of.out_bytes : 0;
  rows_made out(m.x->rows, before.back(), value_bytes);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int k = 0; k < parts; ++k) {
    int64 written = before[k];
    block_writer writer(
        m, out.columns.data<index>() + written,
        out.values.data<unsigned char>() + static_cast<std::size_t>(written) * value_bytes);
    walk(
        m, cuts[k], cuts[k + 1],
        [&](index row, index column, int64 x, int64 y) {
          writer.add(row, column, x, y);
          ++written;
        },
        [&](index row) { out.set(row + 1, written); });
    writer.flush();
  }
  return made_of(m, std::move(out), before.back());
}

namespace {

bool needs_rows(broadcast by) { return by == broadcast::rows || by == broadcast::places; }

/// Runs a map block by block.
class map_runner {
 public:
  explicit map_runner(const map_step& m)
      : m_(m),
        x_of_(source_of(*m.x)),
        reads_rows_(m.op->reads_positions || needs_rows(m.y_by) || needs_rows(m.into_by)),
        reads_met_(!yields_entry(m)) {}

  /// Entries from `first` on; results go to `out`, unless they go into a dense.
  void run(int64 first, int count, unsigned char* out) {
    columns_ = m_.x->entries + first;
    if (reads_rows_) read_rows(first, count);
    compute({nullptr, first}, positions_of_y(count), count, m_.into != nullptr ? made_ : out);
    if (m_.into != nullptr) place(count);
  }

 private:
  /// Whether results are the entries themselves, so that what they meet is not read.
  static bool yields_entry(const map_step& m) {
    return m.op == &builtin_binary(m.op->algebra) &&
           m.code == static_cast<unsigned char>(m.y_first ? binary::second : binary::first);
  }
  void read_rows(int64 first, int count) {
    const sparse_operand& x = *m_.x;
    // Blocks mostly follow each other.
    if (first != next_)
      row_ = first_where(0, x.rows - 1,
                         [&](index i) { return x.offset(i + 1) - x.offset(0) > first; });
    rows_of(x, first, count, row_, rows_);
    next_ = first + count;
  }
  int64 met(broadcast by, int k, int64 stride) const {
    return met_position(by, reads_rows_ ? rows_[k] : 0, columns_[k], stride);
  }
  element_positions positions_of_y(int count) {
    if (m_.op->kind == operator_kind::copy) return element_block::absent;
    if (m_.y_by == broadcast::absent || !reads_met_) return {};
    for (int k = 0; k < count; ++k) of_y_[k] = met(m_.y_by, k, m_.y_stride);
    return {of_y_};
  }
  void compute(element_positions x, element_positions y, int count, unsigned char* out) {
    const element_source *x_of = &x_of_, *y_of = reads_met_ ? &m_.y : &x_of_;
    if (!reads_met_) y = x;
    if (m_.y_first) {
      std::swap(x_of, y_of);
      std::swap(x, y);
    }
    m_.op->run_cpu({x_of, y_of, x, y, m_.code, m_.out_type, m_.out_bytes, out, count, rows_,
                    columns_, m_.of.scalar});
  }
  /// Writes results where their entries are met in the dense. What the loop reads is local, because
  /// a store of bytes may change any member.
  void place(int count) {
    auto* const to = static_cast<unsigned char*>(m_.into->data);
    const broadcast by = m_.into_by;
    const bool reads_rows = needs_rows(by);
    const int64 stride = m_.into->stride;
    const std::size_t bytes = m_.out_bytes;
    const index* const columns = columns_;
    for (int k = 0; k < count; ++k) {
      const int64 at = met_position(by, reads_rows ? rows_[k] : 0, columns[k], stride);
      copy_element(to + static_cast<std::size_t>(at) * bytes,
                   made_ + static_cast<std::size_t>(k) * bytes, bytes);
    }
  }

  const map_step& m_;
  const element_source x_of_;
  const bool reads_rows_, reads_met_;
  const index* columns_ = nullptr;
  int64 next_ = -1;  // the entry after those whose rows were read last, which ended in row_
  index row_ = 0;
  index rows_[element_block::most];
  int64 of_y_[element_block::most];
  alignas(16) unsigned char made_[element_block::most * 16];
};

/// Whether the operator is a selection that reads places alone.
bool selects_by_place(const map_step& m) {
  return m.op->kind == operator_kind::select && m.op == &builtin_selection(m.op->algebra) &&
         m.code < static_cast<unsigned char>(selection::equal);
}

/// What a selection by place keeps, row by row, so that no block collects rows and columns.
buffer flags_of_places(const map_step& m) {
  const sparse_operand& x = *m.x;
  buffer out = buffer::allocate(static_cast<std::size_t>(x.nnz));
  bool* const keep = out.data<bool>();
  int64 y = 0;
  std::memcpy(&y, m.of.scalar, sizeof(y));
  const int threads = threads_for(static_cast<double>(x.nnz), m.of.desc->threads);
  const int parts = threads == 1 ? 1 : 4 * threads;
  using enum selection;
  with_constant<lower, upper, diagonal, off_diagonal, row_at_most, row_above, column_at_most,
                column_above>(static_cast<selection>(m.code), [&](auto op) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int k = 0; k < parts; ++k) {
      const int64 end = part_of(x.nnz, k + 1, parts);
      int64 e = part_of(x.nnz, k, parts);
      index row = first_where(0, x.rows, [&](index i) { return x.offset(i + 1) > e; });
      for (; e < end; ++row)
        for (const int64 stop = std::min(end, x.offset(row + 1)); e < stop; ++e)
          keep[e] = is_selected(op(), row, x.entries[e], y);
    }
  });
  return out;
}

}  // namespace

buffer map(const map_step& m) {
  if (selects_by_place(m)) return flags_of_places(m);
  const int64 nnz = m.x->nnz, step = element_block::most;
  buffer out =
      m.into != nullptr ? buffer() : buffer::allocate(static_cast<std::size_t>(nnz) * m.out_bytes);
  const int threads = threads_for(static_cast<double>(nnz), m.of.desc->threads);
#pragma omp parallel num_threads(threads)
  {
    map_runner runner(m);
#pragma omp for schedule(static)
    for (int64 first = 0; first < nnz; first += step)
      runner.run(first, static_cast<int>(std::min(step, nnz - first)),
                 m.into != nullptr
                     ? nullptr
                     : out.data<unsigned char>() + static_cast<std::size_t>(first) * m.out_bytes);
  }
  return out;
}

}  // namespace rig::on_cpu
