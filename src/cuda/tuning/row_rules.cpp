// What launch shape a product of all entries takes. The shapes themselves: row_shapes.hpp; those of
// samples: sample_rules.cpp.

#include "cuda/tuning/row_rules.hpp"

#include "cuda/runtime/compile.hpp"

namespace rig::on_cuda {
namespace {

/// Bytes of the L2 cache a slice of B may fill: on an H200 with 60 MB, slices of 60 MB still
/// gained, of 67 MB did not; of rows with 40 entries and more, that share no neighbours, of 77 MB.
constexpr double slice_bytes = 62e6, most_slice_bytes = 80e6;
constexpr unsigned line_bytes = 128;

/// May slices of `packs` packs of all of B's rows stay in the L2 cache?
bool slices_fit(const problem& p, int packs) { return p.b.rows * 16.0 * packs <= slice_bytes; }

bool on_lines(const arguments& args) { return args.b_row_bytes % line_bytes == 0; }

/// Packs a slice of columns should have so that it stays in the L2 cache while A runs over it; 0:
/// none is worth reading A again. Skewed rows have none here: either neighbouring ones share
/// neighbours anyway, or the table's shapes for them are those of slices. Slices of rows that do
/// not begin on cache lines would read more lines than they hold. A copy of B on lines costs more
/// than it gains: uniform:262144:32, f = 100: 0.66 ms, 0.75. Dense rows gain where all of B would
/// stay there too: proteins-like, f = 64: 1.82, whole 1.92 (the program marked ** in
/// docs/lab/exact.md), arg-max 1.80, 1.85, but half no more than 1 %.
int slice_of(const problem& p, const row_statistics& statistics, const arguments& args,
             double packs) {
  const rows_of_a rows = rows_of(p, statistics);
  const bool pays = rows >= rows_of_a::even;
  if (forced.unsliced || !pays || !on_lines(args)) return 0;
  if (rows == rows_of_a::dense && b_bytes(p) >= 4 && packs > 8) return 8;
  if (packs > 16 && !slices_fit(p, 32) && slices_fit(p, 16)) return 16;
  // uniform:600000:48, 77 MB, f = 64, 128: 1.27, 2.56, whole 1.43, 3.17; max 1.18, 2.34, whole
  // 1.38, 2.73 (**). Codes, halves and arg-max were not measured there.
  const bool fits = slices_fit(p, 8) || (rows == rows_of_a::far && !statistics.local &&
                                         p.b.rows * 16.0 * 8 <= most_slice_bytes);
  return packs > 8 && !slices_fit(p, 16) && fits ? 8 : 0;
}

/// Of codes, all entries. Milliseconds by the program that docs/lab/sampled.md marks *, f = 64,
/// 128, 256, beside those of the shapes that fp32 takes: road-like 0.258, 0.461, 0.862; 0.331,
/// 0.557, 1.07; uniform:262144:32 0.139, 0.253, 0.494; 0.172, 0.275, 0.534; rmat:18:16 0.154,
/// 0.257, 0.465; 0.195, 0.291, 0.497; arxiv-like-shuffled, f = 128, 0.097, U = 4: 0.102;
/// pubmed-like 0.0092, 0.0109, 0.0142. reddit-like, f = 64, of L, G, U, CF: 4, 32, 3, 1: 1.56;
/// U = 4: 1.61; 4, 8, 4, 1: 1.91.
row_shape shape_of_codes(const problem& p, const row_statistics& statistics,
                         const arguments& args) {
  constexpr double long_rows = 20, longer_rows = 40;
  const index f = p.b.columns;
  const auto packs = [&](int bytes) { return (f + bytes - 1) / bytes; };
  const auto lanes = [&](int bytes) { return packs(bytes) <= 4 ? 4 : packs(bytes) <= 8 ? 8 : 16; };
  const auto shape = [&](int bytes, int l, int g, int u, int cf) {
    return row_shape{true, l, g, u, cf, true, bytes};
  };
  if (p.a.nnz < few_entries)
    return packs(4) <= 8                   ? shape(4, 8, 32, 4, 1)
           : packs(4) <= 16                ? shape(4, 16, 32, 4, 1)
           : packs(16) <= 8 && f % 16 == 0 ? shape(16, 8, 16, 6, 1)
           : packs(4) <= 32                ? shape(4, 32, 32, 4, 1)
                                           : shape(4, 32, 32, 4, 2);
  if (statistics.mean_length < 6)
    return packs(16) <= 4 ? shape(16, 4, 4, 1, 1) : shape(8, lanes(16), lanes(16), 3, 2);
  if (is_skewed(statistics, p.a.nnz)) {
    const bool longer = statistics.mean_length >= long_rows;
    if (f >= 256 || (longer && f < 128))
      return shape(16, lanes(16), longer ? 2 * lanes(16) : lanes(16), longer ? 4 : 3, 1);
    return packs(8) <= 8 ? shape(8, lanes(8), lanes(8), 4, 1) : shape(8, 8, 8, longer ? 4 : 3, 2);
  }
  if (statistics.mean_length < longer_rows) return shape(16, lanes(16), lanes(16), 3, 1);
  const int slice = slice_of(p, statistics, args, packs(16)),
            across = slice > 0 ? slice : packs(16);
  const int l = across <= 4 ? 4 : across <= 8 ? 8 : across <= 16 ? 16 : 32;
  return shape(16, l, 32, l == 4 ? 3 : 4, 1);
}

/// Of half and bfloat16, all entries. Milliseconds of both by the program that docs/lab/exact.md
/// marks **, beside those of the shapes that fp32 takes: f = 32: rmat:18:16 0.0901, 0.0912; 0.131,
/// 0.140; reddit-like 0.932, 0.967; 1.41, 1.59; uniform:262144:32 0.0903, 0.0918; 0.135, 0.147;
/// pubmed-like 0.0066, 0.0065; 0.0086, 0.0090; f = 64: pubmed-like 0.0073, 0.0074; 0.0087, 0.0090;
/// road-like 0.211, 0.213; 0.216, 0.221; uniform:262144:32 0.148, 0.151; 0.161, 0.167; reddit-like
/// 1.575, 1.62; 1.56, 1.67; f = 128: rmat:18:16 0.232, 0.243; 0.252, 0.263; proteins-like 1.99,
/// 2.04; 2.03, 2.14; f = 256: rmat:18:16 0.455, 0.470; 0.502, 0.525; arxiv-like-shuffled 0.193,
/// 0.194; 0.195, 0.196. Of bfloat16, beside what sums take: max: arxiv-like, f = 64, 128, 256:
/// 0.0450, 0.0473; 0.0800, 0.0947; 0.164, 0.192; products-like, f = 128, 256: 3.81, 3.99; 7.31,
/// 7.96; proteins-like 1.83, 1.87; 3.63, 3.72; arg-max, beside what fp32 takes: road-like, f = 64,
/// 128, 256: 0.387, 0.407; 0.714, 0.777; 1.33, 1.50; rmat:18:16, f = 256: 0.704, 0.800;
/// arxiv-like, f = 128: 0.135, 0.145. Up to 4 packs max and arg-max take the shapes of sums,
/// unmeasured.
row_shape shape_of_halves(const problem& p, const row_statistics& statistics, const arguments& args,
                          const row_shape& like) {
  constexpr row_shape as_fp32 = {};
  // Up to 4 packs, and for each kind of sums up to 8, 16, 32.
  using line_of_shapes = row_shape[kinds_of_rows];
  static constexpr line_of_shapes up_to_4 = {
      in_packs(4, 16, 6, 1), in_packs(4, 4, 2, 1),  in_packs(4, 8, 6, 1), in_packs(4, 8, 6, 1),
      in_packs(4, 8, 4, 1),  in_packs(4, 32, 4, 1), in_packs(4, 32, 4, 1)};
  static constexpr line_of_shapes beyond[][3] = {
      {{in_packs(8, 16, 8, 1), in_packs(4, 4, 2, 2), in_packs(8, 8, 6, 1), in_packs(8, 8, 6, 1),
        in_packs(8, 8, 6, 1), in_packs(8, 32, 6, 1), in_packs(8, 32, 4, 1)},
       {as_fp32, as_fp32, in_packs(8, 8, 4, 2), in_packs(8, 8, 4, 2), as_fp32,
        in_packs(8, 32, 4, 2), as_fp32},
       {as_fp32, as_fp32, in_packs(16, 16, 3, 2), as_fp32, as_fp32, in_packs(8, 32, 4, 2),
        as_fp32}},
      {{in_packs(8, 16, 8, 1), in_packs(4, 4, 2, 2), in_packs(8, 8, 8, 1), in_packs(8, 8, 8, 1),
        in_packs(8, 8, 6, 1), in_packs(8, 32, 4, 1), in_packs(8, 32, 4, 1)},
       {as_fp32, as_fp32, in_packs(16, 16, 4, 1), in_packs(16, 16, 4, 1), as_fp32,
        in_packs(8, 32, 4, 1), in_packs(16, 32, 4, 1)},
       {as_fp32, as_fp32, in_packs(16, 16, 4, 1), in_packs(32, 32, 4, 1), as_fp32,
        in_packs(8, 32, 4, 1), in_packs(32, 32, 8, 1)}},
      {{in_packs(8, 16, 8, 1), in_packs(8, 8, 3, 1), in_packs(8, 8, 6, 1), in_packs(8, 8, 6, 1),
        in_packs(8, 8, 6, 1), in_packs(8, 32, 6, 1), in_packs(8, 32, 4, 1)},
       {as_fp32, in_packs(8, 8, 3, 2), in_packs(16, 16, 6, 1), in_packs(16, 16, 6, 1), as_fp32,
        as_fp32, as_fp32},
       {as_fp32, in_packs(16, 16, 3, 2), in_packs(32, 32, 6, 1), in_packs(32, 32, 6, 1), as_fp32,
        as_fp32, as_fp32}}};
  const auto rows = static_cast<int>(rows_of(p, statistics));
  const line_of_shapes* const of_kind = beyond[static_cast<int>(kind_of(p))];
  const double packs = packs_of(p, args);
  if (packs <= 4) return up_to_4[rows];
  const int line = packs <= 8 ? 0 : packs <= 16 ? 1 : 2;
  if (line > 0 && slice_of(p, statistics, args, packs) == 8) return of_kind[0][rows];
  // More were not measured; tiles that end within a cache line ask for it twice.
  if (packs > 32 || (line == 2 && !on_lines(args))) return like;
  const row_shape& s = of_kind[line][rows];
  return s.packs ? s : like;
}

/// Have products that read B singly shapes that were raced? They are compiled at run time. Those
/// with masks or accumulators have none, nor sums of more than two words, nor samples, of which a
/// team has no more than a group's entries in flight.
bool has_odd_shapes(const problem& p, const arguments& args) {
  return is_plain(p) && p.algebra->accum_bytes <= 8 && args.samples == sampling::none &&
         no_compiler_because() == nullptr;
}

/// Have they such shapes beyond 24 columns? Elements of 8 bytes were raced where rows are short.
bool has_wide_shapes(const problem& p, const row_statistics& statistics, const arguments& args) {
  return has_odd_shapes(p, args) &&
         (b_bytes(p) == 4 || (b_bytes(p) == 8 && rows_of(p, statistics) == rows_of_a::sparse));
}

/// Of single elements, more than 24 columns: as many lanes as leave each at most seven of them.
/// Milliseconds of sums by the program marked ** in docs/lab/exact.md, beside those of the padded
/// copy that was here before, or of other shapes:
/// sparse: road-like, f = 27, 47, 65, 97, 129, 193, 257: 0.244, 0.358, 0.527, 0.687, 0.992, 1.28,
/// 2.14; 0.290, 0.576, 0.834, 1.05, 1.55, 1.98, 3.25; by 16 lanes, f = 129, 1.21, by seven columns
/// a lane, f = 257, 2.47; max and arg-max, f = 65: 0.493, 0.630; 0.827, 1.04.
/// few: pubmed-like, f = 33, 65, 129, 193, 257: 0.0092, 0.0102, 0.0132, 0.0162, 0.0259; 0.0094,
/// 0.0155, 0.0218, 0.0301, 0.0470; U = 4, f = 65, 129: 0.0112, 0.0138; U = 6, f = 193: 0.0183.
/// others: arxiv-like, f = 47, 65, 129, 193: 0.0956, 0.129, 0.226, 0.343; 0.103, 0.161, 0.323,
/// 0.386; U = 4: 0.0993, 0.132, –, 0.374; arg-max, f = 129, U = 3, 4: 0.268, 0.278; max, f = 47, U
/// = 2: 0.0899, 3: 0.0908; arxiv-like-shuffled, f = 85, 97, 111: 0.162, 0.191, 0.207; 0.179,
/// 0.203, 0.214; by 32 lanes 0.186, 0.206, 0.220; uniform:500000:12, f = 47, 97, 129: 0.329,
/// 0.675, 0.832; 0.331, 0.720, 1.25. Three in flight of six or seven columns by 32 lanes were raced
/// on arxiv-like and shuffled alone.
row_shape shape_of_many_singles(const problem& p, const row_statistics& statistics) {
  constexpr int most_in_one = 32 * 7, most_in_several = 32 * 5;
  const auto parts = [](int number, int size) { return (number + size - 1) / size; };
  const int f = p.b.columns, width = f <= most_in_one ? f : parts(f, parts(f, most_in_several));
  const rows_of_a rows = rows_of(p, statistics);
  const bool few = rows == rows_of_a::few;
  const int lanes = few || width > 112 ? 32 : width <= 56 ? 8 : 16, each = parts(width, lanes);
  if (few) return singly(lanes, lanes, width <= 160 && f <= most_in_one ? 6 : 4, each);
  if (rows == rows_of_a::sparse) return singly(lanes, lanes, 2, each);
  const bool room = lanes == 32 && each <= 5 && kind_of(p) == sum_kind::weighted;
  return singly(lanes, lanes, room ? 4 : 3, each);
}

/// Where B is read singly.
row_shape shape_of_singles(const problem& p, const row_statistics& statistics,
                           const arguments& args, const row_shape& in_table) {
  const index f = p.b.columns;
  const rows_of_a rows = rows_of(p, statistics);
  const bool few = rows == rows_of_a::few, sparse = rows == rows_of_a::sparse;
  if (!has_odd_shapes(p, args)) return in_table;
  if (f > 24)
    return has_wide_shapes(p, statistics, args) ? shape_of_many_singles(p, statistics) : in_table;
  if (f > 8 && few) return odd_shapes[odd_24_few];
  if (f > 16) return odd_shapes[sparse ? odd_24_sparse : odd_24];
  if (f > 8) return odd_shapes[sparse ? odd_16_sparse : odd_16];
  if (sparse) return odd_shapes[f <= 3 ? odd_3_sparse : odd_8_sparse];
  if (rows >= rows_of_a::dense) return odd_shapes[f <= 3 ? odd_3_long : odd_8_long];
  return f <= 4 ? odd_shapes[odd_4] : in_table;
}

/// The line of the table where B is read in packs.
shape_number plain_packs(const problem& p, const row_statistics& statistics,
                         const arguments& args) {
  // Up to 4, 8, 16, 32 packs, and more.
  constexpr shape_number by_rows[][kinds_of_rows] = {
      {packs_4_few, packs_4_sparse, packs_4, packs_4, packs_4, packs_4_dense, packs_4_few},
      {packs_8_few, packs_8_sparse, packs_8_skewed, packs_8_skewed, packs_8_even, packs_8_dense,
       packs_8_far},
      {packs_16_few, packs_16_sparse, packs_16_skewed, packs_16_skewed, packs_16_skewed,
       packs_16_few, packs_16_far},
      {packs_32_few, packs_32_sparse, packs_32_apart, packs_32_near, packs_32, packs_32,
       packs_32_far},
      {packs_64_few, packs_64, packs_64_apart, packs_32_near, packs_32, packs_32, packs_32_far}};
  const rows_of_a rows = rows_of(p, statistics);
  const double packs = packs_of(p, args);
  const int slice = slice_of(p, statistics, args, packs);
  const double across = slice > 0 ? slice : packs;
  // Tiles that end within a cache line ask for it twice (the program marked *** in
  // docs/lab/exact.md): arxiv-like-shuffled, f = 100, two tiles 0.195, one 0.156; rmat:18:16, f =
  // 132, three of 64 columns 0.637, two of 128 0.688, one 0.509; f = 260, five 1.12, three 1.15.
  if (across > 16 && !on_lines(args)) {
    if (rows == rows_of_a::skewed)
      return packs <= 32 ? packs_32_skewed : packs <= 64 ? packs_64 : packs_16_skewed;
    if (rows == rows_of_a::local || rows == rows_of_a::far) return packs_32;
  }
  const int line = across <= 4 ? 0 : across <= 8 ? 1 : across <= 16 ? 2 : across <= 32 ? 3 : 4;
  return by_rows[line][static_cast<int>(rows)];
}

}  // namespace

rows_of_a rows_of(const problem& p, const row_statistics& statistics) {
  using enum rows_of_a;
  if (p.a.nnz < few_entries) return few;
  if (statistics.mean_length < 6) return sparse;
  if (is_skewed(statistics, p.a.nnz)) return statistics.local ? local : skewed;
  return statistics.mean_length < 40 ? even : statistics.local && slices_fit(p, 8) ? dense : far;
}

bool reads_codes(const problem& p) {
  return p.b.value_type == type::code && !p.algebra->ignores_right;
}

int pack_bytes(const problem& p, const arguments& args) {
  if (!reads_codes(p)) return 16;
  const row_statistics& statistics = statistics_of(p);
  const bool even = args.samples != sampling::none && args.width < statistics.mean_length;
  return even ? 16 : shape_of_codes(p, statistics, args).bytes;
}

double packs_of(const problem& p, const arguments& args) {
  return static_cast<double>(p.b.columns) * static_cast<double>(b_bytes(p)) / pack_bytes(p, args);
}

sum_kind kind_of(const problem& p) {
  return p.algebra->is_indexed     ? sum_kind::indexed
         : p.algebra->ignores_left ? sum_kind::unweighted
                                   : sum_kind::weighted;
}

int pack_width(const problem& p, const arguments& args) {
  if (p.algebra->right == type::other) return 1;
  return b_bytes(p) < 16 ? pack_bytes(p, args) / static_cast<int>(b_bytes(p)) : 1;
}

bool reads_packs(const problem& p, const arguments& args, int width) {
  return width > 1 &&
         is_packed(args.b, args.b_row_bytes, 1, static_cast<std::size_t>(pack_bytes(p, args))) &&
         (p.b.columns % width == 0 || args.b != p.b.data);
}

index padded_columns(const problem& p) {
  const auto unit = static_cast<index>(32 / p.b.value_bytes);
  return (p.b.columns + unit - 1) / unit * unit;
}

bool pads_rows(const problem& p, const row_statistics& statistics, const arguments& args,
               int width) {
  const index f = p.b.columns;
  if (p.algebra->ignores_right || p.a.nnz == 0 || width == 1 || f <= 2 * width ||
      reads_packs(p, args, width))
    return false;
  if (forced.shape && is_plain(p) && args.samples == sampling::none && !reads_codes(p))
    return forced.shape->packs;
  const rows_of_a rows = rows_of(p, statistics);
  const bool raced = has_wide_shapes(p, statistics, args);
  // Milliseconds of the copy, of single elements, f = 145: rmat:18:16, where lanes take a second
  // pack, most of them for nothing, 0.648, 0.575; uniform:262144:32, where rows go in a second tile
  // and cannot go in slices, 1.34, 1.05. From 153 on the copy's rows are whole lines.
  if (p.a.nnz >= 20 * static_cast<int64>(p.b.rows))
    return !(raced && b_bytes(p) == 4 && f > 128 && f <= 152 && statistics.mean_length < 40 &&
             (rows == rows_of_a::skewed || rows == rows_of_a::even));
  if (f <= 40 || p.a.nnz < 2 * static_cast<int64>(p.b.rows)) return false;
  // Shapes of singles that are compiled ahead take twice as long (reddit-like, f = 101: 5.1, 9).
  if (!raced) return true;
  if (rows <= rows_of_a::sparse) return false;
  // Copies whose rows are whole lines were not raced, nor 113 to 128 columns. arxiv-like, f = 85,
  // 97, 111: 0.174, 0.181; 0.188, 0.201; 0.196, 0.207, by the best of their shapes.
  const std::size_t row_bytes = static_cast<std::size_t>(padded_columns(p)) * p.b.value_bytes;
  return row_bytes % line_bytes == 0 || (f > (rows == rows_of_a::local ? 80 : 112) && f <= 128);
}

int shape_for(const problem& p, const row_statistics& statistics, const arguments& args,
              int width) {
  const index f = p.b.columns;
  const bool plain = is_plain(p);
  if (plain && f == 1)
    return statistics.mean_length > 100                           ? one_long
           : statistics.mean_length < 6 && p.a.nnz >= few_entries ? one_sparse
                                                                  : one_short;
  if (width > 1 && f > width / 2 && (p.algebra->ignores_right || reads_packs(p, args, width)))
    return plain ? plain_packs(p, statistics, args) : any_packs;
  if (!plain) return f <= 8 ? any_8 : any_wide;
  return f <= 8 ? odd_8 : f > 40 ? odd_wide : p.a.nnz < few_entries ? odd_few : odd_40;
}

row_shape exact_shape(const problem& p, const row_statistics& statistics, const arguments& args,
                      int number) {
  row_shape s = shape_at(number, kind_of(p));
  s.bytes = pack_bytes(p, args);
  if (!s.plain || p.b.columns == 1) return s;
  if (!s.packs) return shape_of_singles(p, statistics, args, s);
  if (reads_codes(p)) return shape_of_codes(p, statistics, args);
  return b_bytes(p) == 2 ? shape_of_halves(p, statistics, args, s) : s;
}

/// B in tiles, where one column is left of them, or a few. Up to 14 entries a row the copy costs
/// more than it gains: arxiv-like, f = 33: 0.080 ms, 0.077. Two to four columns beyond tiles cost
/// more than one, and are taken where tiles stay in L2: reddit-like, f = 36, 100: 1.90, 2.07; 4.74,
/// 4.82; uniform:262144:32, f = 34, 68, 100: 0.218, 0.260; 0.387, 0.444; 0.551, 0.661, but 36,
/// which B's rows hold in packs: 0.214, 0.203; rmat:18:16, f = 36: 0.201, 0.180. Packs of more than
/// four are not: their kernels take NVRTC more than the second that a first call may.
row_shape tiled_shape(const problem& p, const row_statistics& statistics, int width) {
  const index f = p.b.columns;
  if (width == 1 || !is_plain(p) || p.algebra->ignores_right || reads_codes(p)) return {};
  if (forced.shape) {
    const row_shape& s = *forced.shape;
    const int tile = s.l * width * s.cf;
    const bool fits = s.packs && is_tile(tile) && f > tile && f % tile > 0 && f % tile <= s.rest;
    return fits ? s : row_shape{};
  }
  const int tile = 8 * width, left = f % tile, tiles = f / tile;
  if (tiles == 0 || tiles > most_tiles || left == 0 || left > width || p.a.nnz < few_entries ||
      p.a.nnz < 20 * static_cast<int64>(p.b.rows) || no_compiler_because() != nullptr)
    return {};
  const bool skewed = is_skewed(statistics, p.a.nnz),
             dense = statistics.mean_length >= 40 && !skewed, stay = slices_fit(p, 8),
             in_slices = stay && !skewed;
  const bool in_place = tiles == 1 && !dense && f % width == 0;
  if (left > 1 && (width > 4 || !in_slices || in_place)) return {};
  if (tiles > 1 && !in_slices && tiles % 2 != 0) return {};
  row_shape s = tiled_shapes[tiles > 1 && !in_slices ? dense ? tiles_16_dense : tiles_16
                             : !dense                ? tiles_8
                             : stay                  ? tiles_8_dense
                                                     : tiles_8_dense_far];
  s.rest = left == 1 ? 1 : width;
  return s;
}

}  // namespace rig::on_cuda
