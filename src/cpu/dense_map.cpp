// Element-wise operations whose operands and result are dense.

#include <algorithm>
#include <cstring>

#include "cpu/steps.hpp"
#include "rig/kernels/cpu/element.hpp"
#include "rig/kernels/cpu/threads.hpp"

namespace rig::on_cpu {
namespace {

/// Blocks of one row at a time: T of the block is computed, then written under the mask.
class row_runner {
 public:
  explicit row_runner(const operation& o)
      : o_(o),
        x_of_(source_of(o.x.full)),
        y_of_(o.y.what == operand::kind::dense
                  ? source_of(o.y.full)
                  : element_source{nullptr, static_cast<const unsigned char*>(o.scalar), nullptr,
                                   false, o.scalar_type, 0}),
        c_of_(source_of(o.c.full)),
        is_direct_(o.mask.over == mask_operand::kind::absent && o.accum == accumulator::none) {}

  void run(index row) {
    mask_row mask(o_.mask, row);
    for (index first = 0; first < o_.c.full.columns; first += most) {
      const int count = std::min<index>(most, o_.c.full.columns - first);
      unsigned char* const c = element_of_c(row, first);
      const bool reads_rows = o_.op->reads_positions;
      for (int k = 0; k < count; ++k) {
        x_[k] = row * o_.x.full.stride + first + k;
        y_[k] = o_.y.what == operand::kind::dense ? row * o_.y.full.stride + first + k : 0;
        if (reads_rows) rows_[k] = row;
        if (reads_rows) columns_[k] = first + k;
      }
      compute(is_direct_ ? c : t_, count);
      if (!is_direct_) write(mask, row, first, count, c);
    }
  }

 private:
  static constexpr int most = 128;
  static_assert(most <= element_block::most && most <= widest_tile);

  unsigned char* element_of_c(index row, index column) const {
    return static_cast<unsigned char*>(o_.c.full.data) +
           static_cast<std::size_t>(row * o_.c.full.stride + column) * o_.out_bytes;
  }

  void compute(void* out, int count) {
    const bool flips = o_.scalar_first;
    o_.op->run_cpu({flips ? &y_of_ : &x_of_, flips ? &x_of_ : &y_of_, flips ? y_ : x_,
                    flips ? x_ : y_, rows_, columns_, o_.scalar, o_.code, o_.out_type, o_.out_bytes,
                    out, count});
  }

  /// C⟨mask, replace⟩ = C ⊙ t
  void write(mask_row& mask, index row, index first, int count, unsigned char* c) {
    bool allowed[most];
    std::memset(allowed, 1, sizeof(allowed));
    mask.read(first, count, allowed);
    const unsigned char* from = t_;
    if (o_.accum != accumulator::none) {
      const element_source t_of{t_, nullptr, nullptr, false, o_.out_type, o_.out_bytes};
      int64 at[most];
      for (int k = 0; k < count; ++k) {
        x_[k] = row * o_.c.full.stride + first + k;
        at[k] = k;
      }
      o_.accumulates->run_cpu({&c_of_, &t_of, x_, at, nullptr, nullptr, nullptr,
                               o_.accumulates_code, o_.out_type, o_.out_bytes, joined_, count});
      from = joined_;
    }
    const bool replaces = o_.creates_result || o_.desc->replace;
    for (int k = 0; k < count; ++k) {
      const std::size_t at = static_cast<std::size_t>(k) * o_.out_bytes;
      if (allowed[k])
        std::memcpy(c + at, from + at, o_.out_bytes);
      else if (replaces)
        std::memcpy(c + at, o_.fill, o_.out_bytes);
    }
  }

  const operation& o_;
  const element_source x_of_, y_of_, c_of_;
  const bool is_direct_;
  int64 x_[most], y_[most];
  index rows_[most], columns_[most];
  alignas(16) unsigned char t_[most * 16], joined_[most * 16];
};

}  // namespace

void run_dense(const operation& o) {
  const double work = static_cast<double>(o.c.full.rows) * o.c.full.columns;
  const int threads = threads_for(work, o.desc->threads);
#pragma omp parallel num_threads(threads)
  {
    row_runner runner(o);
#pragma omp for schedule(static)
    for (index row = 0; row < o.c.full.rows; ++row) runner.run(row);
  }
}

}  // namespace rig::on_cpu
