// split: rows longer than the split length become segments, so that no group of lanes works long.
// Short rows may go by length.
//
// Wins on skewed rows: hubs of power laws, where one group would work while the GPU waits. The
// segments run by blocks of `row`'s kernel and are combined in order: reproducible, without atomics
// on floats. Source: the idea of merge- and nnz-splitting (Merrill & Garland, SC 2016), with fixed
// segments. O(nnz · F) work; segment_count · F accumulators of scratch. Measured: suite exact.

#include "cuda/families.hpp"
#include "cuda/tuning/plan.hpp"

namespace rig::on_cuda {

answer split_answer(const problem& p) {
  answer out;
  if (cannot(out, p, no_kernel_because(p))) return out;
  const row_statistics& statistics = statistics_of(p);
  // The lists are read, and a group of lanes may sum a row of the split length alone.
  out.seconds = estimate(p) + current_table()[constant::lists_seconds] +
                lone_row_seconds(statistics.split_length);
  if (p.reasons)
    out.plan = plan_in_words(p, sampling::whole) + segments_in_words(p) + order_in_words(p);
  if (!split_helps(p, statistics)) {
    out.says = verdict::slower;
    out.seconds += lone_row_seconds(statistics.longest);
    if (p.reasons) out.reason = "rows are even, so no row is split";
  }
  return out;
}

void split_run(const problem& p, workspace& work) {
  const row_lists& lists = lists_of(*p.oriented, work);
  run_row(p, {.order = order_of(p, lists), .split_rows = &lists}, work);
}

}  // namespace rig::on_cuda
