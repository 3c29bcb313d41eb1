// Conversions of B: a few numbers at a time in the loops, or all of it before them.

#include <algorithm>

#include "cpu/measured.hpp"
#include "rig/kernels/cpu/run.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rig::on_cpu {
namespace {

#if defined(__x86_64__)
RIG_TARGET_AVX2 void widen_f16c(const half* from, float* to, int64 count) {
  int64 j = 0;
  for (; j + 8 <= count; j += 8)
    _mm256_storeu_ps(to + j,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + j))));
  for (; j < count; ++j) to[j] = static_cast<float>(from[j]);
}
#endif

[[gnu::always_inline]] inline void dequantise_each(const unsigned char* codes, const float* low,
                                                   const float* step, bool per_column, float* to,
                                                   int64 count) {
  if (per_column) {
#pragma omp simd
    for (int64 j = 0; j < count; ++j) to[j] = __builtin_fmaf(step[j], codes[j], low[j]);
  } else {
    const float l = *low, s = *step;
#pragma omp simd
    for (int64 j = 0; j < count; ++j) to[j] = __builtin_fmaf(s, codes[j], l);
  }
}
RIG_TARGET_AVX2 void dequantise_fma(const unsigned char* codes, const float* low, const float* step,
                                    bool per_column, float* to, int64 count) {
  dequantise_each(codes, low, step, per_column, to, count);
}

}  // namespace

void widen(const half* from, float* to, int64 count) {
#if defined(__x86_64__)
  if (instruction_set() >= isa::avx2) return widen_f16c(from, to, count);
#endif
  for (int64 j = 0; j < count; ++j) to[j] = static_cast<float>(from[j]);
}

void dequantise(const unsigned char* codes, const float* low, const float* step, bool per_column,
                float* to, int64 count) {
  // Without the fma instruction each number costs a function call, with the same bits.
  if (instruction_set() >= isa::avx2)
    return dequantise_fma(codes, low, step, per_column, to, count);
  dequantise_each(codes, low, step, per_column, to, count);
}

namespace {

/// Whether rows of B are used so often that converting all of B costs less than a row per entry.
/// `maxk` reads a cbsr in the right type alone.
bool converts_first(const problem& p) {
  const type right = p.algebra->right;
  return !p.algebra->ignores_right && right != type::other && p.b.value_type != right &&
         (p.b.k > 0 || p.a.nnz >= std::max<int64>(measured::least_uses,
                                                  p.b.columns / measured::columns_per_use) *
                                      p.b.rows);
}

}  // namespace

void run_converted(int family, const problem& p) {
  if (!converts_first(p)) return p.run_cpu(family, p);
  problem q = p;
  q.b.value_type = p.algebra->right;
  q.b.stride = p.b.k > 0 ? p.b.k : p.b.columns;
  buffer all;
  with_stored<float>(q.b, [&]<class To>(const To*) {
    q.b.value_bytes = sizeof(To);
    all = buffer::allocate(static_cast<std::size_t>(q.b.stride) * q.b.rows * sizeof(To));
    const int threads = threads_for(static_cast<double>(q.b.stride) * q.b.rows, p.desc->threads);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (index i = 0; i < q.b.rows; ++i)
      convert_part(p.b, i, 0, q.b.stride, all.data<To>() + i * q.b.stride);
  });
  q.b.data = all.data();
  p.run_cpu(family, q);
}

void dequantise(const dense_operand& codes, const dense_operand& to) {
  with_stored<float>(to, [&]<class To>(To* out) {
    if constexpr (is_float<To> || is_small_float<To>) {
      constexpr int64 piece = 1024;
      const int threads = threads_for(static_cast<double>(to.rows) * to.columns);
#pragma omp parallel for schedule(static) num_threads(threads)
      for (index i = 0; i < to.rows; ++i)
        for (int64 first = 0; first < to.columns; first += piece) {
          float numbers[piece];
          const int64 count = std::min<int64>(piece, to.columns - first);
          convert_part(codes, i, first, count, numbers);
          To* const row = out + i * to.stride + first;
          for (int64 j = 0; j < count; ++j) row[j] = convert<To>(numbers[j]);
        }
    }
  });
}

}  // namespace rig::on_cpu
