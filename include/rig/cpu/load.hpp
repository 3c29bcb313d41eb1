#pragma once

#include "rig/cpu/tile.hpp"
#include "rig/problem.hpp"

namespace rig::on_cpu {

/// Widens `count` halves to floats with the machine's conversion instructions.
void widen(const half* from, float* to, int64 count);

/// to[j] = convert(from[j]): a row of one storage type in another type.
template <class To>
void convert_row(const void* from, type stored, To* to, int64 count) {
  const auto each = [&](const auto* typed) {
    for (int64 j = 0; j < count; ++j) to[j] = convert<To>(typed[j]);
  };
  switch (stored) {
    case type::boolean:
      return each(static_cast<const bool*>(from));
    case type::int32:
      return each(static_cast<const int32*>(from));
    case type::int64:
      return each(static_cast<const int64*>(from));
    case type::float32:
      return each(static_cast<const float*>(from));
    case type::float64:
      return each(static_cast<const double*>(from));
    case type::half:
      if constexpr (is_same<To, float>)
        return widen(static_cast<const half*>(from), to, count);
      else
        return each(static_cast<const half*>(from));
    case type::bfloat16:
      return each(static_cast<const bfloat16*>(from));
    case type::other:
      return;
  }
}

/// Reads A and B of one problem for the inner loops: in place where stored and algebra types agree,
/// else through small buffers on the stack of the thread. One reader a thread.
template <class S>
class reader {
 public:
  using left = typename S::left;
  using right = typename S::right;
  using accum = typename S::accum;

  explicit reader(const problem& p)
      : p_(p),
        full_(shape_for(2 * half_tile<S>)),
        rest_(shape_for(p.b.columns % (2 * half_tile<S>))) {
    a_equal_ = is_ignoring_left<S> || p.a.values == nullptr;
    if constexpr (is_ignoring_left<S>)
      same_ = left{};
    else if (a_equal_)
      read_a(p.a.iso, 0, same_);
    a_staged_ = !a_equal_ && (p.a.permutation != nullptr || !stored_as<left>(p.a.value_type));
    b_staged_ = !is_ignoring_right<S> && !stored_as<right>(p.b.value_type);
  }

  /// Can A and B be read where they are, in the types they have?
  bool is_in_place() const { return !a_staged_ && !b_staged_; }
  /// Entries from `e` on, where they are.
  entries<S> in_place(int64 e) const {
    entries<S> some{};
    some.a = a_equal_ ? &same_ : static_cast<const left*>(p_.a.values) + e;
    some.a_step = a_equal_ ? 0 : 1;
    some.inner = some.b_rows = p_.a.entries + e;
    some.b = static_cast<const right*>(p_.b.data);
    some.b_stride = p_.b.stride;
    return some;
  }

  /// out[0 … columns) = the ⊕-sum of the products of entries [begin, end) of `row`, of which there
  /// is one at least, with columns first … first + columns of B: as many as a tile has, or the rest
  /// of a row of B. `out` has room for a tile.
  void sum(index row, int64 begin, int64 end, int64 first, int columns, accum* out) {
    const auto [width, tile] = columns == 2 * half_tile<S> ? full_ : rest_;
    // The second half starts inside the first where columns < 2 · width; the gap in `out` is closed
    // at the end.
    const int64 overlap = columns > 1 ? 2 * width - columns : 0;
    const int64 step = b_staged_ ? staged_b : a_staged_ || has_terminal<S> ? staged_a : end - begin;
    for (int64 e = begin; e < end; e += step) {
      const int64 count = e + step < end ? step : end - e;
      entries<S> some = in_place(e);
      if (a_staged_) some.a = stage_a(e, count);
      some.count = count;
      some.row = row;
      some.starts = e == begin;
      int64 at = first;
      if (b_staged_) {
        stage_b(some.inner, count, first, columns);
        at = 0;
        some.b = b_buffer_;
        some.b_rows = counting_;
        some.b_stride = 2 * half_tile<S>;
      }
      tile(out, some, at, at + width - overlap);
      if constexpr (has_terminal<S>)
        if (all_terminal(out, columns > 1 ? 2 * width : 1)) break;
    }
    for (int j = columns - width; overlap > 0 && j < columns; ++j) out[j] = out[j + overlap];
  }

 private:
  static constexpr int64 staged_a = 256, staged_b = 32;

  /// Halves of how many columns, and the function for them.
  struct shape {
    int width;
    tile_function<S> tile;
  };
  static shape shape_for(int columns) {
    if (columns <= 1) return {0, tile_for<S>(0)};
    int width = 1;
    while (2 * width < columns) width *= 2;
    return {width, tile_for<S>(width)};
  }

  template <class T>
  static bool stored_as(type stored) {
    return type_of<T> == stored;
  }
  void read_a(const void* values, int64 at, left& to) const {
    const auto* bytes =
        static_cast<const unsigned char*>(values) + static_cast<std::size_t>(at) * p_.a.value_bytes;
    if constexpr (is_storage<left>)
      convert_row<left>(bytes, p_.a.value_type, &to, 1);
    else
      __builtin_memcpy(&to, bytes, sizeof(left));
  }
  const left* stage_a(int64 begin, int64 count) {
    if (p_.a.permutation == nullptr) {
      if constexpr (is_storage<left>)
        convert_row<left>(static_cast<const unsigned char*>(p_.a.values) +
                              static_cast<std::size_t>(begin) * p_.a.value_bytes,
                          p_.a.value_type, a_buffer_, count);
    } else {
      for (int64 e = 0; e < count; ++e) read_a(p_.a.values, p_.a.value_at(begin + e), a_buffer_[e]);
    }
    return a_buffer_;
  }
  void stage_b(const index* rows, int64 count, int64 first, int columns) {
    if constexpr (is_storage<right>)
      for (int64 e = 0; e < count; ++e) {
        counting_[e] = static_cast<index>(e);
        const auto* from =
            static_cast<const unsigned char*>(p_.b.data) +
            static_cast<std::size_t>(rows[e] * p_.b.stride + first) * p_.b.value_bytes;
        convert_row<right>(from, p_.b.value_type, b_buffer_ + e * 2 * half_tile<S>, columns);
      }
  }
  static bool all_terminal(const accum* out, int count) {
    for (int j = 0; j < count; ++j)
      if (!(out[j] == S::terminal())) return false;
    return true;
  }

  const problem& p_;
  const shape full_, rest_;
  bool a_equal_ = false, a_staged_ = false, b_staged_ = false;
  left same_{};
  left a_buffer_[staged_a];
  right b_buffer_[staged_b * 2 * half_tile<S>];
  index counting_[staged_b];
};

}  // namespace rig::on_cpu
