#pragma once

/// @file
/// Sizes and indices as arguments: `checked_index`, and `checked_option`.

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "rig/checked_number.hpp"

namespace rig {

/// A size or an index as an argument. Every integer converts to it; one that an `index` cannot hold
/// is error(range), which names it and the call, and is never cut to 32 bits.
///
/// Constructors, factories and operations take it. Accessors of elements and rows, such as
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
  /// The same number, which is checked when the call reads it.
  template <class Integer>
  requires(std::is_integral_v<Integer> ||
           (std::is_enum_v<Integer> &&
            std::is_convertible_v<Integer, int64>)) constexpr checked_index(Integer number)
      : number_(+number) {}
  /// The same number. Throws error(range).
  constexpr operator index() const { return as(nullptr, "a size or an index"); }
  /// The same number; the words are for the message. Throws error(range).
  constexpr index as(const char* call, const char* argument) const {
    return number_.checked<index>(call, argument);
  }

 private:
  scalar number_ = 0;
};

/// The name of an option, as a template argument.
struct option_name {
  char text[16] = {};  ///< ends with 0
  /// The name.
  template <std::size_t Size>
  requires(Size <= sizeof(text)) constexpr option_name(const char (&name)[Size]) {
    for (std::size_t i = 0; i < Size; ++i) text[i] = name[i];
  }
};

/// A size as an option of a struct, such as `descriptor::width`: a `checked_index` that is checked
/// at once. Throws error(range), which names the option.
template <option_name Name>
class checked_option : public checked_index {
 public:
  /// 0.
  constexpr checked_option() = default;
  /// The same number. Throws error(range).
  template <std::convertible_to<checked_index> Integer>
  constexpr checked_option(const Integer& number) : checked_index(number) {
    static_cast<void>(as(nullptr, Name.text));
  }
};

/// @cond internal
inline message_piece::message_piece(checked_index value)
    : message_piece(static_cast<long long>(index(value))) {}
/// @endcond
}  // namespace rig
