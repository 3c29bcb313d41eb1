#pragma once

/// @file
/// Sizes and indices as arguments: `checked_index`.

#include <type_traits>
#include <utility>

#include "rig/error.hpp"
#include "rig/scalar.hpp"

namespace rig {

/// @cond internal
/// Throws error(range), which names the number.
[[noreturn]] void refuse_index(const message_piece& number);
/// @endcond

/// A size or an index as an argument. Every integer converts to it; one that an `index` cannot hold
/// is error(range), which names it, and is never cut to 32 bits.
///
/// Constructors, factories, operations and options take it. Accessors of elements and rows, such as
/// `C(i, j)` and `row(i)`, are for loops: they take `index` and check nothing. The compiler's
/// option -Wconversion finds wider arguments of theirs.
/// @code
/// const long n = 5'000'000'000;
/// try { rig::dense<float>(n, 1); }
/// catch (const rig::error& e) { std::puts(e.what()); }
/// @endcode
class checked_index {
 public:
  /// 0.
  constexpr checked_index() = default;
  /// The same number. Throws error(range).
  template <class Integer>
  requires(std::is_integral_v<Integer> ||
           (std::is_enum_v<Integer> &&
            std::is_convertible_v<Integer, int64>)) constexpr checked_index(Integer number)
      : value_(static_cast<index>(number)) {
    if (!std::in_range<index>(+number)) refuse_index(+number);
  }
  /// The same number.
  constexpr operator index() const { return value_; }

 private:
  index value_ = 0;
};
/// @cond internal
inline message_piece::message_piece(checked_index value)
    : message_piece(static_cast<long long>(index(value))) {}
/// @endcond
}  // namespace rig
