#pragma once

// Arrays of the caller, of any integer type.

#include <cstdint>
#include <cstring>

#include "rig/pattern.hpp"

namespace rig {

inline std::size_t size(int64 count) { return static_cast<std::size_t>(count); }

inline void check_shape(const char* of, checked_index rows, checked_index columns) {
  if (rows.as(of, "rows") < 0 || columns.as(of, "columns") < 0)
    fail(errc::shape,
         {of, ": ", rows, "x", columns, " is not a shape; rows and columns must be at least 0"});
}

/// The caller's array, read bytewise: a program may use either of two types of one size and sign,
/// such as long and long long.
template <class Number>
struct numbers {
  const unsigned char* bytes;
  std::size_t size;
  auto operator[](std::size_t p) const {
    Number x;
    std::memcpy(&x, bytes + p * sizeof(Number), sizeof(Number));
    return +x;  // promotes character types, which would print as text
  }
};

/// Calls work(numbers) with their type.
template <class Work>
void with_type(const integers& of, Work work) {
  const auto as = [&]<class Signed, class Unsigned>(Signed, Unsigned) {
    const auto* const bytes = static_cast<const unsigned char*>(of.data());
    of.is_signed() ? work(numbers<Signed>{bytes, of.size()})
                   : work(numbers<Unsigned>{bytes, of.size()});
  };
  if (of.bytes_each() == 1) return as(std::int8_t(), std::uint8_t());
  if (of.bytes_each() == 2) return as(std::int16_t(), std::uint16_t());
  if (of.bytes_each() == 4) return as(std::int32_t(), std::uint32_t());
  as(std::int64_t(), std::uint64_t());
}

inline bool are_indices(const integers& given) {
  return given.is_signed() && given.bytes_each() == sizeof(index);
}

/// Calls take(p, number p as an index); throws if a number is outside 0 … limit − 1. `what` and
/// `whose` name it in the message: "column" and "entry", for example.
template <class Take>
void narrow(const integers& given, index limit, const char* what, const char* whose, Take take) {
  with_type(given, [&](const auto& all) {
    for (std::size_t p = 0; p < all.size; ++p) {
      const auto number = all[p];
      if (number < 0 || static_cast<std::uint64_t>(number) >= static_cast<std::uint64_t>(limit))
        fail(errc::range,
             {"matrix: ", what, " ", number, " of ", whose, " ", p, " is outside 0..", limit - 1});
      take(p, static_cast<index>(number));
    }
  });
}

}  // namespace rig
