#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <type_traits>

namespace rig {

/// A contiguous range of integers of 1 to 8 bytes, signed or not: a vector, an array, a span.
template <class Range>
concept integer_range = std::ranges::contiguous_range<const Range> &&
                            std::ranges::sized_range<const Range> &&
                            std::integral<std::ranges::range_value_t<const Range>> &&
                            sizeof(std::ranges::range_value_t<const Range>) <= 8 &&
                        !std::same_as<std::ranges::range_value_t<const Range>, bool> &&
                        !std::same_as<std::ranges::range_value_t<const Range>, char>;

/// Whether an argument of this type is a temporary container, which ends with the call.
template <class Range>
inline constexpr bool is_temporary =
    !std::is_lvalue_reference_v<Range> && std::ranges::range<Range> &&
    !std::ranges::borrowed_range<Range>;

/// The caller's integers with their type erased: offsets, columns and positions may have any
/// integer type. It owns nothing, and is valid only during the call.
class integers {
 public:
  template <integer_range Range>
  integers(const Range& range)
      : data_(std::ranges::data(range)),
        size_(std::ranges::size(range)),
        bytes_each_(sizeof(std::ranges::range_value_t<const Range>)),
        is_signed_(std::is_signed_v<std::ranges::range_value_t<const Range>>) {}

  const void* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * bytes_each_; }
  std::size_t bytes_each() const { return bytes_each_; }
  bool is_signed() const { return is_signed_; }

 private:
  const void* data_;
  std::size_t size_, bytes_each_;
  bool is_signed_;
};

}  // namespace rig
