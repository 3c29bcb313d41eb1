// What the CPU kernels share and no semiring touches.

#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "rig/cpu/run.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rig::on_cpu {
namespace {

isa best_isa() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    return isa::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2"))
    return isa::avx2;
#endif
  return isa::baseline;
}

isa wanted_isa() {
  const isa best = best_isa();
  const char* wanted = std::getenv("RIG_ISA");
  if (wanted == nullptr || *wanted == '\0') return best;
  for (const isa which : {isa::baseline, isa::avx2, isa::avx512})
    if (std::string_view(wanted) == to_string(which)) return std::min(which, best);
  fail(errc::range, {"RIG_ISA is '", wanted, "'; there are baseline, avx2, avx512"});
}

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

isa instruction_set() {
  static const isa chosen = wanted_isa();
  return chosen;
}

const char* to_string(isa which) {
  static constexpr const char* names[] = {"baseline", "avx2", "avx512"};
  return names[static_cast<int>(which)];
}

void widen(const half* from, float* to, int64 count) {
#if defined(__x86_64__)
  if (instruction_set() >= isa::avx2) return widen_f16c(from, to, count);
#endif
  for (int64 j = 0; j < count; ++j) to[j] = static_cast<float>(from[j]);
}

void dequantise(const unsigned char* codes, const float* low, const float* step, bool per_column,
                float* to, int64 count) {
  // Without the instruction this is a call for each number, and the same bits.
  if (instruction_set() >= isa::avx2)
    return dequantise_fma(codes, low, step, per_column, to, count);
  dequantise_each(codes, low, step, per_column, to, count);
}

bool mask_row::walk(int64 first, int count, bool* allowed) {
  if (mask_.over == mask_operand::kind::dense) {
    if (mask_.structural)
      std::fill_n(allowed, count, true);
    else
      convert_row(
          static_cast<const unsigned char*>(mask_.full.data) +
              static_cast<std::size_t>(row_ * mask_.full.stride + first) * mask_.full.value_bytes,
          mask_.full.value_type, allowed, count);
  } else {
    std::fill_n(allowed, count, false);
    for (; next_ < end_ && mask_.sparse.entries[next_] < first + count; ++next_) {
      bool set = true;
      if (!mask_.structural) {
        const auto* at = mask_.sparse.values == nullptr
                             ? mask_.sparse.iso
                             : static_cast<const unsigned char*>(mask_.sparse.values) +
                                   static_cast<std::size_t>(next_) * mask_.sparse.value_bytes;
        convert_row(at, mask_.sparse.value_type, &set, 1);
      }
      allowed[mask_.sparse.entries[next_] - first] = set;
    }
  }
  bool any = false;
  for (int j = 0; j < count; ++j) any |= allowed[j] ^= mask_.complemented;
  return any;
}

int threads_for(double work, int asked) {
  if (work < parallel_work) return 1;
  static const int most = std::max(256, omp_get_num_procs());
  return std::min(asked > 0 ? asked : omp_get_max_threads(), most);
}

int threads_for(const problem& p) {
  return threads_for(static_cast<double>(p.a.nnz + p.a.rows) * p.b.columns, p.desc->threads);
}

index first_row_of(const sparse_operand& a, int piece, int pieces) {
  if (piece == pieces) return a.rows;
  const int64 total = a.nnz + a.rows;
  const int64 target = total / pieces * piece + total % pieces * piece / pieces;
  index low = 0, high = a.rows;  // the first row whose entries and rows before it reach the target
  while (low < high) {
    const index middle = low + (high - low) / 2;
    if (a.offset(middle) + middle < target)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

double estimate(const problem& p, double share, int kept) {
  // 17 bytes a nanosecond and thread: what tiles of 64 floats gather from a table in the last cache
  // (rmat:16:16, 1.8 M entries in 13 ms on two threads of a 2.5 GHz Xeon). Only the order of
  // estimates matters.
  constexpr double bytes_a_second = 17e9;
  return predicted_bytes(p, static_cast<double>(p.a.nnz) * share, kept) / bytes_a_second;
}

namespace {

struct shares {
  double cores, longest;
  int64 longest_row;
};

/// The least share of the entries a core gets, and the share of the longest row. The cores are the
/// machine's, not those of the call: the choice of a kernel, and with it the bits, must not depend
/// on the number of threads.
shares shares_of(const problem& p) {
  const auto lengths = p.oriented->form_of<row_lengths>();
  // Kept: to ask the system takes longer than a small product.
  static const double cores = std::max(1u, std::thread::hardware_concurrency());
  const double nnz = static_cast<double>(std::max<int64>(p.a.nnz, 1));
  return {1.0 / cores, static_cast<double>(lengths->longest) / nnz, lengths->longest};
}

}  // namespace

answer row_answer(const problem& p) {
  const shares s = shares_of(p);
  answer out{verdict::can, "", estimate(p, std::max(s.cores, s.longest))};
  if (s.longest > s.cores && s.longest_row > long_row) {
    out.says = verdict::slower;
    if (p.reasons)
      out.reason = "one row holds " + std::to_string(s.longest_row) + " of " +
                   std::to_string(p.a.nnz) + " entries";
  }
  return out;
}

answer split_answer(const problem& p) {
  // Waking all threads once more for each long row.
  constexpr double barrier_seconds = 1e-5;
  const shares s = shares_of(p);
  if (s.longest_row > long_row) return {verdict::can, "", estimate(p, s.cores) + barrier_seconds};
  answer out{verdict::slower, "", estimate(p, std::max(s.cores, s.longest)) + barrier_seconds};
  if (p.reasons)
    out.reason = "no row is longer than " + std::to_string(long_row) + " entries: nothing to split";
  return out;
}

}  // namespace rig::on_cpu
