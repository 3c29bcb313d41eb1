#pragma once

// A kernel's identity: its name and its template arguments after the semiring and the type of B.

#include <array>
#include <cstddef>
#include <initializer_list>

#include "cuda/device/arguments.cuh"

namespace rig::on_cuda {

struct template_argument {
  enum class kind : unsigned char { number, boolean, entries, cbsr_index };
  kind of = kind::number;
  short value = 0;
  constexpr template_argument() = default;
  constexpr template_argument(int number) : value(static_cast<short>(number)) {}
  constexpr template_argument(bool flag) : of(kind::boolean), value(flag) {}
  constexpr template_argument(entries_read read)
      : of(kind::entries), value(static_cast<short>(read)) {}
  /// The type of a cbsr's indices: of one byte or two.
  static constexpr template_argument index_of(bool indices_8) {
    template_argument out(indices_8);
    out.of = kind::cbsr_index;
    return out;
  }
  bool operator==(const template_argument&) const = default;
};

class template_arguments {
 public:
  static constexpr std::size_t most = 8;
  constexpr template_arguments() = default;
  constexpr template_arguments(std::initializer_list<template_argument> all) {
    for (const template_argument one : all) add(one);
  }
  constexpr void add(template_argument one) { values_[count_++] = one; }
  constexpr const template_argument* begin() const { return values_.data(); }
  constexpr const template_argument* end() const { return values_.data() + count_; }
  bool operator==(const template_arguments&) const = default;

 private:
  std::array<template_argument, most> values_{};
  std::size_t count_ = 0;
};

/// A kernel that is compiled ahead for a pair of ahead.def.
struct aot_kernel {
  const char* name;
  template_arguments arguments;
  const void* kernel;
};

}  // namespace rig::on_cuda
