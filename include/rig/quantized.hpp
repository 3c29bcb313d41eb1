#pragma once

#include <cstddef>
#include <span>

#include "rig/buffer.hpp"
#include "rig/dense.hpp"
#include "rig/scalar.hpp"

namespace rig {

/// What numbers share a range: all of a matrix, or those of a column.
enum class ranges : unsigned char { matrix, column };

/// How a number becomes a code: the greatest at or below it, or the nearest.
enum class rounding : unsigned char { floor, nearest };

/// A dense matrix in 8 bits a number: row-major codes q and, for the matrix or for each column, a
/// range (low, step) of two floats.
///
///   x̂ = low + step · q,  q in 0 … 255, rounded once, to the nearest float
///
/// Immutable: copies share the memory. It serves as B of `mxm` and is dequantised as it is read; a
/// dequantised copy is never made. On CUDA a `linear` semiring adds up codes times A's values and
/// dequantises the sum: where A holds infinities, or numbers whose sums times 255 no float holds,
/// the result may be an infinity or NaN that the sum of products with x̂ is not. A regular value, in
/// one place.
/// Source: AES-SpMM, 2025, for the codes and the range over the matrix.
class quantized {
 public:
  quantized() = default;

  /// Quantises a dense:
  ///
  ///   q = floor((x − low) / (max − low) · 255), or for `nearest` (x − low) / step, rounded
  ///
  /// low is the least x of the range (of doubles, the float at or below it), step is
  /// (max − low) / 255, rounded to a float. So low + step · q, not yet rounded, is off by at most
  /// step for `floor` and step / 2 for `nearest`, but for a part in 2^50; equal floats, of which
  /// step is 0, come back as they were. The same codes for any number of threads. Places: a dense
  /// on a device is quantised on the host, and the codes go to the device. Cost: two passes over x,
  /// a byte a number. T: float, double, half, bfloat16. Throws error: range, with the place of the
  /// first number that is NaN, infinite or too large for a float; out_of_memory. Source: AES-SpMM,
  /// 2025, for `floor` over the matrix.
  template <class T>
  requires(is_float<T> || is_small_float<T>) static quantized
      from(const dense<T>& x, ranges over = ranges::matrix, rounding how = rounding::nearest);

  /// Copies codes and ranges: rows · columns codes, row by row, and one range or `columns` of them.
  /// Throws error: shape, out_of_memory, and range where a range is not finite, a step is negative,
  /// or low + 255 · step is more than a float holds.
  static quantized from_codes(index rows, index columns, std::span<const unsigned char> codes,
                              std::span<const float> low, std::span<const float> step);

  index rows() const { return rows_; }
  index columns() const { return columns_; }
  /// Does every column have a range? Not where the only column has the only range.
  bool per_column() const { return range_count_ != 1; }
  /// Numbers in `low` and `step`: 1 or `columns`.
  index range_count() const { return range_count_; }
  place where() const { return storage_.where(); }
  void* stream() const { return storage_.stream(); }

  /// Code (i, j) is data()[i · columns() + j]. Memory of the place, as are the ranges.
  const unsigned char* data() const { return storage_.data<const unsigned char>(); }
  const float* low() const { return range_at(0); }
  const float* step() const { return range_at(static_cast<std::size_t>(range_count_)); }

  /// The same in another place, copied once, codes and ranges together; shared where it is there
  /// already. To a device it returns while the copy runs on.
  quantized to(place target) const;

  /// Every x̂ as a T, in host memory. T: float, double, half, bfloat16.
  template <class T>
  requires(is_float<T> || is_small_float<T>) dense<T> dequantised()
  const;

  /// Memory to fill: codes at `codes`, ranges at `low` and `step`. What readers of files make.
  /// Throws error: shape, where `range_count` is neither 1 nor `columns` too; out_of_memory.
  struct parts;
  static parts uninitialised(index rows, index columns, index range_count);

 private:
  const float* range_at(std::size_t number) const {
    if (storage_.bytes() == 0) return nullptr;
    return reinterpret_cast<const float*>(storage_.data<const char>() + codes_bytes()) + number;
  }
  /// The codes and what is between them and the ranges.
  std::size_t codes_bytes() const {
    constexpr std::size_t line = 64;
    return (static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_) + line - 1) /
           line * line;
  }

  cleared_by_move<index> rows_, columns_, range_count_;
  buffer storage_;  // codes, low, step: one block, so that one copy takes all
};

struct quantized::parts {
  quantized made;
  unsigned char* codes;
  float *low, *step;
  /// Throws error(range) where a range is not one.
  void check(const char* operation) const;
};

}  // namespace rig
