#pragma once

// The launch shapes that `row` is compiled in ahead, and where their kernels are.

#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "cuda/row/row_shape.hpp"

namespace rig::on_cuda {

/// What a semiring asks of registers: without A's values another load fits; indexed semirings hold
/// and compare twice as much.
enum class sum_kind : int { weighted, unweighted, indexed };

/// Lines of the table.
enum shape_number : int {
  packs_4_sparse,
  packs_4,
  packs_4_few,
  packs_4_dense,
  packs_8_sparse,
  packs_8_skewed,
  packs_8_even,
  packs_8_few,
  packs_8_dense,
  packs_8_far,
  packs_16_sparse,
  packs_16_skewed,
  packs_16_few,
  packs_16_far,
  packs_32_sparse,
  packs_32,
  packs_32_near,
  packs_32_skewed,
  packs_32_apart,
  packs_64_apart,
  packs_32_few,
  packs_64_few,
  packs_32_far,
  packs_64,
  odd_8,
  odd_40,
  odd_few,
  odd_wide,
  one_sparse,
  one_short,
  one_long,
  any_packs,
  any_8,
  any_wide
};

/// A line of the table, named after the rows of B and of A that it was measured for first;
/// row_rules.cpp says which others take it. Lines that name one shape share its kernel.
struct shapes_of_rows {
  shape_number line;
  row_shape weighted, unweighted, indexed;
  constexpr shapes_of_rows(shape_number line, const row_shape& all)
      : shapes_of_rows(line, all, all, all) {}
  constexpr shapes_of_rows(shape_number line, const row_shape& weighted,
                           const row_shape& unweighted, const row_shape& indexed)
      : line(line), weighted(weighted), unweighted(unweighted), indexed(indexed) {}
};

constexpr row_shape in_packs(int l, int g, int u, int cf) { return {true, l, g, u, cf, true}; }
constexpr row_shape singly(int l, int g, int u, int cf) { return {false, l, g, u, cf, true}; }

// By packs of 16 bytes that a row of B has, and by rows of A (rows_of_a in row_rules.hpp).
// Milliseconds on an H200 in fp32 (weighted: sum; unweighted: max; indexed: arg-max), beside those
// of the next best shape or of the one that was here before (was). Of the program marked ** in
// docs/lab/exact.md, which has raced 25 to 60 shapes on each of the nine graphs; suite ablation
// has others.
inline constexpr shapes_of_rows shapes[] = {
    // road-like, f = 16: 0.113 (was 0.160), max 0.099 (U = 2: 0.103), arg-max 0.132
    {packs_4_sparse, in_packs(4, 4, 2, 1), in_packs(4, 4, 3, 1), in_packs(4, 4, 2, 1)},
    // f = 16: rmat:18:16 0.0818 (was 0.108), arxiv-like 0.0329 (0.0358), uniform:262144:32
    // 0.0844 (0.0952; U = 8: 0.0834); max, rmat:18:16 0.0692 (U = 6: 0.0719); arg-max,
    // arxiv-like 0.0307 (U = 6: 0.0335)
    {packs_4, in_packs(4, 8, 6, 1), in_packs(4, 8, 8, 1), in_packs(4, 8, 3, 1)},
    // f = 16: pubmed-like 0.0058 (was 0.0078; U = 6: 0.0060), products-like 1.50 (was
    // 1.92; U = 6: 1.56), max 0.0056, 1.36; arg-max 0.0064, 1.63 (U = 4: 0.0066, 1.62)
    {packs_4_few, in_packs(4, 16, 4, 1), in_packs(4, 16, 4, 1), in_packs(4, 16, 3, 1)},
    // f = 16: reddit-like 0.851 (was 1.07; U = 6: 0.857), max 0.726, arg-max 0.785
    {packs_4_dense, in_packs(4, 32, 8, 1), in_packs(4, 32, 8, 1), in_packs(4, 32, 6, 1)},
    // road-like, f = 32: 0.184 (8, 8, 2, 1: 0.189), max 0.177 (U = 2: 0.182),
    // arg-max 0.232 (8, 8, 2, 1: 0.240)
    {packs_8_sparse, in_packs(4, 4, 2, 2), in_packs(8, 8, 3, 1), in_packs(4, 4, 3, 2)},
    // f = 32: arxiv-like 0.0440 (U = 8: 0.0459), max 0.0401 (U = 6: 0.0450)
    {packs_8_skewed, in_packs(8, 8, 6, 1), in_packs(8, 8, 7, 1), in_packs(8, 8, 6, 1)},
    // uniform:262144:32, f = 32, 128: 0.134, 0.519 (G = 8: 0.137, 0.522), max 0.126,
    // 0.482 (U = 4: 0.128, 0.490), arg-max 0.136, 0.523 (16, 3: 0.146, 0.578)
    {packs_8_even, in_packs(8, 16, 4, 1), in_packs(8, 16, 3, 1), in_packs(8, 8, 6, 1)},
    // pubmed-like, f = 32: 0.0066 (was 0.0078), max 0.0061 (U = 6: 0.0064), arg-max
    // 0.0071 (was 0.0100)
    {packs_8_few, in_packs(8, 16, 6, 1), in_packs(8, 16, 8, 1), in_packs(8, 16, 6, 1)},
    // reddit-like, proteins-like, f = 32: 1.415, 0.923 (U = 4: 1.430, 0.940); f =
    // 64: 2.80, 1.82 (was 16, 32, 4, 1: 2.89, 1.92); f = 256: 11.2, 7.27 (11.4, 7.61); max, f =
    // 256: 10.3, 6.63 (U = 6: 10.4, 6.75; was 11.0, 7.30); arg-max, f = 32: 1.407, 0.917 (U = 4:
    // 1.421, 0.942), f = 64: 2.77, 1.80 (16, 32, 6, 1: 2.82, 1.87)
    {packs_8_dense, in_packs(8, 32, 6, 1), in_packs(8, 32, 8, 1), in_packs(8, 32, 6, 1)},
    // products-like, f = 32: 2.14 (U = 6: 2.23), max 1.82 (U = 4: 1.97), arg-max 2.24 (U = 4: 2.35)
    {packs_8_far, in_packs(8, 32, 4, 1), in_packs(8, 32, 3, 1), in_packs(8, 32, 2, 1)},
    // road-like, f = 64: 0.337 (U = 3: 0.355), arg-max 0.447 (8, 8, 2, 2: 0.480)
    {packs_16_sparse, in_packs(8, 8, 2, 2), in_packs(8, 8, 2, 2), in_packs(16, 16, 2, 1)},
    // rmat:18:16, f = 64: 0.208 (8, 8, 6, 2: 0.210), arg-max 0.225 (U = 4: 0.230)
    {packs_16_skewed, in_packs(16, 16, 4, 1), in_packs(16, 16, 4, 1), in_packs(16, 16, 3, 1)},
    // pubmed-like, f = 64: 0.0083 (U = 3: 0.0085), arg-max 0.0096 (U = 4: 0.0100)
    {packs_16_few, in_packs(16, 32, 4, 1), in_packs(16, 32, 4, 1), in_packs(16, 32, 3, 1)},
    // products-like, f = 64: 3.68 (U = 6: 3.72), max 3.40 (U = 4: 3.49), arg-max 3.96 (U = 6, 4:
    // 3.96, 4.09)
    {packs_16_far, in_packs(16, 32, 4, 1), in_packs(16, 32, 8, 1), in_packs(16, 32, 3, 1)},
    // road-like, f = 128: 0.633 (U = 3: 0.656), arg-max 0.855 (16, 16, 2, 2:
    // 0.886)
    {packs_32_sparse, in_packs(16, 16, 2, 2), in_packs(16, 16, 2, 2), in_packs(32, 32, 2, 1)},
    // arxiv-like, f = 128: 0.151 (U = 3: 0.157)
    {packs_32, in_packs(32, 32, 4, 1)},
    // packs_32_near: skewed, and neighbouring rows share neighbours. arxiv-like, f = 128, 256: max
    // 0.141, 0.268 (was 32, 32, 4, 1: 0.145, 0.282), arg-max 0.178, 0.345 (U = 6: 0.185, 0.363)
    {packs_32_near, in_packs(32, 32, 4, 1), in_packs(16, 16, 3, 1), in_packs(32, 32, 3, 1)},
    // packs_32_skewed: rows of B that do not begin on cache lines. rmat:18:16, f = 100: 0.348 (16,
    // 16, 4, 1: 0.438)
    {packs_32_skewed, in_packs(32, 32, 2, 1)},
    // packs_32_apart: skewed, and they do not share. f = 128: arxiv-like-shuffled, max 0.153 (U =
    // 4: 0.156), rmat:18:16 0.393 (0.395); arg-max 0.183, 0.447 (8, 8, 4, 2: 0.185, 0.444)
    {packs_32_apart, in_packs(16, 16, 4, 1), in_packs(16, 16, 3, 1), in_packs(16, 16, 3, 1)},
    // f = 256: arxiv-like-shuffled, rmat:18:16 0.316, 0.798 (was 16, 16, 4, 1:
    // 0.329, 0.809), max 0.298, 0.750 (0.311, 0.770), arg-max 0.346, 0.886 (U = 4: 0.352, 0.874)
    {packs_64_apart, in_packs(8, 8, 3, 2), in_packs(16, 16, 3, 1), in_packs(8, 8, 3, 2)},
    // pubmed-like, f = 128: 0.0107 (U = 4: 0.0123), arg-max 0.0123 (U = 8: 0.0122)
    {packs_32_few, in_packs(32, 32, 8, 1), in_packs(32, 32, 8, 1), in_packs(32, 32, 6, 1)},
    // pubmed-like, f = 256: 0.0166, max 0.0162 (was 32, 32, 8, 1: 0.0193, 0.0177),
    // arg-max 0.0241 (CF = 2: 0.0246)
    {packs_64_few, in_packs(32, 32, 6, 2), in_packs(32, 32, 6, 2), in_packs(32, 32, 6, 1)},
    // products-like, f = 128, 256: 7.20, 14.3, max 6.77, 13.5, arg-max 7.71 (f = 128);
    // was 32, 32, 4, 1: 7.38, 14.7, 7.15, 14.2, 8.34
    {packs_32_far, in_packs(32, 32, 8, 1), in_packs(16, 32, 8, 1), in_packs(32, 32, 6, 1)},
    // packs_64: sparse, and skewed where rows of B do not begin on lines. road-like, f = 256: 1.20
    // (U = 4: 1.27)
    {packs_64, in_packs(32, 32, 2, 2)},
    // Of single elements, up to 8 columns, with samples or without NVRTC: not raced
    {odd_8, singly(8, 8, 4, 1)},
    // Three in flight, since two are held to few registers (row.cuh), which costs arxiv-like a
    // third. f = 33, beside two without that: arxiv-like 0.0748 to 0.0756, 0.0750 to 0.0782,
    // uniform:500000:12 0.250, 0.258; road-like, which comes here without NVRTC, 0.328, 0.308
    {odd_40, singly(8, 8, 3, 5)},
    // odd_few, odd_wide, wider than 40: without NVRTC, of samples and of sums of more than two
    // words. pubmed-like, f = 33: 0.0099 (8, 8, 2, 5: 0.0194)
    {odd_few, singly(16, 32, 4, 3)},
    {odd_wide, singly(16, 16, 4, 5)},
    // one_sparse: one column. road-like 0.032 (G = 2: 0.047)
    {one_sparse, singly(1, 1, 4, 1)},
    // rmat:20:16 0.231 (G = 16: 0.243)
    {one_short, singly(1, 8, 4, 1)},
    // reddit-like 0.455 (G = 16: 0.485)
    {one_long, singly(1, 32, 4, 1)},
    // any_packs, any_8, any_wide: masks, accumulators, conversions
    {any_packs, row_shape{true, 8, 8, 2, 2, false}},
    {any_8, row_shape{false, 8, 8, 2, 1, false}},
    {any_wide, row_shape{false, 16, 16, 2, 3, false}},
};

static_assert(std::size(shapes) == any_wide + 1 && [] {
  for (int n = 0; n <= any_wide; ++n)
    if (shapes[n].line != n) return false;
  return true;
}());

constexpr row_shape shape_at(int number, sum_kind of) {
  const shapes_of_rows& line = shapes[number];
  return of == sum_kind::weighted     ? line.weighted
         : of == sum_kind::unweighted ? line.unweighted
                                      : line.indexed;
}

// Of products that copy B in tiles of L packs a row, and what they leave of its rows. Compiled at
// run time. Milliseconds by the program marked *** in docs/lab/exact.md, beside the padded copy:
inline constexpr row_shape tiled_shapes[] = {
    {true, 8, 8, 6, 1, true},    // uniform:262144:32, f = 33, 129: 0.203, 0.259; 0.701, 1.14;
                                 // rmat:18:16, f = 33: 0.187, 0.221
    {true, 8, 32, 6, 1, true},   // reddit-like, f = 33, 65, 129: 1.77, 2.11; 3.19, 3.61; 6.04, 9.45
    {true, 8, 32, 4, 1, true},   // products-like, f = 33: 2.97, 3.57 (U = 6: 3.18)
    {true, 16, 16, 4, 1, true},  // rmat:18:16, f = 65, 129: 0.314, 0.353; 0.606, 0.625
    {true, 16, 32, 4, 1, true},  // products-like, f = 65, 129: 4.93, 5.78; 9.34, 13.2 (L = 8: 10.8)
};
enum tiled_shape_number : int {
  tiles_8,
  tiles_8_dense,
  tiles_8_dense_far,
  tiles_16,
  tiles_16_dense
};
static_assert(std::size(tiled_shapes) == tiles_16_dense + 1);

// Of products of few columns that are read singly, all entries. Compiled at run time: ten kernels
// more a pair would cost a build more than two minutes. Milliseconds of sums by the program marked
// ** in docs/lab/exact.md, beside those of the table's shapes:
enum odd_shape_number : int {
  odd_3_sparse,
  odd_3_long,
  odd_4,
  odd_8_sparse,
  odd_8_long,
  odd_16_sparse,
  odd_16,
  odd_24_sparse,
  odd_24,
  odd_24_few
};
inline constexpr row_shape odd_shapes[] = {
    singly(1, 1, 6, 3),   // road-like, f = 3: 0.043, 0.236
    singly(1, 16, 6, 3),  // products-like, proteins-like, f = 3: 1.06, 0.42; 1.66, 0.72 (8 and 32
                          // lanes a row: 0.94, 0.41)
    singly(4, 8, 6, 1),   // arxiv-like, rmat:18:16, f = 3: 0.0252, 0.0764; 0.0284, 0.0858
    singly(2, 2, 6, 4),   // road-like, f = 7: 0.085, 0.248 (1, 1, 2, 7: 0.078)
    singly(4, 16, 8, 2),  // products-like, proteins-like, f = 7: 1.58, 0.62; 1.87, 0.75
    singly(4, 4, 6, 4),   // road-like, f = 13: 0.155, 0.268 (2, 2, 2, 7: 0.145)
    singly(8, 8, 6, 2),   // arxiv-like, f = 13: 0.0405, 0.0531
    singly(4, 4, 2, 6),   // road-like, f = 21: 0.186, 0.281 (without bounds on registers 0.191)
    singly(8, 8, 4, 3),   // arxiv-like, f = 21: 0.0542, 0.0601
    singly(8, 16, 6, 3),  // pubmed-like, f = 21: 0.0076, 0.0092
};
static_assert(std::size(odd_shapes) == odd_24_few + 1);

/// What is compiled ahead of a builtin pair: `row` by each line of the table, then
/// `permute_values`.
using kernels_of_a_pair = std::array<const void*, std::size(shapes) + 1>;
/// Defined for each line of builtin.def: row_aot.cu.in.
template <class S>
kernels_of_a_pair kernels_aot();

}  // namespace rig::on_cuda
