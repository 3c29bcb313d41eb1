#pragma once

// What launch shape a product takes: of all entries by row_rules.cpp, of samples by
// sample_rules.cpp.

#include "cuda/analysis/row_statistics.hpp"
#include "cuda/families.hpp"
#include "cuda/runtime/launch.hpp"
#include "cuda/tuning/row_shapes.hpp"

namespace rig::on_cuda {

/// Tiles of columns in y of a grid; more of them go on in z.
constexpr int most_tiles = 32768;

/// Rows of A as the rules tell them apart: few entries in all; fewer than 6 a row; skewed, where
/// neighbouring rows share no neighbours, or do (local); else even, or 40 a row and more, where
/// neighbouring rows share neighbours and slices of 8 packs of B stay in the L2 cache (dense), or
/// not (far). Compared by their order: from `even` on rows are alike, from `dense` on long too.
enum class rows_of_a : int { few, sparse, skewed, local, even, dense, far };
constexpr int kinds_of_rows = 7;
rows_of_a rows_of(const problem& p, const row_statistics& statistics);

bool reads_codes(const problem& p);
sum_kind kind_of(const problem& p);

/// Packs that a row of B has.
double packs_of(const problem& p, const arguments& args);

/// Bytes of B that a lane loads at once: 16; of codes fewer where as many sums a lane would leave
/// lanes without work.
int pack_bytes(const problem& p, const arguments& args);

/// Elements of a pack of B, or 1 where B's elements fill one or are no numbers.
int pack_width(const problem& p, const arguments& args);

/// Do B's rows begin on packs, and end on them or in the padding of a copy?
bool reads_packs(const problem& p, const arguments& args, int width);

/// Is a B that does not go in tiles copied with its rows on pack boundaries, where they are not?
/// Where A has 20 entries a row of B or more, but for widths just beyond tiles; where it has 2, B's
/// rows are wide and no shapes of single elements were raced, or are slower.
bool pads_rows(const problem& p, const row_statistics& statistics, const arguments& args,
               int width);

/// Columns of that copy: its rows begin and end on 32 bytes.
index padded_columns(const problem& p);

/// The line of the table.
int shape_for(const problem& p, const row_statistics& statistics, const arguments& args, int width);

/// The shape of exact products: by that line, but codes and halves have shapes of their own.
row_shape exact_shape(const problem& p, const row_statistics& statistics, const arguments& args,
                      int number);

/// The shape of exact products that copy B in tiles and what they leave of its rows; its rest is 0
/// where none does.
row_shape tiled_shape(const problem& p, const row_statistics& statistics, int width);

/// Are so few rows longer than the width that all should be made for the others?
bool reads_mostly_full(const problem& p, const row_statistics& statistics, const arguments& args,
                       const row_shape& exact);

/// The shape of samples; `statistics` is of samples of the rows.
row_shape shape_of_samples(const problem& p, const row_statistics& statistics,
                           const arguments& args, int width);

}  // namespace rig::on_cuda
