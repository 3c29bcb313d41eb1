// maxk_backward: its answer and its launches. maxk_backward.cuh holds the kernel.

#include "cuda/families.hpp"
#include "cuda/maxk/maxk_backward.cuh"
#include "cuda/maxk/top_k.hpp"

namespace rig::on_cuda {
namespace {

constexpr int vector_bytes = 16;

/// How the sums are made: row by row, by whole rows, or by panels of A's rows.
enum class backward_method { rows = 1, whole_rows, panels };

/// Whether whole rows can be summed: a warp must hold all columns in vector loads.
bool can_sum_whole_rows(const problem& p) {
  const std::size_t bytes = p.b.value_bytes, all = static_cast<std::size_t>(p.b.columns) * bytes;
  return !p.algebra->ignores_right && p.algebra->right != type::other &&
         p.algebra->accum_bytes <= 8 && bytes > 1 && all % vector_bytes == 0 &&
         all <= 32 * vector_bytes && is_aligned(p.b.data, p.b.stride, bytes);
}

/// The row of the first method that serves. Sums of whole rows, from which the retained places are
/// picked, pay if most sectors of B's rows are read anyway (docs/lab/maxk.md).
const tuning_row& row_for(const problem& p, const product_facts& facts,
                          bool excludes_panels = false) {
  using enum backward_method;
  const auto is_legal = [&](const tuning_row& row) {
    const auto method = static_cast<backward_method>(row[setting::method]);
    return (method != panels || (!excludes_panels && can_take_panels(p))) &&
           (method != whole_rows || can_sum_whole_rows(p));
  };
  return current_table().find(section::maxk_backward, facts, is_legal);
}

backward_method method_of(const tuning_row& row) {
  return static_cast<backward_method>(row[setting::method]);
}

/// A plan of sums row by row, or of whole rows.
struct backward_plan {
  const char* kernel;
  template_arguments arguments;
  index columns;  ///< sums per row
  index tiles = 1;
};

backward_plan plan_of_whole_rows(const problem& p) {
  const int width = vector_bytes / static_cast<int>(p.b.value_bytes);
  return {"maxk_backward_whole", {template_argument::index_of(p.c.indices_8), width}, p.b.columns};
}

backward_plan plan_of_rows(const problem& p, const product_facts& facts) {
  const int k = p.c.k;
  const tuning_row& row = current_table().find(section::maxk_backward_rows, facts);
  const int lanes = lanes_for(k) / (row[setting::halved] != 0 ? 2 : 1),
            places = row[setting::values];
  return {"maxk_backward",
          {template_argument::index_of(p.c.indices_8), lanes, places},
          k,
          tiles_of(k, lanes, places)};
}

backward_plan plan_of(const problem& p, const product_facts& facts) {
  return method_of(row_for(p, facts, true)) == backward_method::whole_rows ? plan_of_whole_rows(p)
                                                                           : plan_of_rows(p, facts);
}

/// Sets the retained places of C in `args`.
void set_retained(const problem& p, const backward_plan& plan, arguments& args) {
  args.k = p.c.k;
  args.columns = plan.columns;
  args.retained_columns = p.c.indices;
}

void launch_rows(const problem& p, const backward_plan& plan, arguments& args, workspace& work) {
  const device_kernel kernel =
      kernel_for(key_of(p), {plan.kernel, "cuda/maxk/maxk_backward.cuh", plan.arguments});
  const buffer sums = split_rows(p, static_cast<std::size_t>(plan.columns) * p.algebra->accum_bytes,
                                 plan.tiles, args, work);
  launch(stream_of(p), kernel, grid_for(args, most_warps, plan.tiles), 32 * most_warps, &args);
}

}  // namespace

answer maxk_backward_answer(const problem& p) {
  answer out = top_k_answer(rig::maxk_backward_answer(p), p);
  if (p.reasons && out.says != verdict::cannot) {
    static constexpr const char* by[] = {"", "", ", picked of whole sums",
                                         ", by panels if their sums fit"};
    const tuning_row& row = row_for(p, facts_of_top_k(p, statistics_of(p)));
    const backward_method method = method_of(row);
    out.plan = in_words(row);
    out.reason += method == backward_method::panels && adds_by_atomics(p)
                      ? ", by panels, added by atomics"
                      : by[static_cast<int>(method)];
  }
  return out;
}

void maxk_backward_run(const problem& p, workspace& work) {
  const product_facts facts = facts_of_top_k(p, statistics_of(p));
  if (method_of(row_for(p, facts)) == backward_method::panels && run_by_panels(p, work)) return;
  const backward_plan plan = plan_of(p, facts);
  arguments args = arguments_of(p);
  const buffer values = ordered_values(p, args);
  set_retained(p, plan, args);
  launch_rows(p, plan, args, work);
}

}  // namespace rig::on_cuda
