// hybrid: its answer and its launch. hybrid.cuh holds the kernel, and says when it wins.

#include "cuda/hybrid/hybrid.hpp"

#include <algorithm>
#include <string>

#include "cuda/families.hpp"
#include "cuda/tuning/product.hpp"

namespace rig::on_cuda {
namespace {

constexpr int part_columns = 32;
constexpr int window_warps = row_threads / 32;

/// Columns of C per warp: two parts hold more loads in flight, if B has as many columns.
int parts_of(const problem& p) { return p.b.columns > part_columns ? 2 : 1; }

int64 warps_of(const problem& p) {
  const int64 columns = int64{part_columns} * parts_of(p);
  return (int64{p.a.rows} + window_height - 1) / window_height *
         ((p.b.columns + columns - 1) / columns);
}

bool reads_no_values(const problem& p) { return p.algebra->ignores_left || p.a.values == nullptr; }

const char* cannot_because(const problem& p) {
  const semiring_info& of = *p.algebra;
  if (!of.linear_in_floats || of.right != type::float32 || of.ignores_right || of.is_positional)
    return "Tensor cores add products of floats, and this semiring is not `linear` in them";
  switch (p.b.value_type) {
    case type::half:
    case type::bfloat16:
      break;
    case type::float32:
      if (p.desc->precision == precision::tf32) break;
      return "Tensor cores round floats of B to TF32: allow it by {.precision = "
             "rig::precision::tf32}, or store B in half or bfloat16, which is exact";
    case type::code:
      if (reads_no_values(p)) break;
      return "it adds 8-bit codes exactly where all values of A are equal, and A has values; store "
             "B in half or bfloat16";
    default:
      return "Tensor cores read B in float, half, bfloat16 or 8-bit codes";
  }
  if (!windows::serves(p.a.rows, p.a.nnz)) return "A has more tiles than 32 bits can number";
  if (warps_of(p) > highest<int32>()) return "C has more parts than a grid has warps";
  if (const char* const why = no_kernel_because(p)) return why;
  return no_compiler_because();
}

const tuning_row& selector_of(const problem& p) {
  return current_table().find(section::hybrid, facts_of(p, statistics_of(p)));
}

/// Whether each row of a matrix is whole vectors of four elements.
bool is_in_fours(const void* data, int64 stride, index columns, std::size_t element_bytes) {
  return columns % 4 == 0 && is_aligned(data, stride, element_bytes, 4 * element_bytes);
}

kernel_request request_for(const problem& p) {
  const bool in_fours =
      is_in_fours(p.b.data, p.b.rows > 1 ? p.b.stride : 0, p.b.columns, p.b.value_bytes);
  return {"hybrid",
          "cuda/hybrid/hybrid.cuh",
          {in_fours ? 4 : 1, parts_of(p), reads_no_values(p), is_plain(p)}};
}

std::string in_words(const problem& p, const tuning_row& selector) {
  const char* const numbers = p.b.value_type == type::float32 ? "precision=tf32" : "exact terms";
  return std::string(numbers) + ", " + on_cuda::in_words(selector);
}

}  // namespace

window_fit fit_of(const tuning_row& row) {
  constexpr float unit = 1e-3f;
  return {unit * static_cast<float>(row[setting::bias]),
          unit * static_cast<float>(row[setting::per_column]),
          unit * static_cast<float>(row[setting::per_density])};
}

double hybrid_over_row(const windows& of, const window_fit& fit, int64 nnz, double imbalance) {
  if (nnz == 0) return 1;
  const tuning_table& table = current_table();
  // The loop over the rows of a sparse window has fewer warps in flight than `row`.
  const double sparse_over_row = table[constant::sparse_windows_over_row];
  // C is written whatever the density.
  const double least_over_row = table[constant::least_window_over_row];
  auto others = static_cast<double>(nnz);
  double out = 0;
  for (const window_class& one : of.classes) {
    if (one.tiles == 0 || !fit.selects(one.entries / one.windows, one.tiles / one.windows))
      continue;
    const auto tiles = static_cast<double>(one.tiles), entries = static_cast<double>(one.entries);
    const double density = entries / (tiles * tile_slots * window_height);
    const double columns = tiles * tile_slots / static_cast<double>(one.windows);
    const double beyond = fit.odds(static_cast<float>(columns), static_cast<float>(density));
    const double least = fit.per_density > 0 ? density - beyond / fit.per_density : 0;
    out += entries * std::max(least / density, least_over_row);
    others -= entries;
  }
  return (out + sparse_over_row * imbalance * others) / static_cast<double>(nnz);
}

namespace {

/// Estimated seconds of `hybrid`, and of the better one of `row` and `split`.
struct rivals {
  double hybrid, others;
  bool pays() const { return hybrid < others; }
};
rivals compare(const problem& p, const windows& of) {
  const row_statistics& statistics = statistics_of(p);
  const double by_row = estimate(p), longest = lone_row_seconds(statistics.longest);
  const double share = hybrid_over_row(of, fit_of(selector_of(p)), p.a.nnz, statistics.imbalance);
  const double others =
      has_rows_to_split(statistics)
          ? current_table()[constant::lists_seconds] + lone_row_seconds(statistics.split_length)
          : longest;
  return {by_row * share + longest, by_row + others};
}

}  // namespace

answer hybrid_answer(const problem& p) {
  answer out;
  if (cannot(out, p, cannot_because(p))) return out;
  out.seconds = estimate(p) + lone_row_seconds(statistics_of(p).longest);
  if (p.reasons) out.plan = in_words(p, selector_of(p));
  // Windows cost as much as some products, so a call that does not name `hybrid` builds none.
  if (!p.structure->is_prepared(p.desc->transpose_a, "hybrid")) {
    out.says = verdict::slower;
    if (p.reasons)
      out.reason = std::string("the windows of A are not built; A.prepare({") +
                   (p.desc->transpose_a ? ".transpose_a = true, " : "") +
                   ".kernel = \"hybrid\"}) builds them";
    return out;
  }
  const rivals of = compare(p, *p.oriented->derived_of<windows>());
  out.seconds = of.hybrid;
  if (!of.pays()) {
    out.says = verdict::slower;
    if (p.reasons) out.reason = "too few entries lie in dense windows of 16 rows";
  }
  return out;
}

void hybrid_run(const problem& p, workspace& work) {
  const auto of = p.oriented->derived_of<windows>();
  // Another kernel takes the rows of a matrix without dense windows, so that a caller who names
  // `hybrid` loses nothing.
  if (!compare(p, *of).pays()) return cheapest_kernel(p)->run(p, work);
  work.panels = of;
  arguments args = arguments_of(p);
  const buffer values = ordered_values(p, args);
  args.window_tiles = of->tiles;
  args.window_columns = of->columns;
  args.window_bits = of->bits;
  args.fit = fit_of(selector_of(p));
  args.c_in_vectors = is_in_fours(args.c, args.c_stride, p.b.columns, p.c.value_bytes);
  const int64 blocks = (warps_of(p) + window_warps - 1) / window_warps;
  launch(stream_of(p), kernel_for(key_of(p), request_for(p)), dim3(static_cast<unsigned>(blocks)),
         row_threads, &args);
}

void hybrid_prepare(const pattern&, const pattern& oriented) {
  if (windows::serves(oriented.rows(), oriented.nnz())) oriented.derived_of<windows>();
}

}  // namespace rig::on_cuda
