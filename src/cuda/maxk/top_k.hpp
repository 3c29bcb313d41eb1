#pragma once

// The host code that `maxk` and `maxk_backward` share: facts, grids, split rows, estimates.

#include "cuda/tuning/product.hpp"
#include "cuda/tuning/table.hpp"

namespace rig::on_cuda {

/// Shared memory of a block that needs no opt-in attribute.
constexpr std::size_t most_shared_bytes = 48 * 1024;
/// Warps per block: four are a little faster than eight (docs/lab/maxk.md).
constexpr unsigned most_warps = 4;

/// Facts of a product with a cbsr: of rows, of k, and of B.
product_facts facts_of_top_k(const problem& p, const row_statistics& statistics);

/// The number of lanes that this many vectors keep busy: a power of two from `least` to 32. (A
/// vector is one lane's vector load.) At least 8 lanes limit a warp to four subwarps when each
/// holds its own set of sums.
int lanes_for(int vectors, int least = 8);

/// The number of blocks in the grid's y; each takes lanes · values of the places.
index tiles_of(int places, int lanes, int values);

/// The grid for all row parts: one warp per part, and `tiles` blocks in y.
dim3 grid_for(const arguments& args, unsigned warps, index tiles);

/// Orders and splits rows as `split` does. The buffer holds the segments' sums, `bytes` each, and
/// must live until the launch.
buffer split_rows(const problem& p, std::size_t bytes, index tiles, arguments& args,
                  workspace& work);

/// `maxk_backward` by panels, in maxk_panels.cu: whether panels can serve, whether atomics add the
/// sums, and the launch. The launch returns false, with nothing done, when the sums do not fit.
bool can_take_panels(const problem& p);
bool adds_by_atomics(const problem& p);
bool run_by_panels(const problem& p, workspace& work);

/// An answer for all places, with an estimate; or the reason why no kernel exists.
answer top_k_answer(answer out, const problem& p);

}  // namespace rig::on_cuda
