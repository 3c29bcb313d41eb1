// update on a CPU: the product by another kernel, into memory that lives during the call, then the
// product of two dense matrices.

#include "rig/kernels/cpu/update.hpp"

#include <algorithm>

#include "rig/kernels/cpu/isa.hpp"
#include "rig/kernels/cpu/threads.hpp"

namespace rig::on_cpu {
namespace {

/// Rows and columns of C whose sums stay in registers.
constexpr index tile_rows = 4, tile_columns = 32;

/// Some rows of C = Z · W.
struct dense_rows {
  const dense_operand &z, &w, &c;
  index first, last;
};

/// The part of C at (i, j). The counts of rows and columns are constants if the tile is whole.
[[gnu::always_inline]] inline void multiply_tile(const dense_rows& of, index i, index j, index rows,
                                                 index columns) {
  float sum[tile_rows][tile_columns] = {};
  const float* const z = static_cast<const float*>(of.z.data) + i * of.z.stride;
  const float* const w = static_cast<const float*>(of.w.data) + j;
  for (index k = 0; k < of.w.rows; ++k)
    for (index r = 0; r < rows; ++r)
#pragma omp simd
      for (index v = 0; v < columns; ++v)
        sum[r][v] += z[r * of.z.stride + k] * w[k * of.w.stride + v];
  for (index r = 0; r < rows; ++r)
    std::copy_n(sum[r], columns, static_cast<float*>(of.c.data) + (i + r) * of.c.stride + j);
}

[[gnu::always_inline]] inline void multiply_rows(const dense_rows& of) {
  for (index i = of.first; i < of.last; i += tile_rows)
    for (index j = 0; j < of.w.columns; j += tile_columns) {
      const index rows = std::min(tile_rows, of.last - i),
                  columns = std::min(tile_columns, of.w.columns - j);
      if (rows == tile_rows && columns == tile_columns)
        multiply_tile(of, i, j, tile_rows, tile_columns);
      else
        multiply_tile(of, i, j, rows, columns);
    }
}

void multiply_baseline(const dense_rows& of) { multiply_rows(of); }
RIG_TARGET_AVX2 void multiply_avx2(const dense_rows& of) {
  multiply_rows(of);
  RIG_LEAVE_AVX();
}
RIG_TARGET_AVX512 void multiply_avx512(const dense_rows& of) {
  multiply_rows(of);
  RIG_LEAVE_AVX();
}
constexpr void (*by_isa[])(const dense_rows&) = {multiply_baseline, multiply_avx2, multiply_avx512};

}  // namespace

answer update_answer(const problem& p) { return rig::update_answer(p); }

void update_run(const problem& p, workspace& work) {
  problem product = product_to_update(p);
  if (product.c.data == nullptr) {
    work.sums = buffer::allocate(product.c.extent(), p.a.where);
    product.c.data = work.sums.data();
  }
  if (p.b.columns > 0) inner_kernel(product)->run(product, work);
  const auto multiply = by_isa[static_cast<int>(instruction_set())];
  const double adds = static_cast<double>(p.a.rows) * p.b.columns * p.weights.columns;
  const int threads = threads_for(adds, p.desc->threads);
  constexpr index grain = 256;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (index first = 0; first < p.a.rows; first += grain)
    multiply({product.c, p.weights, p.updated, first, std::min<index>(first + grain, p.a.rows)});
}

}  // namespace rig::on_cpu
