#pragma once

#include "rig/scalar.hpp"

// Which entries of a row the sampled kernels read. g++, nvcc and NVRTC compile the same text, so
// every place draws the same sample.

namespace rig {

/// How a sample of a row longer than the width is chosen.
enum class sampling : unsigned char {
  whole,     ///< no sample: the whole row
  bucket,    ///< its first entries
  fastrand,  ///< entries scattered over the row by a multiplicative hash
  adaptive,  ///< runs of neighbours; longer rows get more and shorter runs
};

/// The most entries that a row may keep. Places are computed in 32 bits, which hold a slot times a
/// prime.
inline constexpr int widest_sample = 4096;

/// The sample of one row: entries entry(0) … entry(count − 1), added in this order. Entries may
/// repeat, and need not ascend.
struct row_sample {
  int64 count;  ///< entries staged
  unsigned shift, prime, modulus;
  unsigned reciprocal = 0xffffffffu / modulus + 1;  ///< 2^32 / modulus, rounded up

  /// Whether the sample is the first `count` entries, in order.
  constexpr bool is_start() const { return shift == 0; }
  /// The entry for `slot`, counted from the start of the row:
  ///   (run · prime) mod modulus + place, run = slot mod 2^shift, place = ⌊slot / 2^shift⌋.
  constexpr unsigned entry(unsigned slot) const {
    // Avoids a division per entry: the quotient is exact or one too great.
    const unsigned x = (slot & ((1u << shift) - 1)) * prime;
    const auto quotient = static_cast<unsigned>(static_cast<unsigned long>(x) * reciprocal >> 32);
    const unsigned rest = x - quotient * modulus;
    return (rest >> 31 != 0 ? rest + modulus : rest) + (slot >> shift);
  }
};

/// The sample of a row of `row_nnz` entries, `width` from 1 to `widest_sample`; docs/tour.md has
/// its formulas. It depends on the arguments alone. Source: bucket and fastrand, Lin, Luo and Ceze,
/// ES-SpMM, 2021; adaptive, AES-SpMM, 2025.
constexpr row_sample sample_of(sampling how, int64 row_nnz, int width) {
  if (how == sampling::whole || row_nnz <= width) return {row_nnz, 0, 0, 1};
  if (how == sampling::bucket) return {width, 0, 0, 1};
  const bool in_runs = how == sampling::adaptive;
  const int64 w = width;
  const unsigned log = row_nnz <= 2 * w ? 2 : row_nnz <= 36 * w ? 3 : row_nnz <= 54 * w ? 4 : 5;
  const int64 n = in_runs ? w >> log : 0;  // 0: every slot is its own run
  const int64 starts = n > 0 ? row_nnz - n + 1 : row_nnz;
  // slot · prime is less than 2^23, so a greater modulus changes nothing, and 32 bits suffice.
  const unsigned modulus = starts < highest<int32>() ? static_cast<unsigned>(starts) : 1u << 31;
  const unsigned prime = in_runs ? 1429 : 577;
  if (n == 0) return {w, 31, prime, modulus};
  return {n << log, log, prime, modulus};
}

/// A sample of one row that a seed moves: the entries of `of`, turned around the row. Entries may
/// repeat, and need not ascend.
struct drawn_sample {
  row_sample of;
  int64 row_nnz, turn;

  constexpr int64 count() const { return of.count; }
  constexpr int64 entry(unsigned slot) const {
    const int64 at = of.entry(slot) + turn;
    return at < row_nnz ? at : at - row_nnz;
  }
};

/// The finaliser of splitmix64 (Steele, Lea & Flood, OOPSLA 2014).
constexpr unsigned long scrambled(unsigned long x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ul;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebul;
  return x ^ (x >> 31);
}

/// Which entries of each row are drawn. Seed 0 draws the kernels' samples. Another seed turns the
/// sample of each row by a number of its own, so that each entry is as likely as any other of its
/// row; and the step between runs is a prime that shares no factor with their number.
struct row_draw {
  sampling how = sampling::whole;
  int width = 0;
  unsigned long seed = 0;

  constexpr drawn_sample of(int64 row_nnz, index row) const {
    drawn_sample out{sample_of(how, row_nnz, width), row_nnz, 0};
    if (seed == 0 || out.count() == row_nnz) return out;
    const unsigned long random = scrambled(seed ^ scrambled(static_cast<unsigned long>(row)));
    out.turn = static_cast<int64>((random >> 8) % static_cast<unsigned long>(row_nnz));
    // No modulus is a multiple of all four: their product exceeds 2^32.
    constexpr unsigned primes[] = {577, 1019, 1429, 1783};
    unsigned k = random & 3;
    while (!out.of.is_start() && out.of.modulus % primes[k] == 0) k = (k + 1) & 3;
    if (!out.of.is_start()) out.of.prime = primes[k];
    return out;
  }
};

/// sum · row_nnz / staged: estimates the sum of all entries from the staged ones. Integers go
/// through double, round toward zero and are clamped.
template <class T>
constexpr T rescaled(T sum, int64 row_nnz, int64 staged) {
  if constexpr (is_float<T>)
    return sum * (static_cast<T>(row_nnz) / static_cast<T>(staged));
  else
    return convert<T>(convert<double>(sum) * static_cast<double>(row_nnz) /
                      static_cast<double>(staged));
}

}  // namespace rig
