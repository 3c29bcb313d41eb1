// row: what its launches are chosen by, and the launches. The kernel: row.cu; its shapes:
// row_shapes.hpp.

#include <string>

#include "compile.hpp"
#include "families.hpp"
#include "launch.hpp"
#include "profile.hpp"
#include "row_shapes.hpp"

namespace rig::on_cuda {

forced_choice forced;

namespace {

/// Bytes of the L2 cache a slice of B may fill: on an H200 with 60 MB, slices of 60 MB still
/// gained, of 67 MB did not.
constexpr double slice_bytes = 62e6;
constexpr unsigned line_bytes = 128;
/// Tiles of columns in y of a grid; more of them go on in z.
constexpr int most_tiles = 32768;

/// Of codes, all entries. Milliseconds by the program that docs/notes/sampled.md marks *, f = 64,
/// 128, 256, beside those of the shapes that fp32 takes: road-like 0.258, 0.461, 0.862; 0.331,
/// 0.557, 1.07; uniform:262144:32 0.139, 0.253, 0.494; 0.172, 0.275, 0.534; rmat:18:16 0.154,
/// 0.257, 0.465; 0.195, 0.291, 0.497; arxiv-like-shuffled, f = 128, 0.097, U = 4: 0.102;
/// pubmed-like 0.0092, 0.0109, 0.0142. reddit-like, f = 64, of L, G, U, CF: 4, 32, 3, 1: 1.56;
/// U = 4: 1.61; 4, 8, 4, 1: 1.91.
row_shape shape_of_codes(const problem& p, const profile& look, const row_shape& like) {
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
  if (look.mean_length < 6)
    return packs(16) <= 4 ? shape(16, 4, 4, 1, 1) : shape(8, lanes(16), lanes(16), 3, 2);
  if (is_skewed(look, p.a.nnz)) {
    const bool longer = look.mean_length >= long_rows;
    if (f >= 256 || (longer && f < 128))
      return shape(16, lanes(16), longer ? 2 * lanes(16) : lanes(16), longer ? 4 : 3, 1);
    return packs(8) <= 8 ? shape(8, lanes(8), lanes(8), 4, 1) : shape(8, 8, 8, longer ? 4 : 3, 2);
  }
  if (look.mean_length < longer_rows) return shape(16, lanes(16), lanes(16), 3, 1);
  row_shape s = like;
  if (packs(16) <= 4) {
    s.l = 4;
    s.u = 3;
  }
  return s;
}

bool reads_codes(const problem& p) {
  return p.b.value_type == type::code && !p.algebra->ignores_right;
}

/// Bytes of B that a lane loads at once: 16; of codes fewer where as many sums a lane would leave
/// lanes without work.
int pack_bytes(const problem& p, const arguments& args) {
  if (!reads_codes(p)) return 16;
  const profile& look = look_of(p);
  const bool even = args.samples != sampling::none && args.width < look.mean_length;
  return even ? 16 : shape_of_codes(p, look, {}).bytes;
}

double packs_of(const problem& p, const arguments& args) {
  return static_cast<double>(p.b.columns) * static_cast<double>(b_bytes(p)) / pack_bytes(p, args);
}

/// May slices of `packs` packs of all of B's rows stay in the L2 cache?
bool slices_fit(const problem& p, int packs) { return p.b.rows * 16.0 * packs <= slice_bytes; }

/// Packs a slice of columns should have so that it stays in the L2 cache while A runs over it; 0:
/// none is worth reading A again, or neighbouring rows share neighbours anyway.
int slice_of(const problem& p, const profile& look, const arguments& args) {
  const bool skewed = is_skewed(look, p.a.nnz);
  if (p.a.nnz < few_entries || look.mean_length < 6 || (skewed && look.local)) return 0;
  const double packs = packs_of(p, args);
  if (packs > 16 && !slices_fit(p, 32) && slices_fit(p, 16)) return 16;
  return packs > 8 && !skewed && !slices_fit(p, 16) && slices_fit(p, 8) ? 8 : 0;
}

int plain_packs(const problem& p, const profile& look, const arguments& args) {
  const double packs = packs_of(p, args);
  const bool few = p.a.nnz < few_entries;
  const bool sparse = look.mean_length < 6 && !few, skewed = is_skewed(look, p.a.nnz) && !few,
             dense = look.mean_length >= 40 && !skewed;
  // Where teams of an indexed semiring meet, they compare and exchange twice as much.
  const bool indexed = p.algebra->is_indexed;
  const int narrow = few       ? indexed ? packs_8_even : packs_8_dense
                     : sparse  ? packs_8_sparse
                     : dense   ? packs_8_dense
                     : indexed ? packs_8_skewed
                     : skewed  ? packs_8_skewed
                               : packs_8_even;
  const int wider = few || dense ? packs_16_dense : sparse ? packs_16_sparse : packs_16_skewed;
  if (packs <= 8) return narrow;
  // Slices of rows that do not begin on cache lines would read more lines than they hold. A copy of
  // B on lines costs more than it gains: uniform:262144:32, f = 100: 0.66 ms, 0.75.
  const bool on_lines = args.b_row_bytes % line_bytes == 0;
  const int slice = on_lines && !forced.unsliced ? slice_of(p, look, args) : 0;
  if (slice > 0) return slice == 8 ? narrow : wider;
  if (packs <= 16) return wider;
  // Tiles that end within a cache line ask for it twice (the program marked *** in
  // docs/notes/exact.md): arxiv-like-shuffled, f = 100, two tiles 0.195, one 0.156; rmat:18:16, f =
  // 132, three of 64 columns 0.637, two of 128 0.688, one 0.509; f = 260, five 1.12, three 1.15.
  if (skewed && !look.local)
    return on_lines || packs > 64 ? packs_16_skewed : packs <= 32 ? packs_32_skewed : packs_64;
  if (few) return packs_32_few;
  return !sparse ? packs_32 : packs <= 32 ? packs_32_sparse : packs_64;
}

sum_kind kind_of(const problem& p) {
  return p.algebra->is_indexed     ? sum_kind::indexed
         : p.algebra->ignores_left ? sum_kind::unweighted
                                   : sum_kind::weighted;
}

/// Elements of a pack of B, or 1 where B's elements fill one or are no numbers.
int pack_width(const problem& p, const arguments& args) {
  if (p.algebra->right == type::other) return 1;
  return b_bytes(p) < 16 ? pack_bytes(p, args) / static_cast<int>(b_bytes(p)) : 1;
}

/// Do B's rows begin on packs, and end on them or in the padding of `padded_b`?
bool reads_packs(const problem& p, const arguments& args, int width) {
  return width > 1 &&
         is_packed(args.b, args.b_row_bytes, 1, static_cast<std::size_t>(pack_bytes(p, args))) &&
         (p.b.columns % width == 0 || args.b != p.b.data);
}

int shape_for(const problem& p, const profile& look, const arguments& args, int width) {
  const index f = p.b.columns;
  const bool plain = is_plain(p);
  if (plain && f == 1)
    return look.mean_length > 100                           ? one_long
           : look.mean_length < 6 && p.a.nnz >= few_entries ? one_sparse
                                                            : one_short;
  if (width > 1 && f > width / 2 && (p.algebra->ignores_right || reads_packs(p, args, width)))
    return plain ? plain_packs(p, look, args) : any_packs;
  if (!plain) return f <= 8 ? any_8 : any_wide;
  return f <= 8 ? odd_8 : f > 40 ? odd_wide : p.a.nnz < few_entries ? odd_few : odd_40;
}

/// Of a row of the table, as exact products have it: codes have shapes of their own.
row_shape exact_shape(const problem& p, const profile& look, const arguments& args, int number) {
  row_shape s = shape_at(number, kind_of(p));
  s.bytes = pack_bytes(p, args);
  return reads_codes(p) && s.plain && s.packs && p.b.columns > 1 ? shape_of_codes(p, look, s) : s;
}

/// Are so few rows longer than the width that all should be made for the others? Milliseconds of
/// samples as such and as rare (the program marked ** in docs/notes/sampled.md), f = 64: adaptive,
/// width 1024: products-like 3.90, 3.57, in bfloat16 3.18, 2.71, of codes 3.09, 2.89; arxiv-like
/// 0.0894, 0.0854, but of codes, by eight lanes a row, 0.0741, 0.0873: the rare ones are the last.
/// fastrand, width 128, one row in 16 longer: products-like 3.26, 3.04, but f = 256, 11.1, 11.6,
/// where one in 64 may be: arxiv-like, 0.290, 0.283, adaptive, width 1024: 0.321, 0.300.
/// bucket, whose samples cost less: arxiv-like, width 128: 0.0748, 0.0798; 1024: 0.0857, 0.0843;
/// none was measured between. Of few entries: pubmed-like, whose rows have 4.7 entries and 93 at
/// most, width 64: fastrand 0.0106, 0.0092, bucket 0.0085, 0.0088; width 32: fastrand 0.0090,
/// 0.0086; f = 256: 0.0175, 0.0205, of codes 0.0143, 0.0137; in bfloat16, width 32: 0.0082, 0.0094.
bool draws_seldom(const problem& p, const profile& look, const arguments& args,
                  const row_shape& exact) {
  const bool starts = args.samples == sampling::bucket;
  if (!exact.plain || !exact.packs || args.width < look.mean_length) return false;
  const bool narrow = packs_of(p, args) <= 16;
  if (p.a.nnz < few_entries)
    return !starts && look.longest < 4 * static_cast<int64>(args.width) &&
           4 * look.mean_length <= args.width && (reads_codes(p) || (b_bytes(p) == 4 && narrow));
  if (args.width < (starts ? 256 : cut_of(0)) || exact.g < 16) return false;
  int kind = cut_kinds - 1;
  while (cut_of(kind) > args.width) --kind;
  return int64{look.cut_rows[kind]} * (narrow ? 16 : 64) <= p.a.rows;
}

/// Samples and codes are compiled at run time alone, and need no row of the table. Milliseconds by
/// the program that docs/notes/sampled.md marks *, of L, G, U, CF, f = 64: arxiv-like, fastrand,
/// width 16: 8, 8, 2, 2: 0.060; U = 4: 0.063; 16, 16, 4, 1: 0.074; bucket, width 128: 8, 8, 4, 2:
/// 0.078; U = 2: 0.083. products-like, bucket, width 32: 8, 8, 4, 2: 1.98; U = 2: 2.22; width 64:
/// 8, 16, 3, 2: 2.48; 8, 32, 3, 2: 2.69; fastrand, width 32: 8, 32, 2, 2: 2.25; U = 3: 2.41; 16,
/// 16, 4, 1: 2.52. reddit-like, fastrand, width 16: 8, 16, 4, 2: 0.173; 16, 16, 4, 1: 0.182; width
/// 64: 8, 32, 4, 2: 0.447; U = 2: 0.459; proteins-like, width 64: 8, 32, 4, 2: 0.268; 16, 16, 4, 1:
/// 0.294; bucket, width 256: 8, 32, 3, 2: 1.23; 8, 16, 3, 2: 1.25. f = 256: products-like,
/// fastrand, width 64: 32, 32, 4, 2: 9.19; U = 2: 9.54; reddit-like, width 1024: 16, 32, 4, 2:
/// 10.1; 32, 32, 4, 1: 10.4; 32, 32, 4, 2: 10.5. pubmed-like, f = 64, in µs: bucket, width 64: 16,
/// 16, 8, 1: 8.4; 16, 32, 4, 1: 9.8; fastrand, width 32: 8.9 and 10.7; 64: 11.3 and 10.6; in
/// bfloat16: 8, 16, 4, 1: 11.4; 8, 16, 8, 1: 9.6; of codes, width 32: 16, 16, 8, 1: 9.3; 16, 32, 4,
/// 1: 11.3.
row_shape shape_of_samples(const problem& p, const profile& look, const arguments& args,
                           int width) {
  row_shape s = shape_at(shape_for(p, look, args, width), kind_of(p));
  s.bytes = pack_bytes(p, args);
  if (!s.plain || !s.packs || p.b.columns == 1) return s;
  const double packs = packs_of(p, args);
  const bool full = look.longest == args.width && look.mean_length >= args.width;
  const bool few = p.a.nnz < few_entries;
  const bool draws = args.samples != sampling::bucket;
  // Of few entries: widths of 16, 32 and 64 were measured; from 128 no row of pubmed-like is
  // longer.
  const bool short_samples = args.width < (draws ? 64 : 100);
  const bool from_long_rows = p.a.nnz >= 100 * static_cast<int64>(p.a.rows);
  s.u = 4;
  s.cf = 1;
  if (packs <= 8) {
    const bool codes = packs <= 4 && reads_codes(p), halves = b_bytes(p) == 2;
    s.l = codes ? 4 : 8;
    if (few) {
      s.g = 16;
      if (!short_samples) s.u = 8;
      return s;
    }
    // Milliseconds of 8, 16 and 32 lanes a row, f = 64, adaptive: codes: reddit-like, width 64:
    // 0.288, 0.336, more; 256: more, 1.18, 0.86; bfloat16: reddit-like, width 64: 0.301, 0.276,
    // 0.306; 128: 0.515, 0.473, 0.495, but fastrand more, 0.542, 0.521; f = 32 in fp32,
    // proteins-like, width 64: 0.185, 0.159, 0.151; 512: 0.97, 0.85, 0.64. Two, four in flight:
    // codes, products-like, width 16: 1.26, 1.32; 64: 2.68, 2.78; bfloat16, width 32: 1.90, 1.99,
    // but width 16 1.11, 1.05.
    if (draws) {
      const int by_eight = codes ? (from_long_rows ? 64 : 16) : halves ? 16 : 32;
      if (full && args.width <= by_eight)
        s.g = 8;
      else if (halves && from_long_rows && args.width <= 64)
        s.g = 16;
      else if (codes && look.mean_length >= 32)
        s.g = look.mean_length < 150 ? 16 : 32;
      const bool is_short = !from_long_rows && args.width <= 64;
      if (is_short && (codes || (halves && look.mean_length >= 24))) s.u = 2;
      return s;
    }
    // bucket, whose entries lie beside each other: bfloat16, products-like, width 64: 1.91, 1.96,
    // 2.15; codes, three in flight: reddit-like, width 256: 0.672, 0.715, more; products-like,
    // width 64: 1.80; U = 4: 1.91.
    if (codes) s.u = 3;
    if (codes ? args.width <= 256
              : (halves && look.mean_length < 100) || (full && args.width <= 128))
      s.g = 8;
    else if (codes)
      s.g = look.mean_length < 150 ? 16 : 32;
    return s;
  }
  // Rows that draw a few of many wait for A.
  const bool waits = draws && p.a.nnz >= 8 * static_cast<int64>(args.width) * p.a.rows;
  if (b_bytes(p) < 4) {  // more sums a lane
    const bool dense = look.mean_length >= 40 && !is_skewed(look, p.a.nnz);
    s.l = packs <= 16 ? 16 : 32;
    // Measured of codes of few entries: pubmed-like, f = 256, in µs, fastrand, width 16, U = 2, 4:
    // 14.4, 15.4; width 64: 20.5, 15.5.
    if (packs > 32) {
      s.cf = 2;
      if (args.width < 64) s.u = 2;
    }
    s.g = s.l == 32 || dense || few ? 32 : 16;
    if (s.g == 16 && waits) s.u = 8;
    if (few && packs <= 16 && short_samples) {
      s.g = 16;
      s.u = 8;
    }
    return s;
  }
  if (packs <= 16) {
    const auto shape = [&](int l, int g, int u, int cf) {
      return row_shape{true, l, g, u, cf, true, s.bytes};
    };
    if (few)
      return args.width < (draws ? 32 : 64) ? shape(16, 16, 4, 1)
             : short_samples                ? shape(16, 16, 8, 1)
                                            : shape(16, 32, 4, 1);
    // These bounds lie between the graphs of the shapes above, samples of 14 to 16 entries and of
    // 32, of 32 and 50, of 64 and 128; none was measured between.
    if (!draws)
      return look.mean_length < 40    ? shape(8, 8, 4, 2)
             : look.mean_length < 100 ? shape(8, 16, 3, 2)
                                      : shape(8, 32, 3, 2);
    if (waits && args.width < 64) return shape(8, 16, 4, 2);
    if (look.mean_length < 24) return shape(8, 8, 2, 2);
    return shape(8, 32, from_long_rows ? 4 : 2, 2);
  }
  // One tile, so that entries are drawn once; unless rows are long and B is read again and again.
  s.cf = 2;
  s.g = 32;
  s.l = packs <= 32 || (from_long_rows && (!draws || args.width >= 64)) ? 16 : 32;
  if (s.l == 16 && !draws && args.width < 100) s.g = 16;
  if (s.l == 32 && !draws) s.u = 3;
  if (few && args.width < 64) s.u = 2;
  return s;
}

std::string expression(const row_shape& s, const std::string& semiring, const std::string& b_type,
                       const char* drawn = "all") {
  std::string out = "rig::on_cuda::row<" + semiring + ", " + b_type + ", ";
  out +=
      s.packs ? "static_cast<int>(" + std::to_string(s.bytes) + " / sizeof(" + b_type + "))" : "1";
  for (const int number : {s.l, s.g, s.u, s.cf}) out += ", " + std::to_string(number);
  out += (s.plain ? ", true" : ", false") + std::string(", rig::on_cuda::drawn::") + drawn;
  return out + (s.rest > 0 ? ", " + std::to_string(s.rest) : "") + ">";
}
template <sum_kind Of>
std::string table_expression(int shape, const std::string& semiring, const std::string& b_type) {
  return expression(shape_at(shape, Of), semiring, b_type);
}
constexpr decltype(kernel_request::expression) table_expressions[] = {
    table_expression<sum_kind::weighted>, table_expression<sum_kind::unweighted>,
    table_expression<sum_kind::indexed>};
/// A shape that no table holds, as a number below zero, and back.
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
  return expression(shape_of(shape), semiring, b_type, "start");
}
std::string seldom_expression(int shape, const std::string& semiring, const std::string& b_type) {
  return expression(shape_of(shape), semiring, b_type, "seldom");
}
std::string drawn_expression(int shape, const std::string& semiring, const std::string& b_type) {
  return expression(shape_of(shape), semiring, b_type, "anywhere");
}
std::string values_expression(int, const std::string& semiring, const std::string&) {
  return "rig::on_cuda::take_values<" + semiring + ">";
}

/// B with its rows on pack boundaries, where they are not and a copy costs less than it saves: up
/// to 40 columns a few loads of single elements do (f = 33, milliseconds of the copy and of those:
/// arxiv-like, 14 entries a row, 0.111, 0.096; rmat:18:16, 29, 0.234, 0.244), beyond they take
/// twice as long (reddit-like, f = 101: 5.1, 9). Of few entries: pubmed-like, f = 33, 0.0140,
/// 0.0099 (the program marked ** in docs/notes/exact.md).
buffer padded_b(const problem& p, arguments& args, int width) {
  const int64 bytes = static_cast<int64>(p.b.value_bytes), f = p.b.columns;
  if (p.algebra->ignores_right || p.a.nnz == 0 || width == 1 || f <= 2 * width ||
      reads_packs(p, args, width) || p.a.nnz < (f <= 40 ? 20 : 2) * static_cast<int64>(p.b.rows) ||
      (forced.shape && !forced.shape->packs))
    return {};
  const int64 unit = 32 / bytes, stride = (f + unit - 1) / unit * unit;
  buffer padded = buffer::allocate(static_cast<std::size_t>(p.b.rows * stride * bytes), p.a.where,
                                   p.desc->stream);
  pad_rows(p.b, padded.data(), stride, stream_of(p));
  args.b = padded.data();
  args.b_row_bytes = row_bytes(stride, p.b.value_bytes);
  return padded;
}

/// The shape of exact products that copy B in tiles and what they leave of its rows; its rest is 0
/// where none does. Up to 14 entries a row the copy costs more than it gains: arxiv-like, f = 33:
/// 0.080 ms, 0.077. Two to four columns beyond tiles cost more than one, and are taken where tiles
/// stay in L2: reddit-like, f = 36, 100: 1.90, 2.07; 4.74, 4.82; uniform:262144:32, f = 34, 68,
/// 100: 0.218, 0.260; 0.387, 0.444; 0.551, 0.661, but 36, which B's rows hold in packs: 0.214,
/// 0.203; rmat:18:16, f = 36: 0.201, 0.180. Packs of more than four are not: their kernels take
/// NVRTC more than the second that a first call may.
row_shape tiled_shape(const problem& p, const profile& look, int width) {
  const index f = p.b.columns;
  if (width == 1 || !is_plain(p) || p.algebra->ignores_right || reads_codes(p)) return {};
  if (forced.shape) {
    const row_shape& s = *forced.shape;
    const int tile = s.l * width * s.cf;
    const bool fits = s.packs && f > tile && f % tile > 0 && f % tile <= s.rest;
    return fits ? s : row_shape{};
  }
  const int tile = 8 * width, left = f % tile, tiles = f / tile;
  if (tiles == 0 || tiles > most_tiles || left == 0 || left > width || p.a.nnz < few_entries ||
      p.a.nnz < 20 * static_cast<int64>(p.b.rows) || no_compiler_because() != nullptr)
    return {};
  const bool skewed = is_skewed(look, p.a.nnz), dense = look.mean_length >= 40 && !skewed,
             stay = slices_fit(p, 8), in_slices = stay && !skewed;
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

/// B in the tiles of that shape, as a temporary.
buffer tiled_b(const problem& p, arguments& args, const row_shape& s, int width) {
  const int64 bytes = static_cast<int64>(p.b.value_bytes), rows = p.b.rows;
  const int64 tile = int64{width} * s.l * s.cf, left = p.b.columns / tile * tile;
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
  launch(p, "take_values",
         kernel_for(p, {"take_values", "row.cu", 0, 1, values_expression, take_values_kernels()}),
         dim3(static_cast<unsigned>(blocks < 65536 ? blocks : 65536)), row_threads, conversion);
  args.permutation = nullptr;
  args.a_values = taken.data();
  return taken;
}

void run_row(const problem& p, arguments& args, const row_lists* lists) {
  const int width = pack_width(p, args);
  const bool samples = args.samples != sampling::none;
  const profile& look = look_of(p);
  const row_shape tiled = samples ? row_shape{} : tiled_shape(p, look, width);
  const bool in_tiles = tiled.rest > 0;
  const buffer values = ordered_values(p, args),
               b = in_tiles ? tiled_b(p, args, tiled, width) : padded_b(p, args, width);
  const text_edit* const edit = samples || !is_plain(p) ? nullptr : forced.edit;
  const bool at_run_time = samples || in_tiles || reads_codes(p);
  const bool is_forced =
      forced.shape && forced.shape->rest == 0 && !at_run_time && is_plain(p) &&
      (!forced.shape->packs || p.algebra->ignores_right || reads_packs(p, args, width));
  const int shape = is_forced || in_tiles ? 0 : shape_for(p, look, args, width);
  row_shape s = is_forced ? *forced.shape : in_tiles ? tiled : exact_shape(p, look, args, shape);
  const char* name = edit != nullptr ? edit->name : in_tiles ? "row, tiled" : "row";
  auto* named = numbered_expression;
  if (samples && draws_seldom(p, look, args, s)) {
    name = "row, seldom sampled";
    named = seldom_expression;
  } else if (samples) {
    const bool starts = args.samples == sampling::bucket;
    s = shape_of_samples(p, look.sampled(args.width), args, width);
    name = starts ? "row, its start" : "row, sampled";
    named = starts ? started_expression : drawn_expression;
  }
  const auto pack = static_cast<std::size_t>(width);
  args.c_packed =
      p.b.columns % width == 0 &&
      is_packed(args.c, args.c_stride, p.c.value_bytes, pack * p.c.value_bytes) &&
      (args.indices == nullptr || is_packed(args.indices, args.indices_stride, 4, 4 * pack));
  const void* const kernel =
      is_forced || at_run_time || edit != nullptr
          ? kernel_for(p, {name, "row.cu", number_of(s), 0, named, nullptr, -1, 0, edit})
          : kernel_for(p, {name, "row.cu", shape, std::size(shapes),
                           table_expressions[static_cast<int>(kind_of(p))], row_kernels()});
  const int64 groups = row_threads / s.g;
  const int64 v = s.packs ? width : 1;
  const int64 tile = v * s.l * s.cf;
  const int64 pieces = lists != nullptr ? lists->piece_count : 0;
  const int64 blocks = (pieces + groups - 1) / groups + (args.rows + groups - 1) / groups;
  // Tiles and a rest fit in y, as blocks beyond them would find columns left.
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

answer row_answer(const problem& p) {
  answer out;
  if (cannot(out, p, no_kernel_because(p))) return out;
  const profile& look = look_of(p);
  const double even = estimate(p);
  out.seconds = even + lone_row_seconds(look.longest);
  if (split_helps(p, look)) {
    out.says = verdict::slower;
    out.seconds += even * look.imbalance;  // lanes that wait for the longest row of their warp
    if (p.reasons)
      out.reason = "the longest of " + std::to_string(p.a.rows) + " rows has " +
                   std::to_string(look.longest) + " entries, the mean is " +
                   std::to_string(static_cast<int64>(look.mean_length));
  }
  return out;
}

void row_run(const problem& p) {
  arguments args = arguments_of(p);
  run_row(p, args, nullptr);
}

}  // namespace rig::on_cuda
