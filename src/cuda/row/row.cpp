// Launches of `row`. row.cuh has the kernel; cuda/tuning/ has the plans.

#include <algorithm>

#include "cuda/families.hpp"
#include "cuda/tuning/plan.hpp"

namespace rig::on_cuda {
namespace {

/// The columns of a tile.
int tile_of(const launch_plan& plan) { return plan.vector * plan.tile_lanes * plan.coarsening; }

/// A temporary copy of B whose rows begin on vectors.
buffer padded_b(const problem& p, arguments& args) {
  const int64 bytes = static_cast<int64>(p.b.value_bytes),
              stride = padded_columns(p.b.columns, p.b.value_bytes);
  buffer padded = buffer::temporary(static_cast<std::size_t>(p.b.rows * stride * bytes), p.a.where,
                                    p.desc->stream);
  pad_rows(p.b, padded.data(), stride, stream_of(p).stream);
  args.b = padded.data();
  args.b_row_bytes = row_bytes(stride, p.b.value_bytes);
  return padded;
}

/// A temporary copy of B in tiles.
buffer tiled_b(const problem& p, arguments& args, const launch_plan& plan) {
  const int64 bytes = static_cast<int64>(p.b.value_bytes), rows = p.b.rows;
  const int tile = tile_of(plan);
  const int64 in_tiles = p.b.columns / tile * tile;
  buffer tiles = buffer::temporary(static_cast<std::size_t>(rows * (in_tiles + plan.rest) * bytes),
                                   p.a.where, p.desc->stream);
  tile_rows(p.b, tiles.data(), tile, plan.rest, stream_of(p).stream);
  args.b = tiles.data();
  args.b_row_bytes = row_bytes(tile, p.b.value_bytes);
  args.b_tile_bytes = (rows - 1) * tile * bytes;
  args.b_rest = tiles.data<char>() + (rows - 1) * in_tiles * bytes;
  args.b_rest_row_bytes = row_bytes(plan.rest, p.b.value_bytes);
  return tiles;
}

/// Puts B in the plan's layout. The buffer must live until the launch.
buffer lay_out_b(const problem& p, arguments& args, const launch_plan& plan) {
  if (plan.layout == b_layout::padded) return padded_b(p, args);
  if (plan.layout == b_layout::tiled) return tiled_b(p, args, plan);
  return {};
}

/// Returns whether C, and an indexed result's indices, can be written in the plan's vectors.
bool writes_vectors(const problem& p, const arguments& args, const launch_plan& plan) {
  const auto width = static_cast<std::size_t>(plan.vector);
  return p.b.columns % plan.vector == 0 &&
         is_aligned(args.c, args.c_stride, p.c.value_bytes, width * p.c.value_bytes) &&
         (args.indices == nullptr || is_aligned(args.indices, args.indices_stride, 4, 4 * width));
}

/// The number of tiles of columns. The last tile of a tiled copy takes the columns beyond it too.
int64 tiles_of(const problem& p, const launch_plan& plan) {
  const int tile = tile_of(plan);
  return plan.layout == b_layout::tiled ? p.b.columns / tile
                                        : (int64{p.b.columns} + tile - 1) / tile;
}

dim3 grid_of(const arguments& args, int64 tiles, const launch_plan& plan) {
  const int64 groups = row_threads / plan.row_lanes, segments = args.segment_count;
  const int64 blocks = segments + (args.rows + groups - 1) / groups;
  return {static_cast<unsigned>(blocks),
          static_cast<unsigned>(tiles < most_tiles ? tiles : most_tiles),
          static_cast<unsigned>((tiles + most_tiles - 1) / most_tiles)};
}

arguments arguments_for(const problem& p, const row_pass& pass) {
  arguments out = arguments_of(p);
  out.order = pass.order;
  if (pass.samples == sampling::whole) return out;
  out.samples = pass.samples;
  out.width = p.desc->width;
  out.rescales = p.desc->rescale;
  return out;
}

void launch_row(const problem& p, const launch_plan& plan, const row_lists* split_rows,
                arguments args, workspace& work) {
  const buffer b = lay_out_b(p, args, plan);
  args.c_in_vectors = writes_vectors(p, args, plan);
  const device_kernel kernel = kernel_for(key_of(p), request_of(plan));
  const int64 tiles = tiles_of(p, plan);
  buffer sums;
  if (split_rows != nullptr)
    sums = split_into_segments(stream_of(p), *split_rows, *split_rows,
                               static_cast<std::size_t>(p.b.columns) * p.algebra->accum_bytes,
                               tiles, args, work);
  launch(stream_of(p), kernel, grid_of(args, tiles, plan), row_threads, &args);
}

/// Columns first … last of B and of the result.
problem columns_of(const problem& p, index first, index last) {
  problem out = p;
  for (dense_operand* const of : {&out.b, &out.c, &out.indices}) {
    of->data = static_cast<char*>(of->data) + static_cast<std::size_t>(first) * of->value_bytes;
    of->columns = last - first;
  }
  out.planned_first += first;
  return out;
}

/// The plan that sums the columns beyond tiles in the order of a tiled copy.
launch_plan plan_of_rest(launch_plan plan) {
  plan.vector = plan.rest;
  plan.tile_lanes = plan.coarsening = 1;
  plan.unroll = rest_unroll;
  return plan;
}

/// Launches for some columns of a wider product, in the order of its sums. The plan is that of the
/// wider product, and the slice may begin within a vector, a tile, or beyond the tiles.
void launch_slice(const problem& p, launch_plan plan, const row_lists* split_rows,
                  const arguments& args, workspace& work) {
  if (p.b.columns == 0) return;
  if (plan.layout == b_layout::tiled) {
    const int tile = tile_of(plan);
    const index in_tiles = p.planned_columns / tile * tile - p.planned_first,
                cut = std::clamp(in_tiles, 0, p.b.columns);
    launch_plan of_rest = plan_of_rest(plan);
    plan.layout = of_rest.layout = b_layout::in_place;
    plan.rest = of_rest.rest = 0;
    launch_slice(columns_of(p, 0, cut), plan, split_rows, args, work);
    return launch_slice(columns_of(p, cut, p.b.columns), of_rest, split_rows, args, work);
  }
  // Lanes beyond the columns would be idle; with fewer columns each, more of them work.
  if (no_compiler_because() == nullptr)
    while (plan.vector > 1 && p.b.columns <= tile_of(plan) / 2) plan.vector /= 2;
  const bool has_vectors = p.b.columns % plan.vector == 0 &&
                           is_aligned(p.b.data, p.b.stride, p.b.value_bytes,
                                      static_cast<std::size_t>(plan.vector) * p.b.value_bytes);
  const bool needs_copy = plan.vector > 1 && !has_vectors && !p.algebra->ignores_right;
  plan.layout = needs_copy ? b_layout::padded : b_layout::in_place;
  arguments of_slice = args;
  of_slice.columns = p.b.columns;
  of_slice.b = p.b.data;
  of_slice.c = p.c.data;
  of_slice.indices = static_cast<int32*>(p.indices.data);
  launch_row(p, plan, split_rows, of_slice, work);
}

}  // namespace

kernel_request request_of(const launch_plan& plan) {
  kernel_request out = {"row",
                        "cuda/row/row.cuh",
                        {plan.vector, plan.tile_lanes, plan.row_lanes, plan.unroll, plan.coarsening,
                         plan.plain, plan.entries}};
  if (plan.rest > 0) out.arguments.add(plan.rest);
  return out;
}

bool must_order_values(const problem& p) {
  return !p.algebra->ignores_left && p.a.values != nullptr &&
         (p.a.permutation != nullptr || p.a.value_type != p.algebra->left);
}

bool has_aligned_values(const problem& p) {
  return must_order_values(p) || is_aligned(p.a.values, 0, 1);
}

buffer ordered_values(const problem& p, arguments& args) {
  if (!must_order_values(p)) return {};
  buffer taken = buffer::temporary(static_cast<std::size_t>(p.a.nnz) * p.algebra->left_bytes,
                                   p.a.where, p.desc->stream);
  arguments conversion = args;
  conversion.c = taken.data();
  constexpr int64 each = row_threads * values_in_flight;
  const int64 blocks = (p.a.nnz + each - 1) / each;
  const device_kernel kernel = kernel_for(
      key_of(p), {.name = "permute_values", .file = "cuda/row/row.cuh", .reads_b = false});
  launch(stream_of(p), kernel, dim3(static_cast<unsigned>(blocks < 65536 ? blocks : 65536)),
         row_threads, &conversion);
  args.permutation = nullptr;
  args.a_values = taken.data();
  return taken;
}

void run_row(const problem& p, const row_pass& pass, workspace& work) {
  const launch_plan plan = plan_of(facts_of(p, pass.samples));
  arguments args = arguments_for(p, pass);
  const buffer values = ordered_values(p, args);
  if (p.planned_columns > 0) return launch_slice(p, plan, pass.split_rows, args, work);
  launch_row(p, plan, pass.split_rows, args, work);
}

index tile_columns(const problem& p) {
  const launch_plan plan = plan_of(facts_of(p, sampling::whole));
  return plan.layout == b_layout::in_place ? tile_of(plan) : 0;
}

answer row_answer(const problem& p) {
  answer out;
  if (cannot(out, p, no_kernel_because(p))) return out;
  const row_statistics& statistics = statistics_of(p);
  const double even = estimate(p);
  out.seconds = even + lone_row_seconds(statistics.longest);
  if (p.reasons) out.plan = plan_in_words(p, sampling::whole);
  if (split_helps(p, statistics)) {
    out.says = verdict::slower;
    out.seconds += even * statistics.imbalance;  // lanes wait for the longest row of their warp
    if (p.reasons)
      out.reason = "the longest of " + std::to_string(p.a.rows) + " rows has " +
                   std::to_string(statistics.longest) + " entries, the mean is " +
                   std::to_string(static_cast<int64>(statistics.mean_length));
  }
  return out;
}

void row_run(const problem& p, workspace& work) { run_row(p, {}, work); }

}  // namespace rig::on_cuda
