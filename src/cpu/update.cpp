// update on a CPU: the product by another kernel, into memory that lives during the call, then the
// product of two dense matrices.

#include "rig/kernels/cpu/update.hpp"

#include <algorithm>
#include <vector>

#include "rig/kernels/cpu/isa.hpp"
#include "rig/kernels/cpu/threads.hpp"

namespace rig::on_cpu {
namespace {

/// Rows and columns of C whose sums stay in registers.
constexpr int block_rows = 4, block_columns = 32;

/// Some rows of C = Z · W. `tail` holds W's last columns, padded with zeros to a whole tile.
struct dense_rows {
  const dense_operand &z, &w, &c;
  const float* tail;
  int64 first, last;
};

/// A tile of C from column j on: W has `stride` floats from a row to the next there.
[[gnu::always_inline]] inline void multiply_tile(const dense_rows& of, int64 i, index j,
                                                 const float* w, int64 stride) {
  float sum[block_rows][block_columns] = {};
  const auto rows = static_cast<int>(std::min<int64>(block_rows, of.last - i));
  const index columns = std::min(block_columns, of.w.columns - j);
  // Rows beyond the last one repeat it, and are not stored.
  const float* z[block_rows];
  for (int r = 0; r < block_rows; ++r)
    z[r] = static_cast<const float*>(of.z.data) + (i + std::min(r, rows - 1)) * of.z.stride;
  for (index k = 0; k < of.w.rows; ++k)
    for (int r = 0; r < block_rows; ++r)
#pragma omp simd
      for (int v = 0; v < block_columns; ++v) sum[r][v] += z[r][k] * w[k * stride + v];
  for (int r = 0; r < rows; ++r)
    std::copy_n(sum[r], columns, static_cast<float*>(of.c.data) + (i + r) * of.c.stride + j);
}

[[gnu::always_inline]] inline void multiply_rows(const dense_rows& of) {
  const index whole = of.w.columns - of.w.columns % block_columns;
  for (int64 i = of.first; i < of.last; i += block_rows) {
    for (index j = 0; j < whole; j += block_columns)
      multiply_tile(of, i, j, static_cast<const float*>(of.w.data) + j, of.w.stride);
    if (whole < of.w.columns) multiply_tile(of, i, whole, of.tail, block_columns);
  }
}

/// The last columns of W, padded with zeros to a whole tile.
std::vector<float> tail_of(const dense_operand& w) {
  const index columns = w.columns % block_columns, first = w.columns - columns;
  std::vector<float> out(columns == 0 ? 0 : static_cast<std::size_t>(w.rows) * block_columns);
  for (index k = 0; columns > 0 && k < w.rows; ++k)
    std::copy_n(static_cast<const float*>(w.data) + k * w.stride + first, columns,
                out.data() + int64{k} * block_columns);
  return out;
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
  const std::vector<float> tail = tail_of(p.weights);
  if (p.b.columns > 0) inner_kernel(product)->run(product, work);
  const auto multiply = by_isa[static_cast<int>(instruction_set())];
  const double adds = static_cast<double>(p.a.rows) * p.b.columns * p.weights.columns;
  const int threads = threads_for(adds, p.desc->threads);
  constexpr int64 grain = 256;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int64 first = 0; first < p.a.rows; first += grain)
    multiply({product.c, p.weights, p.updated, tail.data(), first,
              std::min<int64>(first + grain, p.a.rows)});
}

}  // namespace rig::on_cpu
