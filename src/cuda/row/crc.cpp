// crc: its answer and its launch. crc.cuh holds the kernel.

#include "cuda/families.hpp"
#include "cuda/tuning/plan.hpp"

namespace rig::on_cuda {
namespace {

/// Columns per lane, as the paper has them: one for narrow B, else as many as tiles of 32 fill.
int coarsening_for(index columns) { return columns <= 32 ? 1 : columns <= 64 ? 2 : 4; }

}  // namespace

answer crc_answer(const problem& p) {
  answer out;
  if (cannot(out, p, no_kernel_because(p))) return out;
  out.seconds = estimate(p) * current_table()[constant::crc_over_row] +
                lone_row_seconds(statistics_of(p).longest);
  out.says = verdict::slower;
  if (!p.reasons) return out;
  const int coarsening = coarsening_for(p.b.columns);
  out.plan = "coarsening=" + std::to_string(coarsening);
  out.reason = "`row` and `split` read B in vectors, and have more loads in flight";
  return out;
}

void crc_run(const problem& p, workspace&) {
  arguments args = arguments_of(p);
  const buffer values = ordered_values(p, args);
  const int coarsening = coarsening_for(p.b.columns);
  const device_kernel kernel = kernel_for(
      key_of(p),
      {.name = "crc", .file = "cuda/row/crc.cuh", .arguments = {coarsening, is_plain(p)}});
  constexpr int64 warps = row_threads / 32;
  const int64 tiles = (p.b.columns + 32 * coarsening - 1) / (32 * coarsening);
  const dim3 grid(static_cast<unsigned>((args.rows + warps - 1) / warps),
                  static_cast<unsigned>(tiles < most_tiles ? tiles : most_tiles),
                  static_cast<unsigned>((tiles + most_tiles - 1) / most_tiles));
  launch(stream_of(p), kernel, grid, row_threads, &args);
}

}  // namespace rig::on_cuda
