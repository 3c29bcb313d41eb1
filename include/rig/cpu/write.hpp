#pragma once

#include <type_traits>

#include "rig/cpu/load.hpp"

namespace rig::on_cpu {

/// Walks the mask along one row, tile by tile from left to right.
class mask_row {
 public:
  mask_row(const mask_operand& mask, index row) : mask_(mask), row_(row) {
    if (mask.over != mask_operand::kind::matrix) return;
    next_ = mask.sparse.offset(row);
    end_ = mask.sparse.offset(row + 1);
  }

  /// Sets allowed[j] for columns first … first + count; false if none is allowed. Without a mask
  /// all are, and `allowed` stays untouched.
  bool read(int64 first, int count, bool* allowed) {
    return absent() || walk(first, count, allowed);
  }
  bool absent() const { return mask_.over == mask_operand::kind::absent; }

 private:
  bool walk(int64 first, int count, bool* allowed);

  const mask_operand& mask_;
  index row_;
  int64 next_ = 0, end_ = 0;
};

/// An array that results go to: C, or the indices of an indexed C.
struct target {
  const dense_operand& c;
  accumulator accum;
  bool outside_fills;
  scalar fill;
};

/// The write-back of `count` places of one row, in C's storage type:
///   C⟨allowed, replace⟩ = C ⊙ t.
/// `t` null: the row has no products. `allowed` null: no mask. `zero` is the fill where `to` has
/// none. `present`, where given, says which places have products.
template <class O>
void write_tile(const target& to, index row, int64 first, int count, const O* t, O zero,
                const bool* allowed, const bool* present = nullptr) {
  const auto store = [&](auto* c, auto fill) {
    using element = decltype(fill);
    c += row * to.c.stride + first;
    if (t == nullptr) {
      if (to.accum == accumulator::none && allowed == nullptr) {
        for (int j = 0; j < count; ++j) c[j] = fill;
        return;
      }
      for (int j = 0; j < count; ++j) {
        const bool in = allowed == nullptr || allowed[j];
        if (in ? to.accum == accumulator::none : to.outside_fills) c[j] = fill;
      }
      return;
    }
    const bool everywhere = allowed == nullptr && present == nullptr;
    if (to.accum == accumulator::none && everywhere) {
      for (int j = 0; j < count; ++j) c[j] = convert<element>(t[j]);
      return;
    }
    if constexpr (is_storage<O>) {
      if (to.accum == accumulator::plus && everywhere) {
        for (int j = 0; j < count; ++j) c[j] = convert<element>(plus(convert<O>(c[j]), t[j]));
        return;
      }
    }
    for (int j = 0; j < count; ++j) {
      const bool in = allowed == nullptr || allowed[j];
      if (in && (present == nullptr || present[j])) {
        if constexpr (is_storage<O>)
          c[j] = to.accum == accumulator::none
                     ? convert<element>(t[j])
                     : convert<element>(accumulate(to.accum, convert<O>(c[j]), t[j]));
        else
          c[j] = t[j];
      } else if (in ? to.accum == accumulator::none : to.outside_fills)
        c[j] = fill;
    }
  };
  if constexpr (is_storage<O>) {
    const auto as = [&](auto* c) {
      using element = std::remove_pointer_t<decltype(c)>;
      store(c, to.fill.has_value() ? to.fill.as<element>() : convert<element>(zero));
    };
    switch (to.c.value_type) {
      case type::boolean:
        return as(static_cast<bool*>(to.c.data));
      case type::int32:
        return as(static_cast<int32*>(to.c.data));
      case type::int64:
        return as(static_cast<int64*>(to.c.data));
      case type::float32:
        return as(static_cast<float*>(to.c.data));
      case type::float64:
        return as(static_cast<double*>(to.c.data));
      case type::half:
        return as(static_cast<half*>(to.c.data));
      case type::bfloat16:
        return as(static_cast<bfloat16*>(to.c.data));
      case type::code:
      case type::other:
        return;
    }
  } else {
    store(static_cast<O*>(to.c.data), zero);
  }
}

extern template void write_tile<bool>(const target&, index, int64, int, const bool*, bool,
                                      const bool*, const bool*);
extern template void write_tile<int32>(const target&, index, int64, int, const int32*, int32,
                                       const bool*, const bool*);
extern template void write_tile<int64>(const target&, index, int64, int, const int64*, int64,
                                       const bool*, const bool*);
extern template void write_tile<float>(const target&, index, int64, int, const float*, float,
                                       const bool*, const bool*);
extern template void write_tile<double>(const target&, index, int64, int, const double*, double,
                                        const bool*, const bool*);

/// Finishes and writes tiles of one problem; one writer a thread.
template <class S>
class writer {
 public:
  using accum = typename S::accum;

