// spmv_panels: its answer and its launches. spmv_panels.cuh holds the kernel.

#include <string>

#include "cuda/analysis/column_panels.hpp"
#include "cuda/families.hpp"
#include "cuda/spmv/spmv_panels.cuh"
#include "cuda/tuning/product.hpp"
#include "cuda/tuning/table.hpp"

namespace rig::on_cuda {
namespace {

/// Vectors (of four entries) per lane and step: 1 to 4 compile. Two are a little faster than one;
/// three and four spill registers and are not measured (docs/lab/spmv.md).
constexpr int vectors_per_lane = 2;

std::size_t panel_bytes(const problem& p) {
  return p.algebra->ignores_right
             ? 0
             : static_cast<std::size_t>(column_panel_width(p.a.columns) + first_code) *
                   p.algebra->right_bytes;
}

const char* cannot_because(const problem& p) {
  if (p.b.columns != 1) return "B has more than one column";
  if (const char* why = no_kernel_because(p)) return why;
  if (p.b.value_type == type::code && !p.algebra->ignores_right)
    return "it reads numbers, and B holds 8-bit codes";
  if (p.algebra->is_positional)
    return "a vector of entries does not hold their rows, which the semiring needs";
  if (!p.algebra->ignores_right && p.algebra->right_bytes > 4)
    return "panels have room for four bytes per element of B, and the semiring takes more";
  if (p.a.offsets_64) return "panels count entries in 32 bits";
  return nullptr;
}

/// The row of the table that says whether this kernel wins, and why not. There is too little work;
/// or row segments in panels are too short to fill vectors; or the warp of one long row finishes
/// last (docs/lab/spmv.md).
const tuning_row& verdict_on(const problem& p) {
  constexpr int64 warps = 4096;
  const row_statistics& statistics = statistics_of(p);
  const int64 panels = column_panel_count(p.a.columns), share = p.a.nnz / warps;
  product_facts facts = facts_of_rows(statistics, p.a.nnz);
  facts[fact::panels] = static_cast<double>(panels);
  facts[fact::per_segment] =
      static_cast<double>(p.a.nnz) / (static_cast<double>(p.a.rows) * static_cast<double>(panels));
  facts[fact::longest_over_warp] =
      static_cast<double>(statistics.longest / panels) / static_cast<double>(share > 0 ? share : 1);
  return current_table().find(section::spmv_panels, facts);
}

/// The template arguments of `spmv_panels`: whether the elements of B are copied to shared memory
/// as they are, whether values of A are read in vectors, and whether none is read.
template_arguments arguments_of_panels(const problem& p) {
  const bool is_iso = p.algebra->ignores_left || p.a.values == nullptr || p.a.nnz < vector_entries;
  const bool is_copied = !p.algebra->ignores_right && p.b.value_type == p.algebra->right &&
                         p.algebra->right != type::other && p.b.rows > 1 && p.b.stride == 1 &&
                         is_aligned(p.b.data, 0, 1);
  return {vectors_per_lane, is_copied, !is_iso && has_aligned_values(p), is_iso};
}

/// Sets the panels in `args`.
void set_panels(const column_panels& of, arguments& args) {
  args.codes = of.codes;
  args.panel_segment_ends = of.segment_ends;
  args.panel_segment_vectors = of.segment_vectors;
  args.starts = of.starts;
  args.column_units = of.units;
  args.block_units = of.block_units;
  args.panel_count = of.panel_count;
}

void launch_panels(const problem& p, index blocks, arguments& args) {
  const char* const file = "cuda/spmv/spmv_panels.cuh";
  const kernel_key key = key_of(p);
  const device_kernel panels = kernel_for(key, {.name = "spmv_panels",
                                                .file = file,
                                                .arguments = arguments_of_panels(p),
                                                .most_shared = shared_room(p.a.where.device)});
  const device_kernel adding = kernel_for(key, {"add_panels", file, {is_plain(p)}});
  const buffer sums =
      buffer::temporary(static_cast<std::size_t>(p.a.rows) *
                            static_cast<std::size_t>(args.panel_count) * p.algebra->accum_bytes,
                        p.a.where, p.desc->stream);
  args.segment_sums = sums.data();
  const launch_stream on = stream_of(p);
  launch(on, panels, dim3(static_cast<unsigned>(blocks)), column_threads, &args, panel_bytes(p));
  launch(on, adding,
         dim3(static_cast<unsigned>((int64{p.a.rows} + adding_threads - 1) / adding_threads)),
         adding_threads, &args);
}

}  // namespace

answer spmv_panels_answer(const problem& p) {
  answer out;
  if (cannot(out, p, cannot_because(p))) return out;
  if (!column_panels::serves(p.a.offsets_64, p.a.rows, p.a.columns, p.a.nnz)) {
    cannot(out, p, "too many rows in panels of columns, to count or for so few entries: ");
    if (p.reasons)
      out.reason += std::to_string(p.a.rows) + " rows, " +
                    std::to_string(column_panel_count(p.a.columns)) + " panels, " +
                    std::to_string(p.a.nnz) + " entries";
    return out;
  }
  if (const std::size_t room = shared_room(p.a.where.device); panel_bytes(p) > room) {
    cannot(out, p, "a panel does not fit in this device's shared memory: ");
    if (p.reasons)
      out.reason += std::to_string(panel_bytes(p)) + " bytes of " + std::to_string(room);
    return out;
  }
  const tuning_table& table = current_table();
  out.seconds = table[constant::spmv_panels_over_spmv] * estimate(p);
  const tuning_row& says = verdict_on(p);
  const bool pays = says[setting::pays] != 0;
  if (p.reasons) out.plan = in_words(says);
  // Kernels compiled ahead remain available without a run-time compiler.
  if (pays && cannot(out, p, no_compiler_because())) return out;
  if (!pays) {
    out.says = verdict::slower;
    out.seconds = table[constant::spmv_panels_over_spmv_if_slower] * estimate(p) +
                  lone_row_seconds(statistics_of(p).longest);
    if (p.reasons)
      out.reason = says.reason + ": " + std::to_string(p.a.nnz) + " entries in " +
                   std::to_string(p.a.rows) + " rows of at most " +
                   std::to_string(statistics_of(p).longest) + " and " +
                   std::to_string(column_panel_count(p.a.columns)) + " panels";
  }
  return out;
}

void spmv_panels_run(const problem& p, workspace& work) {
  const auto derived = p.oriented->derived_of<column_panels>();
  work.panels = derived;
  arguments args = arguments_of(p);
  set_panels(*derived, args);
  const buffer values = ordered_values(p, args);
  launch_panels(p, derived->block_count, args);
}

void spmv_panels_prepare(const pattern&, const pattern& oriented) {
  if (column_panels::serves(oriented.offsets_64(), oriented.rows(), oriented.columns(),
                            oriented.nnz()))
    oriented.derived_of<column_panels>();
}

}  // namespace rig::on_cuda
