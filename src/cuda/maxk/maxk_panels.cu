// The launches of `maxk_backward` by panels. maxk_panels.cuh holds the kernels.

#include <algorithm>
#include <cstring>
#include <vector>

#include "cuda/analysis/row_panels.hpp"
#include "cuda/families.hpp"
#include "cuda/maxk/maxk_panels.cuh"
#include "cuda/maxk/top_k.hpp"

namespace rig::on_cuda {
namespace {

/// The least number of lanes that take a row of C: RowLanes of `maxk_combine`.
constexpr int least_combining = 8;

/// Bytes of the rows of B that a block holds.
std::size_t panel_bytes(const problem& p) {
  return p.algebra->ignores_right
             ? 0
             : panel_rows * static_cast<std::size_t>(p.b.columns) * p.b.value_bytes;
}

product_facts facts_of(const problem& p) {
  product_facts out;
  out[fact::k] = p.c.k;
  out[fact::atomics] = adds_by_atomics(p);
  return out;
}

/// Places of C per lane: as the table has it, or fewer if rows of C and of its indices do not begin
/// and end on such vectors. A vector reduction adds four floats at once.
int places_per_lane(const problem& p, const product_facts& facts) {
  const int k = p.c.k;
  if (adds_by_atomics(p) && !is_aligned(p.c.data, k, sizeof(float))) return 1;
  const auto index_bytes = static_cast<std::size_t>(p.c.indices_8 ? 1 : 2);
  int values = current_table().find(section::maxk_panels, facts)[setting::values];
  if (!p.c.indices_8) values = std::min(values, 4);
  while (values > 1 &&
         (k % values != 0 ||
          !is_aligned(p.c.indices, k, index_bytes, static_cast<std::size_t>(values) * index_bytes)))
    values /= 2;
  return values;
}

/// Whether atomics can add into C itself: C holds floats, and absent places are 0, the value that
/// all sums begin with.
bool can_add_in_place(const problem& p) {
  static constexpr float nothing = 0;
  if (p.c.value_type != type::float32 || p.algebra->has_finish) return false;
  any_value fill = {};
  p.algebra->fill(p, fill.bytes);
  return std::memcmp(fill.bytes, &nothing, sizeof(nothing)) == 0;
}

struct panels_plan {
  int values, lanes;  ///< E and TileLanes of `maxk_backward_panels`
  bool in_vectors;    ///< rows of B are read in vectors
  bool adds;          ///< by atomics
  bool in_place;      ///< into C itself
};
panels_plan plan_of(const problem& p, const product_facts& facts) {
  const int values = places_per_lane(p, facts);
  const bool adds = adds_by_atomics(p);
  const bool in_vectors = static_cast<std::size_t>(p.b.columns) * p.b.value_bytes % 16 == 0 &&
                          is_aligned(p.b.data, p.b.stride, p.b.value_bytes);
  return {values, lanes_for((p.c.k + values - 1) / values, 2), in_vectors, adds,
          adds && can_add_in_place(p)};
}

/// Percent of L1 to use as shared memory: two blocks per multiprocessor; the rest goes to L1, which
/// holds A's values and C's columns.
int shared_percent(const problem& p) {
  const int device = p.a.where.device,
            all = attribute_of(device, cudaDevAttrMaxSharedMemoryPerMultiprocessor),
            of_a_block = static_cast<int>(panel_bytes(p)) +
                         attribute_of(device, cudaDevAttrReservedSharedMemoryPerBlock);
  return std::min(100, (200 * of_a_block + all - 1) / all);
}

/// Whether the sums of the segments take at most an eighth of the device's memory. On an H200 the
/// sums of products-like at k = 64 still fit (docs/lab/maxk.md).
bool sums_fit(const problem& p, const row_panels& of) {
  // Never destroyed: a product may run while the process ends.
  static const auto& devices = *new const std::vector<device_info>(list_devices());
  constexpr std::size_t share = 8;
  const auto memory =
      static_cast<std::size_t>(std::ranges::find(devices, p.a.where, &device_info::where)->memory);
  const std::size_t sums = static_cast<std::size_t>(of.segment_count) *
                           static_cast<std::size_t>(p.c.k) * p.algebra->accum_bytes;
  return adds_by_atomics(p) || sums <= memory / share;
}

/// The problem with A in its stored order: its values need no permutation, and its rows are the
/// rows of B.
problem in_stored_order(const problem& p) {
  problem out = p;
  out.a.rows = p.a.columns;
  out.a.columns = p.a.rows;
  out.a.offsets = p.structure->offsets();
  out.a.entries = p.structure->column_indices();
  out.a.permutation = nullptr;
  out.oriented = p.structure;
  out.statistics = nullptr;
  return out;
}

/// Sets the retained places of C in `args`, and the panels.
void set_panels(const problem& p, const row_panels& of, arguments& args) {
  args.k = p.c.k;
  args.retained_columns = p.c.indices;
  args.units = of.units;
  args.panel_segments = of.segments;
  args.words = of.words;
}

/// Launches `maxk_combine` over `sums`: one per segment, or one per row.
void combine(const problem& p, const row_panels& of, void* sums, workspace& work) {
  const int k = p.c.k;
  arguments args = arguments_of(p);
  args.k = args.columns = k;
  args.segment_sums = sums;
  if (!adds_by_atomics(p)) {
    args.first_place = of.first_place;
    const row_lists& lists = lists_of(*p.oriented, work);
    args.order = order_of(p, lists);
    set_segments(lists, args);
  }
  const int values = p.algebra->accum_bytes == 4 && k % 4 == 0 ? 4 : 1,
            lanes = lanes_for((k + values - 1) / values, 2),
            row_lanes = std::max(lanes, least_combining);
  const device_kernel kernel = kernel_for(key_of(p), {.name = "maxk_combine",
                                                      .file = "cuda/maxk/maxk_panels.cuh",
                                                      .arguments = {values, lanes, row_lanes},
                                                      .reads_b = false});
  const int64 groups = combine_threads / row_lanes;
  const int64 blocks = args.split_count + (p.a.rows + groups - 1) / groups;
  launch(stream_of(p), kernel,
         dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(tiles_of(k, lanes, values))),
         combine_threads, &args);
}

void launch_panels(const problem& p, const row_panels& of, const panels_plan& plan, arguments& args,
                   workspace& work) {
  const device_kernel add =
      kernel_for(key_of(p), {.name = "maxk_backward_panels",
                             .file = "cuda/maxk/maxk_panels.cuh",
                             .arguments = {template_argument::index_of(p.c.indices_8), plan.lanes,
                                           plan.values, plan.in_vectors, plan.adds},
                             .most_shared = shared_room(p.a.where.device)});
  const std::size_t places = static_cast<std::size_t>(plan.adds ? p.a.rows : of.segment_count) *
                             static_cast<std::size_t>(p.c.k);
  buffer sums;
  if (!plan.in_place)
    sums = buffer::temporary(places * p.algebra->accum_bytes, p.a.where, p.desc->stream);
  args.c = plan.in_place ? p.c.data : sums.data();
  args.segment_sums = sums.data();
  const launch_stream on = stream_of(p);
  if (plan.adds) check(cudaMemsetAsync(args.c, 0, places * sizeof(float), on.stream), add.name);
  check(cudaFuncSetAttribute(add.handle, cudaFuncAttributePreferredSharedMemoryCarveout,
                             shared_percent(p)),
        add.name);
  if (of.unit_count > 0)
    launch(on, add,
           dim3(static_cast<unsigned>(of.unit_count),
                static_cast<unsigned>(tiles_of(p.c.k, plan.lanes, plan.values))),
           panel_threads, &args, panel_bytes(p));
  if (!plan.in_place) combine(p, of, sums.data(), work);
}

void backward_by_panels(const problem& p, const row_panels& of, workspace& work) {
  const product_facts facts = facts_of(p);
  const panels_plan plan = plan_of(p, facts);
  const problem stored = in_stored_order(p);
  arguments args = arguments_of(stored);
  const buffer values = ordered_values(stored, args);
  set_panels(p, of, args);
  launch_panels(p, of, plan, args, work);
}

}  // namespace

bool adds_by_atomics(const problem& p) {
  return !p.desc->reproducible && p.algebra->linear_in_floats;
}

bool can_take_panels(const problem& p) {
  return p.desc->transpose_a && p.algebra->accum_bytes <= 8 && p.algebra->right != type::other &&
         panel_bytes(p) <= shared_room(p.a.where.device) && row_panels::serves(*p.structure);
}

bool run_by_panels(const problem& p, workspace& work) {
  const auto of = p.structure->derived_of<row_panels>();
  if (!of->fits || !sums_fit(p, *of)) return false;
  work.panels = of;
  backward_by_panels(p, *of, work);
  return true;
}

void maxk_backward_prepare(const pattern& stored, const pattern& oriented) {
  if (&stored != &oriented && row_panels::serves(stored)) stored.derived_of<row_panels>();
}

}  // namespace rig::on_cuda
