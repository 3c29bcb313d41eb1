// What launch shape a product of samples of rows takes.

#include "cuda/tuning/row_rules.hpp"

namespace rig::on_cuda {

/// Where they are so few, a row of theirs is drawn by a function of its own, and all others go by
/// the exact product's shape. Milliseconds of samples as such and as rare (the program marked ** in
/// docs/lab/sampled.md), f = 64: adaptive, width 1024: products-like 3.90, 3.57, in
/// bfloat16 3.18, 2.71, of codes 3.09, 2.89; arxiv-like 0.0894, 0.0854, but of codes, by eight
/// lanes a row, 0.0741, 0.0873: the rare ones are the last. fastrand, width 128, one row in 16
/// longer: products-like 3.26, 3.04, but f = 256, 11.1, 11.6, where one in 64 may be: arxiv-like,
/// 0.290, 0.283, adaptive, width 1024: 0.321, 0.300. bucket, whose samples cost less: arxiv-like,
/// width 128: 0.0748, 0.0798; 1024: 0.0857, 0.0843; none was measured between. Of few entries:
/// pubmed-like, whose rows have 4.7 entries and 93 at most, width 64: fastrand 0.0106, 0.0092,
/// bucket 0.0085, 0.0088; width 32: fastrand 0.0090, 0.0086; f = 256: 0.0175, 0.0205, of codes
/// 0.0143, 0.0137; in bfloat16, width 32: 0.0082, 0.0094.
bool reads_mostly_full(const problem& p, const row_statistics& statistics, const arguments& args,
                       const row_shape& exact) {
  const bool starts = args.samples == sampling::bucket;
  if (!exact.plain || !exact.packs || args.width < statistics.mean_length) return false;
  const bool few_packs = packs_of(p, args) <= 16;
  if (p.a.nnz < few_entries)
    return !starts && statistics.longest < 4 * static_cast<int64>(args.width) &&
           4 * statistics.mean_length <= args.width &&
           (reads_codes(p) || (b_bytes(p) == 4 && few_packs));
  if (args.width < (starts ? 256 : cut_of(0)) || exact.g < 16) return false;
  int kind = cut_kinds - 1;
  while (cut_of(kind) > args.width) --kind;
  return int64{statistics.cut_rows[kind]} * (few_packs ? 16 : 64) <= p.a.rows;
}

/// Samples are compiled at run time alone, and need no line of the table. Milliseconds by
/// the program that docs/lab/sampled.md marks *, of L, G, U, CF, f = 64: arxiv-like, fastrand,
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
row_shape shape_of_samples(const problem& p, const row_statistics& statistics,
                           const arguments& args, int width) {
  row_shape s = shape_at(shape_for(p, statistics, args, width), kind_of(p));
  s.bytes = pack_bytes(p, args);
  if (!s.plain || !s.packs || p.b.columns == 1) return s;
  const double packs = packs_of(p, args);
  const bool full = statistics.longest == args.width && statistics.mean_length >= args.width;
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
    const rows_of_a rows = rows_of(p, statistics);
    s.g = rows >= rows_of_a::dense                            ? 32
          : rows == rows_of_a::even && !p.algebra->is_indexed ? 16
                                                              : 8;
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
      else if (codes && statistics.mean_length >= 32)
        s.g = statistics.mean_length < 150 ? 16 : 32;
      const bool is_short = !from_long_rows && args.width <= 64;
      if (is_short && (codes || (halves && statistics.mean_length >= 24))) s.u = 2;
      return s;
    }
    // bucket, whose entries lie beside each other: bfloat16, products-like, width 64: 1.91, 1.96,
    // 2.15; codes, three in flight: reddit-like, width 256: 0.672, 0.715, more; products-like,
    // width 64: 1.80; U = 4: 1.91.
    if (codes) s.u = 3;
    if (codes ? args.width <= 256
              : (halves && statistics.mean_length < 100) || (full && args.width <= 128))
      s.g = 8;
    else if (codes)
      s.g = statistics.mean_length < 150 ? 16 : 32;
    return s;
  }
  // Rows that draw a few of many wait for A.
  const bool waits = draws && p.a.nnz >= 8 * static_cast<int64>(args.width) * p.a.rows;
  if (b_bytes(p) < 4) {  // more sums a lane
    const bool dense = statistics.mean_length >= 40 && !is_skewed(statistics, p.a.nnz);
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
      return statistics.mean_length < 40    ? shape(8, 8, 4, 2)
             : statistics.mean_length < 100 ? shape(8, 16, 3, 2)
                                            : shape(8, 32, 3, 2);
    if (waits && args.width < 64) return shape(8, 16, 4, 2);
    if (statistics.mean_length < 24) return shape(8, 8, 2, 2);
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

}  // namespace rig::on_cuda
