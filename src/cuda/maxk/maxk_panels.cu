// maxk_panels: its answer and its launches. maxk_panels.cuh holds the kernel.

#include <algorithm>
#include <cstring>
#include <vector>

#include "cuda/analysis/row_panels.hpp"
#include "cuda/families.hpp"
#include "cuda/maxk/kept.hpp"
#include "cuda/maxk/maxk_panels.cuh"
#include "cuda/runtime/device.hpp"

namespace rig::on_cuda {
namespace {

std::string panels_expression(int shape, const std::string& semiring, const std::string& b_type) {
  const kept_shape s = shape_of(shape);
  return kept_expression("maxk_backward_panels", shape, semiring, b_type) + std::to_string(s.l) +
         ", " + std::to_string(s.v) + ", " + in_words(s.plain) + ", " + in_words(s.adds) + ">";
}

/// The least number of lanes that take a row of C: G of `maxk_combine`.
constexpr int least_combining = 8;

std::string combine_expression(int shape, const std::string& semiring, const std::string&) {
  const kept_shape s = shape_of(shape);
  std::string out = "rig::on_cuda::maxk_combine<" + semiring;
  for (const int number : {s.v, s.l, std::max(s.l, least_combining)})
    out += ", " + std::to_string(number);
  return out + ">";
}

/// Bytes of the rows of B that a block holds.
std::size_t panel_bytes(const problem& p) {
  return p.algebra->ignores_right
             ? 0
             : panel_rows * static_cast<std::size_t>(p.b.columns) * p.b.value_bytes;
}

/// The widest vector, up to `most`, that rows of C and of its indices can be read in.
int places_a_lane(const problem& p, int most) {
  const int k = p.c.k;
  const std::size_t index_bytes = p.c.indices_8 ? 1 : 2;
  while (most > 1 && (k % most != 0 || !is_packed(p.c.indices, k, index_bytes,
                                                  static_cast<std::size_t>(most) * index_bytes)))
    most /= 2;
  return most;
}

/// Whether the sums of the segments take at most an eighth of the device's memory. On an H200 the
/// sums of products-like at k = 64 still fit (docs/lab/maxk.md).
bool sums_fit(const problem& p, const row_panels& of) {
  // Never destroyed: a product may run while the process ends.
  static const auto& devices = *new const std::vector<device_info>(list_devices());
  constexpr std::size_t share = 8;
  const auto memory =
      static_cast<std::size_t>(devices[static_cast<std::size_t>(p.a.where.device)].memory);
  const std::size_t sums = static_cast<std::size_t>(of.segment_count) *
                           static_cast<std::size_t>(p.c.k) * p.algebra->accum_bytes;
  return adds_by_atomics(p) || sums <= memory / share;
}

/// Launches `maxk_combine` over the sums in `args`: one per segment, or one per row.
void combine(const problem& p, const row_panels& of, arguments& args) {
  const int k = args.k;
  if (!adds_by_atomics(p)) {
    args.first_place = of.first_place;
    set_pieces(ordered_rows(p, args), args);
  }
  kept_shape s{};
  s.v = p.algebra->accum_bytes == 4 && k % 4 == 0 ? 4 : 1;
  s.l = lanes_for((k + s.v - 1) / s.v, 2);
  args.columns = k;
  const void* const kernel = kernel_for(p, {"maxk_combine", "cuda/maxk/maxk_panels.cuh",
                                            number_of(s), 0, combine_expression, nullptr});
  const int64 groups = combine_threads / std::max(s.l, least_combining);
  const int64 blocks = args.cut_count + (p.a.rows + groups - 1) / groups;
  launch(p, "maxk_combine", kernel,
         dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(tiles_of(k, s))),
         combine_threads, args);
}

void backward_by_panels(const problem& p, const row_panels& of) {
  // A in its stored order: its values need no permutation, and its rows are the rows of B.
  problem q = p;
  q.a.rows = p.a.columns;
  q.a.columns = p.a.rows;
  q.a.offsets = p.structure->offsets();
  q.a.entries = p.structure->column_indices();
  q.a.permutation = nullptr;
  q.oriented = p.structure;
  q.statistics = nullptr;
  arguments args = arguments_of(q), finish = arguments_of(p);
  const buffer values = ordered_values(q, args);
  const bool adds = adds_by_atomics(p);
  const int k = p.c.k;
  args.k = finish.k = k;
  args.kept = p.c.indices;
  args.units = of.units;
  args.segments = of.segments;
  args.words = of.words;
  // Eight places per lane win in order at k ≥ 32. Atomics take four, because a vector reduction
  // adds four floats at once (docs/lab/maxk.md).
  kept_shape s{};
  const bool aligned = !adds || is_packed(p.c.data, k, sizeof(float));
  s.v = places_a_lane(p, adds ? (aligned ? 4 : 1) : k >= 32 && p.c.indices_8 ? 8 : 4);
  s.l = lanes_for((k + s.v - 1) / s.v, 2);
  s.indices_8 = p.c.indices_8;
  s.plain = static_cast<std::size_t>(p.b.columns) * p.b.value_bytes % 16 == 0 &&
            is_packed(p.b.data, p.b.stride, p.b.value_bytes);
  s.adds = adds;
  const void* const add =
      kernel_for(p, {"maxk_backward, panels", "cuda/maxk/maxk_panels.cuh", number_of(s), 0,
                     panels_expression, nullptr, -1, shared_room(p.a.where.device)});
  // The atomics can add into C itself if C holds floats and absent places are 0, the value that all
  // sums begin with.
  static constexpr float nothing = 0;
  const bool in_place = adds && p.c.value_type == type::float32 && !p.algebra->has_finish &&
                        std::memcmp(finish.fill.bytes, &nothing, sizeof(nothing)) == 0;
  buffer sums;
  const auto places = static_cast<std::size_t>(adds ? p.a.rows : of.segment_count);
  if (!in_place)
    sums = buffer::allocate(places * static_cast<std::size_t>(k) * p.algebra->accum_bytes,
                            p.a.where, p.desc->stream);
  args.c = in_place ? p.c.data : sums.data();
  args.piece_sums = finish.piece_sums = sums.data();
  if (adds)
    check(cudaMemsetAsync(args.c, 0, places * static_cast<std::size_t>(k) * sizeof(float),
                          stream_of(p)),
          "maxk_backward, panels");
  // Two blocks per multiprocessor; the rest goes to L1, which holds A's values and C's columns.
  constexpr std::size_t all_shared = 228 * 1024, of_a_block = 1024;
  const std::size_t percent = (200 * (panel_bytes(p) + of_a_block) + all_shared - 1) / all_shared;
  check(cudaFuncSetAttribute(add, cudaFuncAttributePreferredSharedMemoryCarveout,
                             static_cast<int>(percent < 100 ? percent : 100)),
        "maxk_backward, panels");
  if (of.unit_count > 0)
    launch(p, "maxk_backward, panels", add,
           dim3(static_cast<unsigned>(of.unit_count), static_cast<unsigned>(tiles_of(k, s))),
           panel_threads, args, panel_bytes(p));
  if (!in_place) combine(p, of, finish);
}

}  // namespace

