// maxk: its answer and its launches. maxk.cuh holds the kernel.

#include "cuda/families.hpp"
#include "cuda/maxk/kept.hpp"
#include "cuda/maxk/maxk.cuh"
#include "cuda/runtime/launch.hpp"

namespace rig::on_cuda {
namespace {

constexpr std::size_t most_accum_bytes = 64;
/// A tile's width is a multiple of this, so tiles begin on packs of C.
constexpr index tile_unit = 128;

std::string forward_expression(int shape, const std::string& semiring, const std::string& b_type) {
  const kept_shape s = shape_of(shape);
  return kept_expression("maxk", shape, semiring, b_type) + std::to_string(s.v) + ", " +
         std::to_string(s.l) + ", " + in_words(s.has_flags) + ", " + in_words(s.plain) + ", " +
         in_words(s.whole) + ">";
}
/// Wide vector loads win as long as they leave most lanes of a subwarp busy; otherwise narrower
/// loads on more lanes do (docs/lab/maxk.md).
kept_shape forward_shape(const problem& p) {
  const int k = p.b.k;
  const std::size_t index_bytes = p.b.indices_8 ? 1 : 2;
  const auto in_packs = [&](int v) {
    const auto many = static_cast<std::size_t>(v);
    return k % v == 0 && many * p.b.value_bytes <= 16 &&
           is_packed(p.b.data, k, p.b.value_bytes, many * p.b.value_bytes) &&
           is_packed(p.b.indices, k, index_bytes, many * index_bytes);
  };
  kept_shape s;
  s.v = k >= 32 && in_packs(4) ? 4 : k >= 16 && in_packs(2) ? 2 : 1;
  s.l = lanes_for(k / s.v);
  s.indices_8 = p.b.indices_8;
  s.plain = is_plain(p);
  s.has_flags = p.algebra->needs_presence_flags(p);
  return s;
}

/// Bytes of shared memory that a warp holds per column.
std::size_t column_bytes(const problem& p, const kept_shape& s) {
  return static_cast<std::size_t>(32 / s.l) * (p.algebra->accum_bytes + (s.has_flags ? 1 : 0));
}

void forward(const problem& p) {
  arguments args = arguments_of(p);
  const buffer values = ordered_values(p, args);
  kept_shape s = forward_shape(p);
  const index all = (p.b.columns + tile_unit - 1) / tile_unit * tile_unit;
  // Every tile reads all of A and B again, so fewer subwarps are better than more tiles.
  while (s.l < 32 && static_cast<std::size_t>(all) * column_bytes(p, s) > most_shared_bytes)
    s.l *= 2;
  args.k = p.b.k;
  args.kept = p.b.indices;
  const std::size_t a_column = column_bytes(p, s);
  const auto most = static_cast<index>(most_shared_bytes / a_column) / tile_unit * tile_unit;
  args.tile = all < most ? all : most;
  const index tiles = (p.b.columns + args.tile - 1) / args.tile;
  s.whole = tiles == 1 && args.k <= s.v * s.l;
  const std::size_t a_warp = static_cast<std::size_t>(args.tile) * a_column;
  unsigned warps = most_warps;
  while (warps * a_warp > most_shared_bytes) warps /= 2;
  const std::size_t width = 16 / p.algebra->accum_bytes;
  args.c_packed = width > 0 && static_cast<std::size_t>(p.b.columns) % width == 0 &&
                  is_packed(args.c, args.c_stride, p.c.value_bytes, width * p.c.value_bytes);
  const void* const kernel =
      kernel_for(p, {"maxk", "cuda/maxk/maxk.cuh", number_of(s), 0, forward_expression, nullptr});
  const buffer sums =
      cut_rows(p, static_cast<std::size_t>(p.b.columns) * (p.algebra->accum_bytes + s.has_flags),
               tiles, args);
  launch(p, "maxk", kernel, grid_for(args, warps, tiles), 32 * warps, args, warps * a_warp);
}

}  // namespace

answer maxk_answer(const problem& p) {
  answer out = kept_answer(rig::maxk_answer(p), p);
  if (out.says != verdict::cannot && p.algebra->accum_bytes > most_accum_bytes) {
    out.says = verdict::cannot;
    if (p.reasons)
      out.reason = "a sum has " + std::to_string(p.algebra->accum_bytes) +
                   " bytes, and shared memory is for sums of at most " +
                   std::to_string(most_accum_bytes);
  }
  return out;
}
void maxk_run(const problem& p) { run_with_cbsr(p, forward); }

}  // namespace rig::on_cuda
