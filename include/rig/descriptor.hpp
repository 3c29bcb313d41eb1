#pragma once

/// @file
/// The options of a call: `descriptor`, and `scalar` for its fill.

#include <cstdint>
#include <string>
#include <type_traits>

#include "rig/accumulate.hpp"
#include "rig/checked_index.hpp"
#include "rig/scalar.hpp"

namespace rig {

/// @cond internal
/// Whether T is an integer type, or an enum that converts to one. Characters are text.
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
/// @endcond

/// A number of any storage or integer type, kept exactly; the type of `descriptor::fill`. Empty by
/// default.
/// @code
/// const rig::scalar fill = -1;
/// const float number = fill.as<float>();
/// @endcode
class scalar {
 public:
  /// Holds no number.
  constexpr scalar() = default;
  /// Holds `value`. Text, characters and pointers do not compile.
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

  /// Whether it holds a number.
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

/// How exactly a kernel multiplies floats.
enum class precision : std::uint8_t {
  full,  ///< as floats
  tf32,  ///< the kernel `hybrid` may round operands to eleven significant bits, for Tensor cores
};

/// Options of a call. The meaning fields change the result; the tuning fields change at most the
/// rounding, unless `kernel` names an approximate one. Field order is part of the API.
/// @code
/// const rig::descriptor desc = {.transpose_a = true, .fill = 0, .threads = 4};
/// const auto product = rig::mxm(A, B, rig::max_second<float>{}, desc);
/// @endcode
struct descriptor {
  // meaning
  bool transpose_a = false;  ///< use Aᵀ; the first call builds the derived structure "transpose"
  bool transpose_b = false;  ///< use Bᵀ; each call makes one transposed copy of B
  bool replace = false;      ///< outside the mask, C becomes `fill`; false: C stays
  scalar fill = {};  ///< value of places without products; default: the semiring's zero, finished;
                     ///< not for results whose type is not rig's
  // tuning
  std::string kernel = {};  ///< a kernel's name; empty: the cheapest one that can serve
  /// Entries per row that a sampled kernel reads: 1 … 4096; others ignore it.
  checked_index width = 0;
  /// Entries per row of a dense B that the kernel `maxk` keeps: 1 … columns. A cbsr has its own k;
  /// other kernels ignore it.
  checked_index k = 0;
  bool rescale = false;  ///< sampled sums are multiplied by row_nnz / staged: GCN weights hold full
                         ///< degrees, so GCN inference needs it. Means divide by staged anyway
  /// tf32 lets `hybrid` serve a B of float. Its error has a bound: docs/reference/mxm.md.
  rig::precision precision = rig::precision::full;
  /// The same bits each time. If false, `vendor` can serve, and on a device `maxk_backward` may add
  /// the floats of a `linear` semiring by atomics.
  bool reproducible = true;
  /// CPU threads; 0: as the work, OpenMP, the process's cores and their load allow
  /// (docs/guide/threads.md). At most 256, or the machine's processors if there are more. One if
  /// there is little to do, or in a forked child whose parent had threads. If the system refuses a
  /// thread, GCC's OpenMP prints an error and ends the process; then set a number that `ulimit -u`
  /// and cgroups allow.
  checked_index threads = 0;
  /// The cudaStream_t to work on. Null: rig's own stream of the device, which CUDA's default stream
  /// does not order; that one is cudaStreamLegacy. New results belong to rig's stream, which waits
  /// for the call; so results outlive `stream`, and any thread may use them.
  /// Work on `stream` must be complete before the stream is destroyed. Work on cudaStreamPerThread
  /// must be complete before its thread ends, otherwise CUDA's driver can hang. A kernel of the
  /// caller that reads a result on `stream` must be complete before the result is dropped or used
  /// on another stream. While `stream` is captured, new results belong to the graph and to
  /// `stream`.
  void* stream = nullptr;
};

}  // namespace rig