bool adds_by_atomics(const problem& p) {
  return !p.desc->reproducible && p.algebra->linear_in_floats;
}

/// Whether keeping rows of B in shared memory pays (docs/lab/maxk.md).
/// By atomics, panels win unless half of the columns are kept and rows do not share neighbours.
/// In order, panels win if few columns are kept, or if rows share neighbours; graphs with few
/// entries lose.
bool takes_panels(const problem& p) {
  if (!p.desc->transpose_a || p.algebra->accum_bytes > 8 || p.algebra->right == type::other ||
      panel_bytes(p) > shared_room(p.a.where.device) || !row_panels::serves(*p.structure))
    return false;
  const row_statistics& statistics = statistics_of(p);
  const int64 k = kept_of(p);
  const bool shares = statistics.local && statistics.mean_length >= (p.b.columns < 256 ? 200 : 40);
  if (adds_by_atomics(p)) return shares || 2 * k < p.b.columns;
  return p.a.nnz >= few_entries && (shares ? 4 : 8) * k <= p.b.columns;
}

bool run_by_panels(const problem& p) {
  const auto of = p.structure->derived_of<row_panels>();
  if (!of->fits || !sums_fit(p, *of)) return false;
  p.keepalive_panels = of;
  backward_by_panels(p, *of);
  return true;
}

}  // namespace rig::on_cuda
