// maxk: its answer and its launches. maxk.cuh holds the kernel.

#include "cuda/families.hpp"
#include "cuda/maxk/maxk.cuh"
#include "cuda/maxk/top_k.hpp"

namespace rig::on_cuda {
namespace {

constexpr std::size_t most_accum_bytes = 64;
/// A tile's width is a multiple of this, so tiles begin on vectors of C.
constexpr index tile_unit = 128;

product_facts facts_of(const problem& p) {
  product_facts out;
  out[fact::k] = p.b.k;
  return out;
}

struct forward_plan {
  int values, lanes;  ///< V and TileLanes of `maxk`
  bool has_flags, plain;
  bool whole = false;  ///< one tile, and one load per lane and entry of A
  index tile = 0, tiles = 0;
  unsigned warps = most_warps;
  std::size_t shared = 0;  ///< bytes per block
};

/// The row with the first number of retained values per load that divides k and begins on vectors.
const tuning_row& row_for(const problem& p, const product_facts& facts) {
  const int k = p.b.k;
  const std::size_t index_bytes = p.b.indices_8 ? 1 : 2;
  const auto is_legal = [&](const tuning_row& row) {
    const auto many = static_cast<std::size_t>(row[setting::values]);
    return k % row[setting::values] == 0 && many * p.b.value_bytes <= 16 &&
           is_aligned(p.b.data, k, p.b.value_bytes, many * p.b.value_bytes) &&
           is_aligned(p.b.indices, k, index_bytes, many * index_bytes);
  };
  return current_table().find(section::maxk, facts, is_legal);
}

/// Bytes of shared memory that a warp holds per column.
std::size_t column_bytes(const problem& p, const forward_plan& plan) {
  return static_cast<std::size_t>(32 / plan.lanes) *
         (p.algebra->accum_bytes + (plan.has_flags ? 1 : 0));
}

forward_plan plan_of(const problem& p, const product_facts& facts) {
  const int k = p.b.k, values = row_for(p, facts)[setting::values];
  forward_plan out = {values, lanes_for(k / values), p.algebra->needs_presence_flags(p),
                      is_plain(p)};
  const index all = (p.b.columns + tile_unit - 1) / tile_unit * tile_unit;
  // Every tile reads all of A and B again, so fewer subwarps are better than more tiles.
  while (out.lanes < 32 && static_cast<std::size_t>(all) * column_bytes(p, out) > most_shared_bytes)
    out.lanes *= 2;
  const std::size_t per_column = column_bytes(p, out);
  const auto most = static_cast<index>(most_shared_bytes / per_column) / tile_unit * tile_unit;
  out.tile = all < most ? all : most;
  out.tiles = (p.b.columns + out.tile - 1) / out.tile;
  out.whole = out.tiles == 1 && k <= out.values * out.lanes;
  const std::size_t per_warp = static_cast<std::size_t>(out.tile) * per_column;
  while (out.warps * per_warp > most_shared_bytes) out.warps /= 2;
  out.shared = out.warps * per_warp;
  return out;
}

bool writes_vectors(const problem& p, const arguments& args) {
  const std::size_t width = 16 / p.algebra->accum_bytes;
  return width > 0 && static_cast<std::size_t>(p.b.columns) % width == 0 &&
         is_aligned(args.c, args.c_stride, p.c.value_bytes, width * p.c.value_bytes);
}

/// Sets the retained numbers of B in `args`, and the tiles of C.
void set_retained(const problem& p, const forward_plan& plan, arguments& args) {
  args.k = p.b.k;
  args.retained_columns = p.b.indices;
  args.tile = plan.tile;
  args.c_in_vectors = writes_vectors(p, args);
}

void launch_forward(const problem& p, const forward_plan& plan, arguments& args, workspace& work) {
  const device_kernel kernel =
      kernel_for(key_of(p), {"maxk",
                             "cuda/maxk/maxk.cuh",
                             {template_argument::index_of(p.b.indices_8), plan.values, plan.lanes,
                              plan.has_flags, plan.plain, plan.whole}});
  const std::size_t place_bytes = p.algebra->accum_bytes + plan.has_flags;
  const buffer sums =
      split_rows(p, static_cast<std::size_t>(p.b.columns) * place_bytes, plan.tiles, args, work);
  launch(stream_of(p), kernel, grid_for(args, plan.warps, plan.tiles), 32 * plan.warps, &args,
         plan.shared);
}

void run_forward(const problem& p, workspace& work) {
  const product_facts facts = facts_of(p);
  const forward_plan plan = plan_of(p, facts);
  arguments args = arguments_of(p);
  const buffer values = ordered_values(p, args);
  set_retained(p, plan, args);
  launch_forward(p, plan, args, work);
}

}  // namespace

answer maxk_answer(const problem& p) {
  answer out = top_k_answer(rig::maxk_answer(p), p);
  if (out.says != verdict::cannot && p.algebra->accum_bytes > most_accum_bytes) {
    out.says = verdict::cannot;
    if (p.reasons)
      out.reason = "a sum has " + std::to_string(p.algebra->accum_bytes) +
                   " bytes, and shared memory is for sums of at most " +
                   std::to_string(most_accum_bytes);
  }
  if (p.reasons && out.says != verdict::cannot && p.b.k > 0)
    out.plan = in_words(row_for(p, facts_of(p)));
  return out;
}
void maxk_run(const problem& p, workspace& work) { run_with_cbsr(p, work, run_forward); }

}  // namespace rig::on_cuda
