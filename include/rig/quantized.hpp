#pragma once

/// @file
/// Matrices of 8-bit numbers: `quantized`.

#include <cstddef>
#include <span>

#include "rig/buffer.hpp"
#include "rig/dense.hpp"
#include "rig/scalar.hpp"

namespace rig {

/// The numbers that share a range: the whole matrix, or a column.
enum class ranges : unsigned char {
  matrix,  ///< one range
  column,  ///< a range per column
};

/// How a number becomes a code: the greatest code at or below it, or the nearest.
enum class rounding : unsigned char {
  floor,    ///< the greatest code at or below the number
  nearest,  ///< the nearest code
};

/// A dense matrix of 8-bit numbers: row-major codes q, and a range (low, step) of two floats for
/// the matrix or for each column.
///
///   x̂ = low + step · q,  q in 0 … 255, rounded once, to the nearest float
///
/// Immutable: copies share the memory. It can be B of `mxm`, which dequantises elements as it reads
/// them. On a CPU all of B is dequantised for the call if its rows are used several times each. On
/// CUDA no such copy is made, and a `linear` semiring sums codes times A's values
/// and dequantises the sum. This sum overflows if A holds infinities, or if 255 times a sum of its
/// values exceeds a float. The result may then be an infinity or NaN although the sum of products
/// with x̂ is not. A regular value, in one place.
/// Source: AES-SpMM, 2025, for the codes and the range over the matrix.
/// @code
/// const auto codes = rig::quantized::from(B);
/// const auto product = rig::mxm(A, codes, rig::plus_times<float>{});
/// @endcode
class quantized {
 public:
  /// 0×0.
  quantized() = default;

  /// Quantises a dense:
  ///
  ///   q = floor((x − low) / (max − low) · 255), or for `nearest` (x − low) / step, rounded
  ///
  /// low is the least x of the range (for doubles, the float at or below it); step is (max − low) /
  /// 255, a float. low + step · q is within step of x for `floor`, within step / 2 for `nearest`,
  /// up to a part in 2^50. Equal floats have step 0 and keep their values. Deterministic. Places:
  /// all; a device's dense is quantised on the host. Cost: two passes over x, one byte per number.
  /// T: float, double, half, bfloat16. Throws error: range, with the position of the first number
  /// that is NaN, infinite or too large for a float; out_of_memory. Source: AES-SpMM, 2025.
  /// @code
  /// const auto codes = rig::quantized::from(B, rig::ranges::column);
  /// const auto product = rig::mxm(A, codes, rig::plus_times<float>{});
  /// @endcode
  template <class T>
  requires(is_float<T> || is_small_float<T>) static quantized
      from(const dense<T>& x, ranges over = ranges::matrix, rounding how = rounding::nearest);

  /// Copies codes and ranges: rows · columns codes, row by row, and one range or `columns` of them.
  /// Throws error: shape, out_of_memory; range if a range is not finite, a step is negative, or low
  /// + 255 · step overflows a float.
  /// @code
  /// const std::vector<unsigned char> codes{0, 255};
  /// auto q = rig::quantized::from_codes(1, 2, codes, std::vector{-1.0f}, std::vector{0.5f});
  /// @endcode
  static quantized from_codes(checked_index rows, checked_index columns,
                              std::span<const unsigned char> codes, std::span<const float> low,
                              std::span<const float> step);

  /// The number of rows.
  index rows() const { return rows_; }
  /// The number of columns.
  index columns() const { return columns_; }
  /// Whether every column has a range; false if the only column has the only range.
  bool per_column() const { return range_count_ != 1; }
  /// Numbers in `low` and `step`: 1 or `columns`.
  index range_count() const { return range_count_; }
  /// The place of codes and ranges.
  place where() const { return storage_.where(); }
  /// The stream that they belong to; null on the CPU.
  void* stream() const { return storage_.stream(); }

  /// Code (i, j) is data()[i · columns() + j]. Codes and ranges are memory of `where()`.
  const unsigned char* data() const& { return storage_.data<const unsigned char>(); }
  /// The least number of each range.
  const float* low() const& { return range_at(0); }
  /// The distance of two codes in each range.
  const float* step() const& { return range_at(static_cast<std::size_t>(range_count_)); }
  /// Deleted because the memory of a temporary ends with its expression: name the matrix first.
  const unsigned char* data() const&& = delete;
  /// Deleted for the same reason.
  const float* low() const&& = delete;
  /// Deleted for the same reason.
  const float* step() const&& = delete;

  /// The same in another place: one copy of codes and ranges together, or shared memory if it is
  /// already there. A copy to a device may still run on return. Throws error: place, out_of_memory.
  quantized to(place target) const;

  /// Every x̂ as a T, in the place of the codes. T: float, double, half, bfloat16. Throws
  /// error(out_of_memory).
  /// @code
  /// const auto near = rig::quantized::from(B).dequantised<float>();
  /// @endcode
  template <class T>
  requires(is_float<T> || is_small_float<T>) dense<T> dequantised()
  const { return dequantised<T>(0, rows_); }
  /// The same of `count` rows from row `first` on. Throws error: range, out_of_memory.
  /// @code
  /// const auto some = rig::quantized::from(B).dequantised<float>(0, 2);
  /// @endcode
  template <class T>
  requires(is_float<T> || is_small_float<T>) dense<T> dequantised(index first, index count)
  const;

  /// @cond internal
  /// Uninitialised codes and ranges at `codes`, `low` and `step`, for a reader to fill. Throws
  /// error: shape, also if `range_count` is neither 1 nor `columns`; out_of_memory.
  struct parts;
  static parts uninitialised(index rows, index columns, index range_count);
  /// @endcond

 private:
  const float* range_at(std::size_t number) const {
    if (storage_.bytes() == 0) return nullptr;
    return reinterpret_cast<const float*>(storage_.data<const char>() + codes_bytes()) + number;
  }
  /// Bytes of the codes and of the padding before the ranges.
  std::size_t codes_bytes() const {
    constexpr std::size_t line = 64;
    return (static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_) + line - 1) /
           line * line;
  }

  cleared_by_move<index> rows_, columns_, range_count_;
  buffer storage_;  // codes, low, step: one block, so one copy moves all
};

/// @cond internal
struct quantized::parts {
  quantized made;
  unsigned char* codes;
  float *low, *step;
  /// Throws error(range) if a range is invalid.
  void check(const char* operation) const;
};
/// @endcond

}  // namespace rig
