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

/// V, L and how C is written: template arguments of `maxk`.
struct forward_plan {
  int values, lanes;
  bool has_flags, plain, whole = false;
};
forward_plan plan_forward(const problem& p) {
  const int k = p.b.k;
  const std::size_t index_bytes = p.b.indices_8 ? 1 : 2;
  const auto is_legal = [&](const tuning_row& row) {
    const auto many = static_cast<std::size_t>(row[setting::values]);
    return k % row[setting::values] == 0 && many * p.b.value_bytes <= 16 &&
           is_packed(p.b.data, k, p.b.value_bytes, many * p.b.value_bytes) &&
           is_packed(p.b.indices, k, index_bytes, many * index_bytes);
  };
  product_facts facts;
  facts[fact::k] = k;
  const int values = current_table().find(section::maxk, facts, is_legal)[setting::values];
  return {values, lanes_for(k / values), p.algebra->needs_presence_flags(p), is_plain(p)};
}

/// Bytes of shared memory that a warp holds per column.
std::size_t column_bytes(const problem& p, const forward_plan& plan) {
  return static_cast<std::size_t>(32 / plan.lanes) *
         (p.algebra->accum_bytes + (plan.has_flags ? 1 : 0));
}

bool writes_vectors(const problem& p, const arguments& args) {
  const std::size_t width = 16 / p.algebra->accum_bytes;
  return width > 0 && static_cast<std::size_t>(p.b.columns) % width == 0 &&
         is_packed(args.c, args.c_stride, p.c.value_bytes, width * p.c.value_bytes);
}

void forward(const problem& p, workspace& work) {
  arguments args = arguments_of(p);
  const buffer values = ordered_values(p, args);
  forward_plan plan = plan_forward(p);
  const index all = (p.b.columns + tile_unit - 1) / tile_unit * tile_unit;
  // Every tile reads all of A and B again, so fewer subwarps are better than more tiles.
  while (plan.lanes < 32 &&
         static_cast<std::size_t>(all) * column_bytes(p, plan) > most_shared_bytes)
    plan.lanes *= 2;
  args.k = p.b.k;
  args.kept = p.b.indices;
  const std::size_t per_column = column_bytes(p, plan);
  const auto most = static_cast<index>(most_shared_bytes / per_column) / tile_unit * tile_unit;
  args.tile = all < most ? all : most;
  const index tiles = (p.b.columns + args.tile - 1) / args.tile;
  plan.whole = tiles == 1 && args.k <= plan.values * plan.lanes;
  const std::size_t per_warp = static_cast<std::size_t>(args.tile) * per_column;
  unsigned warps = most_warps;
  while (warps * per_warp > most_shared_bytes) warps /= 2;
  args.c_packed = writes_vectors(p, args);
  const void* const kernel =
      kernel_for(p, {"maxk",
                     "cuda/maxk/maxk.cuh",
                     {template_argument::index_of(p.b.indices_8), plan.values, plan.lanes,
                      plan.has_flags, plan.plain, plan.whole}});
  const buffer sums =
      cut_rows(p, static_cast<std::size_t>(p.b.columns) * (p.algebra->accum_bytes + plan.has_flags),
               tiles, args, work);
  launch(p, "maxk", kernel, grid_for(args, warps, tiles), 32 * warps, args, warps * per_warp);
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
void maxk_run(const problem& p, workspace& work) { run_with_cbsr(p, work, forward); }

}  // namespace rig::on_cuda
