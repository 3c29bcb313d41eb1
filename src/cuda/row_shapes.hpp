#pragma once

// The launch shapes that `row` is compiled in ahead, and where their kernels are.

#include <cstddef>
#include <iterator>

#include "families.hpp"

namespace rig::on_cuda {

// Milliseconds on an H200, sum in fp32 with values, beside the next best shape (docs/measured.md,
// suite ablation, has the others at f = 32 and 128; six in flight are of the program that
// docs/notes/exact.md marks **):
inline constexpr row_shape shapes[] = {
    {true, 8, 8, 2, 1, true},     // road-like, f = 32: 0.194 (U = 4: 0.227)
    {true, 8, 8, 6, 1, true},     // arxiv-like, f = 32: 0.047 (U = 4: 0.050, U = 8: 0.048)
    {true, 8, 16, 4, 1, true},    // uniform:262144:32, f = 32: 0.138 (G = 8: 0.143)
    {true, 8, 32, 4, 1, true},    // reddit-like, f = 32: 1.50 (G = 16: 1.57)
    {true, 8, 8, 2, 2, true},     // road-like, f = 64: 0.355 (U = 4: 0.401)
    {true, 16, 16, 4, 1, true},   // rmat:18:16, f = 64: 0.219 (L = 8, CF = 2: 0.242)
    {true, 16, 32, 4, 1, true},   // products-like, f = 64: 3.82 (G = 16: 4.01)
    {true, 16, 16, 2, 2, true},   // road-like, f = 128: 0.633 (L = 8, CF = 4: 0.690)
    {true, 32, 32, 4, 1, true},   // arxiv-like, f = 128: 0.168 (L = 16: 0.181, U = 8: 0.206)
    {true, 32, 32, 2, 1, true},   // rmat:18:16, f = 100: 0.348 (L = 16, U = 4: 0.438)
    {true, 32, 32, 8, 1, true},   // pubmed-like, f = 128: 0.0111 (U = 4: 0.0124)
    {true, 32, 32, 2, 2, true},   // road-like, f = 256: 1.21 (U = 4: 1.27)
    {false, 8, 8, 4, 1, true},    // unaligned, element by element: f ≤ 8
    {false, 8, 8, 2, 5, true},    // … f ≤ 40: road-like, f = 33: 0.346 (U = 4: 0.406)
    {false, 16, 32, 4, 3, true},  // … of few entries: pubmed-like, f = 33: 0.0099 (8, 8, 2, 5:
                                  // 0.0194)
    {false, 16, 16, 4, 5, true},  // … wider
    {false, 1, 1, 4, 1, true},    // one column: road-like 0.032 (G = 2: 0.047)
    {false, 1, 8, 4, 1, true},    // … rmat:20:16 0.231 (G = 16: 0.243)
    {false, 1, 32, 4, 1, true},   // … reddit-like 0.455 (G = 16: 0.485)
    {true, 8, 8, 2, 2, false},    // masks, accumulators, conversions
    {false, 8, 8, 2, 1, false},
    {false, 16, 16, 2, 3, false},
};

// Of products that copy B in tiles of L packs a row, and what they leave of its rows. Compiled at
// run time. Milliseconds by the program marked *** in docs/notes/exact.md, beside the padded copy:
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

/// Rows of the table, by bytes of a row of B in packs, and rows of A.
enum shape_number : int {
  packs_8_sparse,
  packs_8_skewed,
  packs_8_even,
  packs_8_dense,
  packs_16_sparse,
  packs_16_skewed,
  packs_16_dense,
  packs_32_sparse,
  packs_32,
  packs_32_skewed,
  packs_32_few,
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
static_assert(std::size(shapes) == any_wide + 1);

/// What a semiring asks of registers.
enum class sum_kind : int { weighted, unweighted, indexed };

/// Without A's values another load fits; indexed semirings hold and compare twice as much.
/// Milliseconds by the program that docs/notes/max.md marks *: max, f = 32: arxiv-like 0.043, by
/// the shape of weighted sums 0.048, rmat:18:16 0.109, 0.117; arg-max: road-like, f = 64: 0.443, by
/// the shape of others 0.474; pubmed-like, f = 256: 0.028, 0.030.
constexpr row_shape shape_at(int number, sum_kind of) {
  if (of == sum_kind::unweighted && number == packs_8_skewed) return {true, 8, 8, 7, 1, true};
  if (of == sum_kind::indexed && number == packs_16_sparse) return {true, 16, 16, 2, 1, true};
  if (of == sum_kind::indexed && number == packs_32_few) return {true, 32, 32, 6, 1, true};
  return shapes[number];
}

/// The kernels compiled ahead, in the order of builtin.def: of `row` all shapes of a pair, of
/// `take_values` one.
const void* const* row_kernels();
const void* const* take_values_kernels();

}  // namespace rig::on_cuda
