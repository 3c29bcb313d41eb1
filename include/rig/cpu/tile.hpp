#pragma once

#include "rig/cpu/isa.hpp"
#include "rig/semiring.hpp"

namespace rig::on_cpu {

/// Some entries of one row with everything the inner loop reads, already in algebra types.
template <class S>
struct entries {
  const typename S::left*
      a;  ///< value of entry e is a[e · a_step]; a_step is 0 where all are equal
  int64 a_step;
  const index* inner;   ///< k of entry e
  const index* b_rows;  ///< row of `b` that holds B(k, ·): `inner`, unless B was staged
  const typename S::right* b;
  int64 b_stride;
  int64 count;
  index row;
  bool starts;  ///< the sums start here; else they go on from what `out` holds
};

/// Accumulators of half a tile: two halves of 256 bytes are eight AVX-512 registers or all sixteen
/// of AVX2. Halves of 128 bytes took a tenth longer at 128 columns of rmat:16:16, halves of 64
/// bytes a half (docs/measured.md).
inline constexpr int half_tile_bytes = 256;

/// Columns of half a tile, a power of two.
template <class S>
inline constexpr int half_tile = [] {
  int width = 64;
  while (width > 1 && width * static_cast<int>(sizeof(typename S::accum)) > half_tile_bytes)
    width /= 2;
  return width;
}();

/// Two halves of W columns, from `first` and from `second`, over all entries in order. Overlapping
/// halves compute the shared columns twice, to the same bits; so any width from W to 2W is one
/// pass.
///   out[j] = ⊕_e a(e) ⊗ b(e, first + j),  out[W + j] = ⊕_e a(e) ⊗ b(e, second + j)
template <class S, int W>
[[gnu::always_inline]] inline void accumulate_tile(typename S::accum* out, const entries<S>& some,
                                                   int64 first, int64 second) {
  typename S::accum x[W], y[W];
  if (some.starts) {
    for (int j = 0; j < W; ++j) x[j] = y[j] = S::zero();
  } else {
    for (int j = 0; j < W; ++j) x[j] = out[j];
    for (int j = 0; j < W; ++j) y[j] = out[W + j];
  }
  for (int64 e = 0; e < some.count; ++e) {
    const typename S::left a = some.a[e * some.a_step];
    const position at{some.row, some.inner[e]};
    if constexpr (is_ignoring_right<S>) {
      for (int j = 0; j < W; ++j) x[j] = S::add(x[j], product<S>(a, typename S::right{}, at));
      for (int j = 0; j < W; ++j) y[j] = S::add(y[j], product<S>(a, typename S::right{}, at));
    } else {
      const typename S::right* b = some.b + some.b_rows[e] * some.b_stride;
      for (int j = 0; j < W; ++j) x[j] = S::add(x[j], product<S>(a, b[first + j], at));
      for (int j = 0; j < W; ++j) y[j] = S::add(y[j], product<S>(a, b[second + j], at));
    }
  }
  for (int j = 0; j < W; ++j) out[j] = x[j];
  for (int j = 0; j < W; ++j) out[W + j] = y[j];
}

/// Keeps g++ from packing scalars that were loaded one by one into a vector: that costs more than
/// it spares (a fifth of a product with a vector on rmat:16:16).
template <class T>
[[gnu::always_inline]] inline void keep_scalar(T& x) {
#if defined(__x86_64__) && defined(__GNUC__)
  if constexpr (is_float<T>)
    asm("" : "+x"(x));
  else if constexpr (is_integer<T>)
    asm("" : "+r"(x));
#endif
  static_cast<void>(x);
}

/// sum ⊕= one column of the products, in four strands so that the adds of a row do not wait for
/// each other. They are four names, not an array: g++ keeps an array of strands in memory.
template <class S>
[[gnu::always_inline]] inline typename S::accum add_column(typename S::accum sum,
                                                           const entries<S>& some, int64 first,
                                                           int64 a_step, int64 b_stride) {
  const auto add = [&](typename S::accum& x, int64 e) {
    const position at{some.row, some.inner[e]};
    if constexpr (is_ignoring_right<S>)
      x = S::add(x, product<S>(some.a[e * a_step], typename S::right{}, at));
    else
      x = S::add(x, product<S>(some.a[e * a_step], some.b[some.b_rows[e] * b_stride + first], at));
    keep_scalar(x);
  };
  typename S::accum x = sum, y = S::zero(), z = S::zero(), w = S::zero();
  int64 e = 0;
  for (; e + 4 <= some.count; e += 4) {
    add(x, e);
    add(y, e + 1);
    add(z, e + 2);
    add(w, e + 3);
  }
  if (e < some.count) add(x, e);
  if (e + 1 < some.count) add(y, e + 1);
  if (e + 2 < some.count) add(z, e + 2);
  return S::add(S::add(x, y), S::add(z, w));
}

/// out[0] = the sum of one column. Steps known to be 1 spare two multiplications a term.
template <class S>
[[gnu::always_inline]] inline void accumulate_column(typename S::accum* out, const entries<S>& some,
                                                     int64 first, int64) {
  const typename S::accum sum = some.starts ? S::zero() : out[0];
  if (some.b_stride == 1 && (some.a_step == 1 || is_ignoring_left<S>))
    out[0] = add_column<S>(sum, some, first, is_ignoring_left<S> ? 0 : 1, 1);
  else
    out[0] = add_column<S>(sum, some, first, some.a_step, some.b_stride);
}

template <class S, int W>
void tile_baseline(typename S::accum* out, const entries<S>& some, int64 first, int64 second) {
  if constexpr (W == 0)
    accumulate_column<S>(out, some, first, second);
  else
    accumulate_tile<S, W>(out, some, first, second);
}
template <class S, int W>
RIG_TARGET_AVX2 void tile_avx2(typename S::accum* out, const entries<S>& some, int64 first,
                               int64 second) {
  if constexpr (W == 0)
    accumulate_column<S>(out, some, first, second);
  else
    accumulate_tile<S, W>(out, some, first, second);
}
template <class S, int W>
RIG_TARGET_AVX512 void tile_avx512(typename S::accum* out, const entries<S>& some, int64 first,
                                   int64 second) {
  if constexpr (W == 0)
    accumulate_column<S>(out, some, first, second);
  else
    accumulate_tile<S, W>(out, some, first, second);
}

template <class S>
using tile_function = void (*)(typename S::accum*, const entries<S>&, int64, int64);

/// The function for halves of `width` columns (0: a single column) on this machine.
template <class S>
tile_function<S> tile_for(int width) {
  // Position log2(width) + 1; widths above half_tile repeat it and are never asked for.
  constexpr auto clamp = [](int w) { return w < half_tile<S> ? w : half_tile<S>; };
  static constexpr tile_function<S> table[3][8] = {
      {tile_baseline<S, 0>, tile_baseline<S, 1>, tile_baseline<S, clamp(2)>,
       tile_baseline<S, clamp(4)>, tile_baseline<S, clamp(8)>, tile_baseline<S, clamp(16)>,
       tile_baseline<S, clamp(32)>, tile_baseline<S, clamp(64)>},
      {tile_avx2<S, 0>, tile_avx2<S, 1>, tile_avx2<S, clamp(2)>, tile_avx2<S, clamp(4)>,
       tile_avx2<S, clamp(8)>, tile_avx2<S, clamp(16)>, tile_avx2<S, clamp(32)>,
       tile_avx2<S, clamp(64)>},
      {tile_avx512<S, 0>, tile_avx512<S, 1>, tile_avx512<S, clamp(2)>, tile_avx512<S, clamp(4)>,
       tile_avx512<S, clamp(8)>, tile_avx512<S, clamp(16)>, tile_avx512<S, clamp(32)>,
       tile_avx512<S, clamp(64)>},
  };
  int place = 0;
  for (int w = width; w > 0; w /= 2) ++place;
  return table[static_cast<int>(instruction_set())][place];
}

}  // namespace rig::on_cpu
