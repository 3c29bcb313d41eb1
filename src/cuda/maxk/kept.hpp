#pragma once

// The host code that `maxk` and `maxk_backward` share: launch configurations, grids, cut rows,
// estimates.

#include "cuda/analysis/row_statistics.hpp"
#include "cuda/runtime/launch.hpp"
#include "rig/kernels/list.hpp"

namespace rig::on_cuda {

/// Shared memory of a block that needs no opt-in attribute.
constexpr std::size_t most_shared_bytes = 48 * 1024;
/// Warps per block: four are a little faster than eight (docs/lab/maxk.md).
constexpr unsigned most_warps = 4;

/// A launch configuration. `maxk`: V, L and how C is written. `maxk_backward`: E (as v) and L. By
/// panels, `plain` is set if B takes vector loads, and `adds` if atomics add the sums.
/// `maxk_combine`: V and L.
struct kept_shape {
  int v, l;
  bool indices_8, has_flags, plain, whole, adds;
};
int number_of(const kept_shape& s);
kept_shape shape_of(int number);

/// The beginning of a kernel's name expression: semiring, type of B, type of the indices.
std::string kept_expression(const char* kernel, int shape, const std::string& semiring,
                            const std::string& b_type);
const char* in_words(bool x);

/// The number of lanes that this many packs keep busy: a power of two from `least` to 32. (A pack
/// is one lane's vector load.) At least 8 lanes limit a warp to four subwarps when each holds its
/// own set of sums.
int lanes_for(int packs, int least = 8);

/// The number of blocks in the grid's y; each takes L · V of the places.
index tiles_of(int places, const kept_shape& s);

/// The grid for all row parts: one warp per part, and `tiles` blocks in y.
dim3 grid_for(const arguments& args, unsigned warps, index tiles);

/// Orders and cuts rows as `split` does. The buffer holds the pieces' sums, `bytes` each, and must
/// live until the launch.
buffer cut_rows(const problem& p, std::size_t bytes, index tiles, arguments& args);

/// `maxk_backward` by panels, in maxk_panels.cu: whether panels pay, whether atomics add the sums,
/// and the launch. The launch returns false, with nothing done, when the sums do not fit.
bool takes_panels(const problem& p);
bool adds_by_atomics(const problem& p);
bool run_by_panels(const problem& p);

/// An answer for all places, with an estimate; or the reason why no kernel exists.
answer kept_answer(answer out, const problem& p);

}  // namespace rig::on_cuda
