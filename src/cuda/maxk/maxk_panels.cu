// maxk_panels: its answer and its launches. The kernel: maxk_panels.cuh.

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

/// Lanes that take a row of C, G of `maxk_combine`, at least.
constexpr int least_combining = 8;

std::string combine_expression(int shape, const std::string& semiring, const std::string&) {
  const kept_shape s = shape_of(shape);
  std::string out = "rig::on_cuda::maxk_combine<" + semiring;
  for (const int number : {s.v, s.l, std::max(s.l, least_combining)})
    out += ", " + std::to_string(number);
  return out + ">";
}

/// A block's rows of B.
std::size_t panel_bytes(const problem& p) {
  return p.algebra->ignores_right
             ? 0
             : panel_rows * static_cast<std::size_t>(p.b.columns) * p.b.value_bytes;
}

/// The widest of these that C's rows and its structure's can be read in.
int places_a_lane(const problem& p, int most) {
  const int k = p.c.k;
  const std::size_t index_bytes = p.c.indices_8 ? 1 : 2;
  while (most > 1 && (k % most != 0 || !is_packed(p.c.indices, k, index_bytes,
                                                  static_cast<std::size_t>(most) * index_bytes)))
    most /= 2;
  return most;
}

/// The sums of segments take at most an eighth of the device's memory: of an H200, products-like, k
/// = 64, 17.8e9 bytes of 18.8e9.
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

/// Launches `maxk_combine` over the sums that `args` have: of the segments, or one a row.
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
  // A as it is stored: no values to reorder, and its rows are those of B.
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
  // Milliseconds of four and eight places a lane, k = 16, 32, 64 (docs/lab/maxk.md, *):
  // reddit-like, in order 3.01, 4.53, 7.75; 2.99, 3.95, 6.41; by atomics 2.17, 3.58, 6.70; 2.70,
  // 4.65, 9.17.
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
  // Where C holds floats, and places without products are 0 as all sums begin, nothing is left to
  // do.
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
  // Two blocks a multiprocessor, and all else for L1, which holds A's values and C's columns.
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

/// Do rows of B in shared memory pay? Sums by atomics do, unless half of the columns are kept and
/// rows do not share neighbours: milliseconds in order, by whole rows, and by atomics (suite maxk),
/// k = 64 of 128: arxiv-like 0.213, 0.255; rmat:18:16 0.546, 0.656; products-like 9.5, 11.3; but
/// reddit-like 7.5, 6.6; arxiv-like, k = 16, 32, an entry at a time by atomics was faster, 0.126
/// for 0.149, 0.165 for 0.185. In order they do where few of the columns are kept, or rows have
/// neighbours in common: milliseconds by rows and by panels (the program marked ** in
/// docs/lab/maxk.md, before B's rows were copied past the registers), k = 16, 32, 64 of H = 256:
/// arxiv-like 0.232, 0.270, 0.323; 0.199, 0.257, 0.376; rmat:18:16 0.609, 0.670, 0.903; 0.465,
/// 0.644, 1.006; products-like 11.7, 14.8, 16.2; 6.5, 8.5, 13.6; k = 16 of 128: arxiv-like 0.175,
/// 0.175; rmat:18:16 0.419, 0.427; k = 96 of 384: products-like 24.5, 24.5; k = 32 of
/// 128: 8.9, 8.4, but in suite maxk, where 9 GB of scratch come and go among others, 9.2, 9.4. Of
/// few entries: pubmed-like, k = 16, 0.016, 0.020.
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
