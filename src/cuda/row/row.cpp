// Launches of `row`. row.cuh has the kernel, row_shapes.hpp the launch configurations,
// row_rules.hpp the choice of one.

#include <string>
#include <vector>

#include "cuda/runtime/compile.hpp"
#include "cuda/tuning/row_rules.hpp"
#include "rig/semirings.hpp"

namespace rig::on_cuda {

forced_choice forced;

namespace {

std::string expression(const row_shape& s, const std::string& semiring, const std::string& b_type,
                       const char* read = "full") {
  std::string out = "rig::on_cuda::row<" + semiring + ", " + b_type + ", ";
  out +=
      s.packs ? "static_cast<int>(" + std::to_string(s.bytes) + " / sizeof(" + b_type + "))" : "1";
  for (const int number : {s.l, s.g, s.u, s.cf}) out += ", " + std::to_string(number);
  out += (s.plain ? ", true" : ", false") + std::string(", rig::on_cuda::entries_read::") + read;
  return out + (s.rest > 0 ? ", " + std::to_string(s.rest) : "") + ">";
}
template <sum_kind Of>
std::string table_expression(int shape, const std::string& semiring, const std::string& b_type) {
  return expression(shape_at(shape, Of), semiring, b_type);
}
constexpr decltype(kernel_request::expression) table_expressions[] = {
    table_expression<sum_kind::weighted>, table_expression<sum_kind::unweighted>,
    table_expression<sum_kind::indexed>};
/// A shape outside the tables is encoded as a negative number; `shape_of` decodes it.
constexpr int number_of(const row_shape& s) {
  return -((((((s.l * 64 + s.g) * 16 + s.u) * 8 + s.cf) * 32 + s.bytes) * 32 + s.rest) * 4 +
           (s.packs ? 2 : 0) + (s.plain ? 1 : 0));
}
constexpr row_shape shape_of(int number) {
  const int n = -number;
  return {(n & 2) != 0, n >> 25,      n >> 19 & 63, n >> 15 & 15,
          n >> 12 & 7,  (n & 1) != 0, n >> 7 & 31,  n >> 2 & 31};
}
static_assert(number_of(shape_of(number_of({true, 32, 32, 15, 7, true, 16, 16}))) ==
              number_of({true, 32, 32, 15, 7, true, 16, 16}));
static_assert(shape_of(number_of({true, 32, 16, 6, 5, false, 8, 4})).rest == 4);
std::string numbered_expression(int shape, const std::string& semiring, const std::string& b_type) {
  return expression(shape_of(shape), semiring, b_type);
}
std::string started_expression(int shape, const std::string& semiring, const std::string& b_type) {
  return expression(shape_of(shape), semiring, b_type, "prefix");
}
std::string seldom_expression(int shape, const std::string& semiring, const std::string& b_type) {
  return expression(shape_of(shape), semiring, b_type, "mostly_full");
}
std::string drawn_expression(int shape, const std::string& semiring, const std::string& b_type) {
  return expression(shape_of(shape), semiring, b_type, "sampled");
}
std::string values_expression(int, const std::string& semiring, const std::string&) {
  return "rig::on_cuda::permute_values<" + semiring + ">";
}

/// The kernels compiled ahead, in the order of builtin.def.
constexpr int lines = std::tuple_size_v<kernels_of_a_pair>;
const std::vector<const void*>& all_aot() {
  // Never destroyed, because a product may run while the process ends.
  static const auto& all = *new const auto([] {
    std::vector<const void*> out;
    const auto add = [&](const kernels_of_a_pair& some) {
      out.insert(out.end(), some.begin(), some.end());
    };
#define RIG_BUILTIN(semiring, type) add(kernels_aot<semiring<type>>());
#include "rig/builtin.def"
#undef RIG_BUILTIN
    return out;
  }());
  return all;
}

/// A temporary copy of B whose rows begin on multiples of a pack.
buffer padded_b(const problem& p, arguments& args) {
  const int64 bytes = static_cast<int64>(p.b.value_bytes), stride = padded_columns(p);
  buffer padded = buffer::allocate(static_cast<std::size_t>(p.b.rows * stride * bytes), p.a.where,
                                   p.desc->stream);
  pad_rows(p.b, padded.data(), stride, stream_of(p));
  args.b = padded.data();
  args.b_row_bytes = row_bytes(stride, p.b.value_bytes);
  return padded;
}

/// A temporary copy of B in tiles of that shape.
buffer tiled_b(const problem& p, arguments& args, const row_shape& s, int width) {
  const int64 bytes = static_cast<int64>(p.b.value_bytes), rows = p.b.rows;
  const int tile = width * s.l * s.cf;
  const int64 left = p.b.columns / tile * tile;
  buffer tiles = buffer::allocate(static_cast<std::size_t>(rows * (left + s.rest) * bytes),
                                  p.a.where, p.desc->stream);
  tile_rows(p.b, tiles.data(), tile, s.rest, stream_of(p));
  args.b = tiles.data();
  args.b_row_bytes = row_bytes(tile, p.b.value_bytes);
  args.b_tile_bytes = (rows - 1) * tile * bytes;
  args.b_rest = tiles.data<char>() + (rows - 1) * left * bytes;
  args.b_rest_row_bytes = row_bytes(s.rest, p.b.value_bytes);
  return tiles;
}

}  // namespace

buffer ordered_values(const problem& p, arguments& args) {
  const semiring_info& s = *p.algebra;
  if (s.ignores_left || p.a.values == nullptr ||
      (p.a.permutation == nullptr && p.a.value_type == s.left))
    return {};
  buffer taken =
      buffer::allocate(static_cast<std::size_t>(p.a.nnz) * s.left_bytes, p.a.where, p.desc->stream);
  arguments conversion = args;
  conversion.c = taken.data();
  constexpr int64 each = row_threads * values_in_flight;
  const int64 blocks = (p.a.nnz + each - 1) / each;
  launch(p, "permute_values",
         kernel_for(p, {"permute_values", "cuda/row/row.cuh", std::size(shapes), lines,
                        values_expression, all_aot().data()}),
         dim3(static_cast<unsigned>(blocks < 65536 ? blocks : 65536)), row_threads, conversion);
  args.permutation = nullptr;
  args.a_values = taken.data();
  return taken;
}

void run_row(const problem& p, arguments& args, const row_lists* lists) {
  const int width = pack_width(p, args);
  const bool samples = args.samples != sampling::none;
  const row_statistics& statistics = statistics_of(p);
  const row_shape tiled = samples ? row_shape{} : tiled_shape(p, statistics, width);
  const bool in_tiles = tiled.rest > 0;
  const buffer values = ordered_values(p, args);
  buffer b;
  if (in_tiles)
    b = tiled_b(p, args, tiled, width);
  else if (pads_rows(p, statistics, args, width))
    b = padded_b(p, args);
  const text_edit* const edit = samples || !is_plain(p) ? nullptr : forced.edit;
  const bool is_forced =
      forced.shape && forced.shape->rest == 0 && !samples && !in_tiles && !reads_codes(p) &&
      is_plain(p) &&
      (!forced.shape->packs || p.algebra->ignores_right || reads_packs(p, args, width));
  const int shape = is_forced || in_tiles ? 0 : shape_for(p, statistics, args, width);
  row_shape s = is_forced  ? *forced.shape
                : in_tiles ? tiled
                           : exact_shape(p, statistics, args, shape);
  const char* name = edit != nullptr ? edit->name : in_tiles ? "row, tiled" : "row";
  auto* named = numbered_expression;
  if (samples && reads_mostly_full(p, statistics, args, s)) {
    name = "row, seldom sampled";
    named = seldom_expression;
  } else if (samples) {
    const bool starts = args.samples == sampling::bucket;
    s = shape_of_samples(p, statistics.sampled(args.width), args, width);
    name = starts ? "row, its start" : "row, sampled";
    named = starts ? started_expression : drawn_expression;
  }
  // Kernels outside the table are compiled at run time, and so are all kernels of B's other types.
  const bool is_in_table =
      !samples && !in_tiles && !is_forced && edit == nullptr && s == shape_at(shape, kind_of(p));
  const auto pack = static_cast<std::size_t>(width);
  args.c_packed =
      p.b.columns % width == 0 &&
      is_packed(args.c, args.c_stride, p.c.value_bytes, pack * p.c.value_bytes) &&
      (args.indices == nullptr || is_packed(args.indices, args.indices_stride, 4, 4 * pack));
  const void* const kernel =
      is_in_table
          ? kernel_for(p, {name, "cuda/row/row.cuh", shape, lines,
                           table_expressions[static_cast<int>(kind_of(p))], all_aot().data()})
          : kernel_for(p, {name, "cuda/row/row.cuh", number_of(s), 0, named, nullptr, -1, 0, edit});
  const int64 groups = row_threads / s.g;
  const int64 v = s.packs ? width : 1;
  const int64 tile = v * s.l * s.cf;
  const int64 pieces = lists != nullptr ? lists->piece_count : 0;
  const int64 blocks = (pieces + groups - 1) / groups + (args.rows + groups - 1) / groups;
  // Tiles with a rest fit in y, because a surplus block in z would find the columns of the rest.
  const int64 tiles = in_tiles ? p.b.columns / tile : (p.b.columns + tile - 1) / tile;
  const dim3 grid(static_cast<unsigned>(blocks),
                  static_cast<unsigned>(tiles < most_tiles ? tiles : most_tiles),
                  static_cast<unsigned>((tiles + most_tiles - 1) / most_tiles));
  buffer sums;
  if (lists != nullptr)
    sums = cut_in_pieces(p, *lists, static_cast<std::size_t>(p.b.columns) * p.algebra->accum_bytes,
                         tiles, args);
  launch(p, name, kernel, grid, row_threads, args);
}

std::size_t row_entries() { return all_aot().size(); }

answer row_answer(const problem& p) {
  answer out;
  if (cannot(out, p, no_kernel_because(p))) return out;
  const row_statistics& statistics = statistics_of(p);
  const double even = estimate(p);
  out.seconds = even + lone_row_seconds(statistics.longest);
  if (split_helps(p, statistics)) {
    out.says = verdict::slower;
    out.seconds += even * statistics.imbalance;  // lanes wait for the longest row of their warp
    if (p.reasons)
      out.reason = "the longest of " + std::to_string(p.a.rows) + " rows has " +
                   std::to_string(statistics.longest) + " entries, the mean is " +
                   std::to_string(static_cast<int64>(statistics.mean_length));
  }
  return out;
}

void row_run(const problem& p) {
  arguments args = arguments_of(p);
  run_row(p, args, nullptr);
}

}  // namespace rig::on_cuda
