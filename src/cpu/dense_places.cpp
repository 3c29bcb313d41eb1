// Elements of dense operands at other places.

#include <algorithm>

#include "cpu/index_targets.hpp"
#include "rig/kernels/cpu/element.hpp"
#include "rig/kernels/cpu/threads.hpp"
#include "storage/backend.hpp"

namespace rig::on_cpu {
namespace {

void* element_of(const dense_operand& of, index row, index column) {
  return static_cast<unsigned char*>(of.data) +
         static_cast<std::size_t>(row * of.stride + column) * of.value_bytes;
}

/// T(row, first …) = the elements of X at these positions, in the type of the result.
void copy_elements(const operation& o, const element_source& x, const int64* positions,
                   const dense_operand& t, index row, index first, int count) {
  run_block(unchanged(o), static_cast<unsigned char>(unary::identity), x, {positions}, x,
            element_block::absent, o.out_type, o.out_bytes, element_of(t, row, first), count);
}

/// Calls position(column) for the columns of a row of T, and copies the elements there.
template <class Position>
void copy_row(const operation& o, const element_source& x, const dense_operand& t, index row,
              Position position) {
  int64 at[element_block::most];
  for (int64 first = 0; first < t.columns; first += element_block::most) {
    const auto count = static_cast<int>(std::min<int64>(element_block::most, t.columns - first));
    for (int k = 0; k < count; ++k) at[k] = position(static_cast<index>(first) + k);
    copy_elements(o, x, at, t, row, static_cast<index>(first), count);
  }
}

int threads_of(const operation& o, const dense_operand& t) {
  return threads_for(static_cast<double>(t.rows) * t.columns, o.desc->threads);
}

/// Elements from one row of X, or one column of it, to the next.
struct steps_in_x {
  int64 row, column;
};

/// A packed column of T, whose elements one call copies many of.
void extract_column(const operation& o, const element_source& x, const dense_operand& t,
                    steps_in_x step) {
  constexpr int64 most = element_block::most;
#pragma omp parallel for num_threads(threads_of(o, t)) schedule(static)
  for (int64 first = 0; first < t.rows; first += most) {
    int64 at[most];
    const int count = static_cast<int>(std::min(most, t.rows - first));
    for (int k = 0; k < count; ++k)
      at[k] = o.rows[first + k] * step.row + o.columns[0] * step.column;
    copy_elements(o, x, at, t, static_cast<index>(first), 0, count);
  }
}

}  // namespace

void extract_dense(const operation& o, const dense_operand& t) {
  const element_source x = source_of(o.x.full);
  const int64 stride = o.x.full.stride;
  const steps_in_x step = o.turns_x() ? steps_in_x{1, stride} : steps_in_x{stride, 1};
  if (t.columns == 1 && t.stride == 1) return extract_column(o, x, t, step);
#pragma omp parallel for num_threads(threads_of(o, t)) schedule(static)
  for (index i = 0; i < t.rows; ++i) {
    const int64 begin = o.rows[i] * step.row;
    copy_row(o, x, t, i, [&](index j) { return begin + o.columns[j] * step.column; });
  }
}

void placed_dense(const operation& o, const dense_operand& t) {
  const element_source x = source_of(o.x.full), t_of = source_of(t);
  const index_targets rows(o.rows, t.rows), columns(o.columns, t.columns);
  const bool accumulates = o.accum != accumulator::none;
  // Joins the elements that meet at (r, c), from the second on.
  const auto join = [&](index r, index c) {
    const int64 width = columns.count(c), meet = rows.count(r) * width, to = r * t.stride + c;
    for (int64 q = 1; q < meet; ++q) {
      const int64 from = rows.begin(r)[q / width] * o.x.full.stride + columns.begin(c)[q % width];
      run_block(*o.accumulates, o.accumulates_code, t_of, {&to}, x, {&from}, o.out_type,
                o.out_bytes, element_of(t, r, c), 1);
    }
  };
  const auto placed = static_cast<double>(std::min<int64>(t.rows, o.rows.size(t.rows)));
  const int threads = threads_for(placed * t.columns + t.rows, o.desc->threads);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (index r = 0; r < t.rows; ++r) {
    const int64 of_row = rows.count(r);
    if (of_row == 0 || o.x.full.columns == 0) continue;
    const int64 begin = rows.begin(r)[accumulates ? 0 : of_row - 1] * o.x.full.stride;
    copy_row(o, x, t, r, [&](index c) {
      const int64 of_column = columns.count(c);
      return of_column == 0 ? begin : begin + columns.begin(c)[accumulates ? 0 : of_column - 1];
    });
    for (index c = 0; accumulates && c < t.columns; ++c) join(r, c);
  }
}

}  // namespace rig::on_cpu
