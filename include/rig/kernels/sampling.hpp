#pragma once

#include "rig/scalar.hpp"

// Which entries of a row the sampled kernels read. The same text is compiled by g++, nvcc and
// NVRTC, so that every place draws the same sample.

namespace rig {

/// How the entries of a row that is longer than the width are chosen.
enum class sampling : unsigned char {
  none,      ///< not at all: the whole row
  bucket,    ///< its first entries
  fastrand,  ///< entries scattered over it by a multiplicative hash
  adaptive,  ///< runs of neighbours, the more and the shorter the longer the row
};

/// Most entries a row may keep. Places are computed in 32 bits, which hold a slot times a prime.
inline constexpr int widest_sample = 4096;

/// The sample of one row: entries entry(0) … entry(count − 1), to be added in this order. Entries
/// may repeat, and need not ascend.
struct row_sample {
  int64 count;  ///< entries staged
  unsigned shift, prime, modulus;
  unsigned reciprocal = 0xffffffffu / modulus + 1;  ///< of the modulus, times 2^32, rounded up

  /// Are the entries the first ones, in order?
  constexpr bool is_start() const { return shift == 0; }
  /// Entry, counted from the start of the row, that goes to `slot`:
  ///   (run · prime) mod modulus + place, run = slot mod 2^shift, place = ⌊slot / 2^shift⌋.
  constexpr unsigned entry(unsigned slot) const {
    // Without a division, as this is asked for each entry: the quotient is right or one too much.
    const unsigned x = (slot & ((1u << shift) - 1)) * prime;
    const auto quotient = static_cast<unsigned>(static_cast<unsigned long>(x) * reciprocal >> 32);
    const unsigned rest = x - quotient * modulus;
    return (rest >> 31 != 0 ? rest + modulus : rest) + (slot >> shift);
  }
};

/// The sample of a row of `row_nnz` entries, `width` from 1 to `widest_sample`.
///
/// A row not longer than the width is taken whole and in order. Of a longer one, slot i holds
///   bucket    entry i, i < width
///   fastrand  entry (i · 577) mod row_nnz, i < width
///   adaptive  cnt runs of N neighbours, run i from entry (i · 1429) mod (row_nnz − N + 1); its
///             entry j goes to slot i + j · cnt. N = width / cnt, at least 1, cnt at most width;
///             cnt is 4 where row_nnz / width is at most 2, 8 at most 36, 16 at most 54, else 32.
/// Deterministic: the sample depends on nothing but the arguments. Source: bucket and fastrand,
/// Huang et al., ES-SpMM, 2021; adaptive, AES-SpMM, 2025.
constexpr row_sample sample_of(sampling how, int64 row_nnz, int width) {
  if (how == sampling::none || row_nnz <= width) return {row_nnz, 0, 0, 1};
  if (how == sampling::bucket) return {width, 0, 0, 1};
  const bool in_runs = how == sampling::adaptive;
  const int64 w = width;
  const unsigned log = row_nnz <= 2 * w ? 2 : row_nnz <= 36 * w ? 3 : row_nnz <= 54 * w ? 4 : 5;
  const int64 n = in_runs ? w >> log : 0;  // 0: every slot is a run of its own
  const int64 starts = n > 0 ? row_nnz - n + 1 : row_nnz;
  // slot · prime is less than 2^23: a modulus above that changes nothing, so 32 bits do.
  const unsigned modulus = starts < highest<int32>() ? static_cast<unsigned>(starts) : 1u << 31;
  const unsigned prime = in_runs ? 1429 : 577;
  if (n == 0) return {w, 31, prime, modulus};
  return {n << log, log, prime, modulus};
}

/// sum · row_nnz / staged: what the sum of all entries would be if the others were like the staged
/// ones. Integers go through double, are rounded toward zero and clamped.
template <class T>
constexpr T rescaled(T sum, int64 row_nnz, int64 staged) {
  if constexpr (is_float<T>)
    return sum * (static_cast<T>(row_nnz) / static_cast<T>(staged));
  else
    return convert<T>(convert<double>(sum) * static_cast<double>(row_nnz) /
                      static_cast<double>(staged));
}

}  // namespace rig
