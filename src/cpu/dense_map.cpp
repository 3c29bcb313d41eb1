// Element-wise operations whose operands and result are dense.

#include <algorithm>
#include <cstring>
#include <utility>

#include "rig/kernels/cpu/element.hpp"
#include "rig/kernels/cpu/threads.hpp"
#include "storage/backend.hpp"

namespace rig::on_cpu {
namespace {

/// Whether a row of C can change. Outside the region only replacement under a mask writes.
bool reaches(const operation& o, index row) {
  const bool replaces =
      o.mask.over != mask_operand::kind::absent && (o.creates_result || o.desc->replace);
  return o.region_rows == nullptr || o.region_rows[row] || replaces;
}
int64 rows_reached(const operation& o, int64 rows) {
  int64 out = 0;
  for (index row = 0; o.region_rows != nullptr && row < rows; ++row) out += reaches(o, row);
  return o.region_rows != nullptr ? out : rows;
}

/// Blocks of one row: T of the block is computed, then written under the mask. Packed operands are
/// one row.
class row_runner {
 public:
  static constexpr int most = 256;  ///< elements of a block

  /// `is_turned`: the row is a column of C, whose places an operator reads.
  row_runner(const operation& o, bool is_turned)
      : o_(o),
        is_turned_(is_turned),
        x_of_(source_or_scalar(o.x)),
        y_of_(source_or_scalar(o.y)),
        c_of_(source_of(o.c.full)),
        is_direct_(o.mask.over == mask_operand::kind::absent && o.accum == accumulator::none &&
                   o.region_rows == nullptr && o.region_columns == nullptr) {}

  /// Elements first … end of a row.
  void run(index row, int64 first, int64 end) {
    if (!reaches(o_, row)) return;
    mask_row mask(o_.mask, row);
    for (; first < end; first += most) {
      const int count = static_cast<int>(std::min<int64>(most, end - first));
      unsigned char* const c = element_of_c(row, first);
      if (o_.op->reads_positions)
        for (int k = 0; k < count; ++k) {
          const index along = static_cast<index>(first) + k;
          rows_[k] = is_turned_ ? along : row;
          columns_[k] = is_turned_ ? row : along;
        }
      compute(row, first, is_direct_ ? c : t_, count);
      if (!is_direct_) write(mask, row, first, count, c);
    }
  }

 private:
  static_assert(most <= element_block::most && most <= widest_tile);

  element_source source_or_scalar(const operand& of) const {
    return of.what == operand::kind::dense ? source_of(of.full) : scalar_of(o_);
  }

  unsigned char* element_of_c(index row, int64 column) const {
    return static_cast<unsigned char*>(o_.c.full.data) +
           static_cast<std::size_t>(row * o_.c.full.stride + column) * o_.out_bytes;
  }

  static element_positions positions(const dense_operand& of, index row, int64 first) {
    return {nullptr, row * of.stride + first};
  }

  void compute(index row, int64 first, void* out, int count) {
    const bool flips = o_.scalar_first;
    const element_positions x = positions(o_.x.full, row, first),
                            y = o_.op->kind == operator_kind::copy
                                    ? element_block::absent
                                    : positions(o_.y.full, row, first);
    o_.op->run_cpu({flips ? &y_of_ : &x_of_, flips ? &x_of_ : &y_of_, flips ? y : x, flips ? x : y,
                    o_.code, o_.t_type(), o_.t_bytes(), out, count, rows_, columns_, o_.scalar});
  }

  /// C⟨mask, replace⟩ = C ⊙ t
  void write(mask_row& mask, index row, int64 first, int count, unsigned char* c) {
    bool allowed[most];
    std::memset(allowed, 1, sizeof(allowed));
    mask.read(first, count, allowed);
    const unsigned char* from = t_;
    if (o_.accum != accumulator::none) {
      run_block(*o_.accumulates, o_.accumulates_code, c_of_, positions(o_.c.full, row, first),
                source_of(t_, o_.t_type(), o_.t_bytes()), {}, o_.out_type, o_.out_bytes, joined_,
                count);
      from = joined_;
    }
    const bool replaces = o_.creates_result || o_.desc->replace;
    if (o_.mask.over == mask_operand::kind::absent && o_.region_rows == nullptr &&
        o_.region_columns == nullptr) {
      std::memcpy(c, from, static_cast<std::size_t>(count) * o_.out_bytes);
      return;
    }
    const bool in_row = o_.region_rows == nullptr || o_.region_rows[row];
    for (int k = 0; k < count; ++k) {
      const std::size_t at = static_cast<std::size_t>(k) * o_.out_bytes;
      if (allowed[k] && !(in_row && (o_.region_columns == nullptr || o_.region_columns[first + k])))
        continue;
      if (allowed[k])
        copy_element(c + at, from + at, o_.out_bytes);
      else if (replaces)
        copy_element(c + at, o_.fill, o_.out_bytes);
    }
  }

  const operation& o_;
  const bool is_turned_;
  const element_source x_of_, y_of_, c_of_;
  const bool is_direct_;
  index rows_[most], columns_[most];
  alignas(16) unsigned char t_[most * 16], joined_[most * 16];
};

/// Whether elements of the operands follow each other without gaps, and no place matters.
bool is_flat(const operation& o) {
  const auto is_packed = [](const dense_operand& of) {
    return of.data == nullptr || of.stride == of.columns || of.rows == 1;
  };
  return o.mask.over != mask_operand::kind::matrix && !o.op->reads_positions &&
         o.region_rows == nullptr && o.region_columns == nullptr && is_packed(o.c.full) &&
         is_packed(o.x.full) && is_packed(o.y.full) && is_packed(o.mask.full);
}

/// Whether the operation is one of packed columns, so that it is one of rows too.
bool is_column(const operation& o) {
  for (const dense_operand* of : {&o.c.full, &o.x.full, &o.y.full, &o.mask.full})
    if (of->data != nullptr && (of->columns != 1 || of->stride != 1)) return false;
  return o.mask.over != mask_operand::kind::matrix && o.region_columns == nullptr;
}

/// A packed column as a row, whose blocks are longer than one element.
operation turned(const operation& o) {
  operation out = o;
  for (dense_operand* of : {&out.c.full, &out.x.full, &out.y.full, &out.mask.full}) {
    std::swap(of->rows, of->columns);
    of->stride = of->columns;
  }
  std::swap(out.region_rows, out.region_columns);
  return out;
}

}  // namespace

void run_dense(const operation& given) {
  const bool is_turned = is_column(given);
  const operation o = is_turned ? turned(given) : given;
  const int64 rows = is_flat(o) ? 1 : o.c.full.rows,
              columns = is_flat(o) ? int64{o.c.full.rows} * o.c.full.columns : o.c.full.columns;
  // A sparse mask is walked from the start of its row.
  const bool is_cut = o.mask.over != mask_operand::kind::matrix;
  const int64 step = is_cut ? 64 * row_runner::most : columns;
  const int64 steps = (columns + step - 1) / step;
  const int threads =
      threads_for(static_cast<double>(rows_reached(o, rows) * columns), o.desc->threads);
#pragma omp parallel num_threads(threads)
  {
    row_runner runner(o, is_turned);
#pragma omp for schedule(static) collapse(2)
    for (int64 row = 0; row < rows; ++row)
      for (int64 k = 0; k < steps; ++k)
        runner.run(static_cast<index>(row), k * step, std::min(columns, (k + 1) * step));
  }
}

}  // namespace rig::on_cpu
