#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "rig/accumulate.hpp"
#include "rig/scalar.hpp"

namespace rig {

/// Is T an integer type, or an enum that stands for one? Characters are text.
template <class T>
inline constexpr bool is_whole = (std::is_integral_v<T> && sizeof(T) <= sizeof(int64)) ||
                                 (std::is_enum_v<T> && std::is_convertible_v<T, int64>);
template <>
inline constexpr bool is_whole<char> = false;
template <>
inline constexpr bool is_whole<wchar_t> = false;
template <>
inline constexpr bool is_whole<char8_t> = false;
template <>
inline constexpr bool is_whole<char16_t> = false;
template <>
inline constexpr bool is_whole<char32_t> = false;

/// A number of any storage type or integer type, kept exactly: what `descriptor::fill` is. Empty
/// unless given one.
class scalar {
 public:
  constexpr scalar() = default;
  template <class T>
  constexpr scalar(T value) {
    if constexpr (is_float<T> || is_small_float<T>) {
      state_ = state::real;
      real_ = convert<double>(value);
    } else if constexpr (is_whole<T>) {
      state_ = value < T(0) ? state::negative : state::natural;
      integer_ = static_cast<std::uint64_t>(value);
    } else {
      static_assert(sizeof(T) == 0,
                    "a fill is a number: of float, double, half, bfloat16 or an integer type");
    }
  }

  constexpr bool has_value() const { return state_ != state::none; }
  /// The number as a T, by `convert`.
  template <class T>
  constexpr T as() const {
    if (state_ == state::natural) return convert<T>(integer_);
    if (state_ == state::negative) return convert<T>(static_cast<int64>(integer_));
    return convert<T>(real_);
  }

 private:
  enum class state : unsigned char { none, real, natural, negative };
  state state_ = state::none;
  double real_ = 0;
  std::uint64_t integer_ = 0;
};

/// Everything a call may say beyond its operands. The meaning fields change the result; the tuning
/// fields never do beyond rounding, unless `kernel` names an approximate one. Field order is part
/// of the API.
struct descriptor {
  // meaning
  bool transpose_a = false;  ///< use Aᵀ; builds the derived structure "transpose" once
  bool transpose_b = false;  ///< use Bᵀ; costs one transposed copy of B a call
  bool replace = false;      ///< outside the mask, C becomes fill instead of staying
  scalar fill = {};  ///< value where a row has no products; default: the semiring's zero, finished;
                     ///< not for results of a type of the caller's
  // tuning
  std::string kernel = {};  ///< name from the list of kernels; empty: the cheapest that can
  int width = 0;  ///< entries a row keeps under a sampled kernel: 1 … 4096; others ignore it
  int k = 0;  ///< entries that the kernel `maxk` keeps of a row of a dense B: 1 … columns; a cbsr
              ///< has its own; others ignore it
  bool rescale = false;  ///< sampled sums are multiplied by row_nnz / staged: GCN weights hold full
                         ///< degrees, so GCN inference needs it. Means divide by staged anyway
  /// The same bits each time. False: `vendor` can, and `maxk_backward` on a device may add the
  /// floats of a `linear` semiring by atomics.
  bool reproducible = true;
  /// CPU threads; 0: as many as OpenMP gives. At most 256, or the machine's processors where there
  /// are more, and one where there is little to do, or in the child of a process that had threads
  /// when it was forked. Where the system does not let OpenMP start a thread, GCC's OpenMP prints
  /// an error and ends the process: name a number that `ulimit -u` and cgroups allow.
  int threads = 0;
  /// cudaStream_t to work on; null: the device's stream of rig. New results belong to rig's stream,
  /// which follows the call, so they outlive this one, and any thread may use them, also those of
  /// cudaStreamPerThread. Its work is to be done before it is destroyed; that of
  /// cudaStreamPerThread before its thread ends, which can hang in CUDA's driver otherwise. A
  /// kernel of the caller's own that reads a result here is done before the result is dropped or
  /// used elsewhere. While the stream is captured, new results belong to the graph and to this
  /// stream.
  void* stream = nullptr;
};

}  // namespace rig