  explicit writer(const problem& p)
      : p_(p),
        values_{p.c, p.accum, p.fresh || p.desc->replace, p.desc->fill},
        indices_{p.indices, p.accum, p.fresh || p.desc->replace, -1} {}
  writer(const writer&) = delete;

  /// Asks for places that `write` will come to, before the sums are formed: a store that misses
  /// holds up those behind it.
  void fetch(index row, int64 first, int count) const {
    const auto bytes = static_cast<int64>(p_.c.value_bytes);
    const auto* const places =
        static_cast<const char*>(p_.c.data) + (row * p_.c.stride + first) * bytes;
    for (int64 at = 0; at < count * bytes; at += 64) __builtin_prefetch(places + at, 1);
  }

  /// Writes ⊕-sums `x` of a row with n ≥ 1 products; `present`, where given, says where there are
  /// any.
  void write(index row, int64 first, int count, const accum* x, int64 n, const bool* allowed,
             const bool* present = nullptr) const {
    if constexpr (is_indexed<output<S>>) {
      using value = decltype(output<S>::value);
      value values[2 * half_tile<S>];
      int32 indices[2 * half_tile<S>];
      for (int j = 0; j < count; ++j) {
        accum best = x[j];
        if (p_.accum == accumulator::own) best = S::add(held(row, first + j), best);
        const auto out = finished<S>(best, n);
        values[j] = out.value;
        indices[j] = out.index;
      }
      write_tile<value>(values_, row, first, count, values, S::zero().value, allowed, present);
      write_tile<int32>(indices_, row, first, count, indices, -1, allowed, present);
    } else {
      if constexpr (!has_finish<S>)
        if (p_.accum != accumulator::own)
          return write_tile<output<S>>(values_, row, first, count, x, S::zero(), allowed, present);
      output<S> t[2 * half_tile<S>];
      for (int j = 0; j < count; ++j) t[j] = finished<S>(x[j], n);
      if constexpr (is_same<output<S>, accum>)
        if (p_.accum == accumulator::own)
          for (int j = 0; j < count; ++j) t[j] = S::add(held(row, first + j), t[j]);
      write_tile<output<S>>(values_, row, first, count, t, finished<S>(S::zero(), 0), allowed,
                            present);
    }
  }

  /// Writes places of a row without products.
  void write_empty(index row, int64 first, int count, const bool* allowed) const {
    if constexpr (is_indexed<output<S>>) {
      using value = decltype(output<S>::value);
      write_tile<value>(values_, row, first, count, nullptr, S::zero().value, allowed);
      write_tile<int32>(indices_, row, first, count, nullptr, -1, allowed);
    } else {
      write_tile<output<S>>(values_, row, first, count, nullptr, finished<S>(S::zero(), 0),
                            allowed);
    }
  }

 private:
  /// What C holds, as an accumulator.
  accum held(index row, int64 column) const {
    const auto* at = static_cast<const unsigned char*>(p_.c.data) +
                     static_cast<std::size_t>(row * p_.c.stride + column) * p_.c.value_bytes;
    if constexpr (is_indexed<output<S>>) {
      decltype(output<S>::value) value;
      convert_row(at, p_.c.value_type, &value, 1);
      const int32 index =
          static_cast<const int32*>(p_.indices.data)[row * p_.indices.stride + column];
      return {value, index < 0 ? highest<int32>() : index};
    } else {
      accum value;
      if constexpr (is_storage<accum>)
        convert_row(at, p_.c.value_type, &value, 1);
      else
        __builtin_memcpy(&value, at, sizeof(value));
      return value;
    }
  }

  const problem& p_;
  const target values_, indices_;
};

}  // namespace rig::on_cpu
