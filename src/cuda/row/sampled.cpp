// bucket, fastrand, adaptive: a row longer than the width contributes a sample, through `row`'s
// kernel.
//
// For inference on graphs of long rows, where a known loss buys time: work and bytes fall to the
// share of entries staged. Registers compute entries from slots, by one multiplication and a
// remainder without division, and lanes shuffle them. Nothing is staged in shared memory, so every
// width runs. Samples longer than the split length come in segments, as in `split`. If no row is
// longer than the width, the exact kernels run. Without atomics on floats: reproducible. O(min(nnz,
// rows · width) · F) work, the scratch of `split`. Source: bucket and fastrand, Lin, Luo and Ceze,
// ES-SpMM, 2021; adaptive, AES-SpMM, 2025. Measured: suite sampled.

#include "cuda/families.hpp"
#include "cuda/tuning/plan.hpp"

namespace rig::on_cuda {
namespace {

bool is_split(const problem& p, const row_statistics& statistics) {
  return p.desc->width >= statistics.split_length;
}

/// Rows whose samples fill the width are equally long, so an order by length gains nothing.
bool is_ordered(const problem& p, const row_statistics& statistics) {
  return p.desc->width > statistics.mean_length;
}

}  // namespace

answer sampled_answer(sampling how, const problem& p) {
  answer out = sampling_answer(how, p);
  if (out.says == verdict::cannot) return out;
  if (cannot(out, p, no_kernel_because(p))) return out;
  problem staged = p;
  const int64 most = static_cast<int64>(p.a.rows) * p.desc->width;
  if (staged.a.nnz > most) staged.a.nnz = most;
  out.seconds = estimate(staged);
  if (!p.reasons) return out;
  out.plan = plan_in_words(p, how);
  const row_statistics& statistics = statistics_of(p);
  if (is_split(p, statistics)) out.plan += segments_in_words(p);
  if (is_ordered(p, statistics)) out.plan += order_in_words(p);
  return out;
}

void sampled_run(sampling how, const problem& p, workspace& work) {
  const row_statistics& statistics = statistics_of(p);
  // No row is sampled, so the result is the exact product, to the bit. An exact kernel exists,
  // because `row` serves every problem that samples serve.
  if (statistics.longest <= p.desc->width) return cheapest_kernel(p)->run(p, work);
  const row_lists& lists = lists_of(*p.oriented, work);
  row_pass pass = {.samples = how};
  if (is_ordered(p, statistics)) pass.order = order_of(p, lists);
  if (is_split(p, statistics)) pass.split_rows = &lists;
  run_row(p, pass, work);
}

}  // namespace rig::on_cuda
