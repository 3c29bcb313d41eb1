// maxk_backward: its answer and its launches. maxk_backward.cuh holds the kernel.

#include "cuda/families.hpp"
#include "cuda/maxk/kept.hpp"
#include "cuda/maxk/maxk_backward.cuh"
#include "cuda/runtime/launch.hpp"

namespace rig::on_cuda {
namespace {

std::string backward_expression(int shape, const std::string& semiring, const std::string& b_type) {
  const kept_shape s = shape_of(shape);
  return kept_expression("maxk_backward", shape, semiring, b_type) + std::to_string(s.l) + ", " +
         std::to_string(s.v) + ">";
}

std::string whole_expression(int shape, const std::string& semiring, const std::string& b_type) {
  return kept_expression("maxk_backward_whole", shape, semiring, b_type) +
         "static_cast<int>(16 / sizeof(" + b_type + "))>";
}

/// Whether to sum whole rows and pick the kept places at the end. This pays if rows of dY keep at
/// least half of the columns, because most sectors of B's rows are read anyway. A warp must hold
/// all columns in vector loads; in two tiles the gain disappears (docs/lab/maxk.md).
bool sums_whole_rows(const problem& p) {
  const std::size_t bytes = p.b.value_bytes, all = static_cast<std::size_t>(p.b.columns) * bytes;
  return 2 * kept_of(p) >= p.b.columns && !p.algebra->ignores_right &&
         p.algebra->right != type::other && p.algebra->accum_bytes <= 8 && bytes > 1 &&
         all % 16 == 0 && all <= 32 * 16 && is_packed(p.b.data, p.b.stride, bytes);
}

void backward_of_whole_rows(const problem& p) {
  arguments args = arguments_of(p);
  const buffer values = ordered_values(p, args);
  args.k = p.c.k;
  args.kept = p.c.indices;
  kept_shape s{};
  s.indices_8 = p.c.indices_8;
  const void* const kernel =
      kernel_for(p, {"maxk_backward, whole rows", "cuda/maxk/maxk_backward.cuh", number_of(s), 0,
                     whole_expression, nullptr});
  const buffer sums =
      cut_rows(p, static_cast<std::size_t>(p.b.columns) * p.algebra->accum_bytes, 1, args);
  launch(p, "maxk_backward, whole rows", kernel, grid_for(args, most_warps, 1), 32 * most_warps,
         args);
}

void backward_by_rows(const problem& p) {
  arguments args = arguments_of(p);
  const buffer values = ordered_values(p, args);
  const int k = p.c.k;
  kept_shape s{};
  s.l = lanes_for(k);
  s.v = k > 64 ? 4 : k > 32 ? 2 : 1;
  // Half of the columns at a time helps only under three conditions. Many rows gather the same rows
  // of B; half a row is still four cache lines; and B exceeds the L2 cache (docs/lab/maxk.md).
  const double table_bytes = static_cast<double>(p.b.rows) * p.b.columns * p.b.value_bytes;
  if (k > 16 && k == s.l * s.v && p.a.nnz >= 100 * static_cast<int64>(p.a.rows) &&
      p.b.columns * p.b.value_bytes >= 1024 && table_bytes > 60e6)
    (s.v > 1 ? s.v : s.l) /= 2;
  s.indices_8 = p.c.indices_8;
  args.k = args.columns = k;
  args.kept = p.c.indices;
  const index tiles = tiles_of(k, s);
  const void* const kernel = kernel_for(p, {"maxk_backward", "cuda/maxk/maxk_backward.cuh",
                                            number_of(s), 0, backward_expression, nullptr});
  const buffer sums =
      cut_rows(p, static_cast<std::size_t>(k) * p.algebra->accum_bytes, tiles, args);
  launch(p, "maxk_backward", kernel, grid_for(args, most_warps, tiles), 32 * most_warps, args);
}

}  // namespace

answer maxk_backward_answer(const problem& p) {
  answer out = kept_answer(rig::maxk_backward_answer(p), p);
  if (p.reasons && out.says != verdict::cannot)
    out.reason += takes_panels(p)      ? adds_by_atomics(p) ? ", by panels, added by atomics"
                                                            : ", by panels if their sums fit"
                  : sums_whole_rows(p) ? ", picked of whole sums"
                                       : "";
  return out;
}

void maxk_backward_run(const problem& p) {
  if (takes_panels(p) && p.a.rows > 0 && run_by_panels(p)) return;
  sums_whole_rows(p) ? backward_of_whole_rows(p) : backward_by_rows(p);
}

}  // namespace rig::on_cuda
