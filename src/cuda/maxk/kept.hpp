#pragma once

// What `maxk` and `maxk_backward` share on the host: launch shapes, grids, cut rows, estimates.

#include "cuda/analysis/row_statistics.hpp"
#include "cuda/runtime/launch.hpp"
#include "rig/kernels/list.hpp"

namespace rig::on_cuda {

/// Shared memory that a block may have without being asked.
constexpr std::size_t most_shared_bytes = 48 * 1024;
/// A block: reddit-like, forward, k = 32: 4.90 ms, of 8 warps 4.94 (docs/lab/maxk.md, *).
constexpr unsigned most_warps = 4;

/// A launch shape: of `maxk` V, L and how C is written; of `maxk_backward` E, as v, and L, by
/// panels also whether B is packed, as plain, and whether sums are added by atomics; of
/// `maxk_combine` V and L.
struct kept_shape {
  int v, l;
  bool indices_8, has_flags, plain, whole, adds;
};
int number_of(const kept_shape& s);
kept_shape shape_of(int number);

/// The name of a kernel with the arguments that all begin with: semiring, B's type, that of
/// indices.
std::string kept_expression(const char* kernel, int shape, const std::string& semiring,
                            const std::string& b_type);
const char* in_words(bool x);

/// Lanes that so many packs keep busy, a power of two. At least 8 where a warp has a set of sums a
/// team: four sets at most.
int lanes_for(int packs, int least = 8);

/// Blocks of the grid's y that take L · V of so many places each.
index tiles_of(int places, const kept_shape& s);

/// Parts of rows, `tiles` times over, by warps.
dim3 grid_for(const arguments& args, unsigned warps, index tiles);

/// Orders and cuts rows as `split` does, with room for the sums of pieces, `bytes` each, to be kept
/// until the launch.
buffer cut_rows(const problem& p, std::size_t bytes, index tiles, arguments& args);

/// `maxk_backward` by panels, in maxk_panels.cu: does it pay, does it add by atomics, and its
/// launch, which is false, with nothing done, where the sums do not fit.
bool takes_panels(const problem& p);
bool adds_by_atomics(const problem& p);
bool run_by_panels(const problem& p);

/// An answer of all places, with an estimate; or that no kernel can be had.
answer kept_answer(answer out, const problem& p);

}  // namespace rig::on_cuda
