#pragma once

#include <cstdint>
#include <type_traits>

#include "rig/accumulate.hpp"
#include "rig/kernels/cpu/load.hpp"

namespace rig::on_cpu {

/// Whether entry e of a mask over a matrix, or element e of one over a dense, is true.
bool is_true(const mask_operand& mask, int64 e);

/// Reads the mask of one row, tile by tile from left to right.
class mask_row {
 public:
  mask_row(const mask_operand& mask, index row) : mask_(mask), row_(row) {
    if (mask.over != mask_operand::kind::matrix) return;
    next_ = mask.sparse.offset(row);
    end_ = mask.sparse.offset(row + 1);
  }

  /// Sets allowed[j] for columns first … first + count; returns false if none is allowed. Without a
  /// mask it returns true and leaves `allowed` untouched.
  bool read(int64 first, int count, bool* allowed) {
    return absent() || sweep(first, count, allowed);
  }
  bool absent() const { return mask_.over == mask_operand::kind::absent; }

 private:
  bool sweep(int64 first, int count, bool* allowed);

  const mask_operand& mask_;
  index row_;
  int64 next_ = 0, end_ = 0;
};

/// The most columns of a tile, and the most rows of a strip of a column.
inline constexpr int widest_tile = 256;

/// Elements of C from (row, first): number k is `list[k]` columns, or rows, further.
struct places {
  int count;
  const int32* list = nullptr;  ///< null: 0 … count
  bool are_rows = false;
};

/// Which places of a tile or strip receive a sum and which the fill; the others stay.
struct chosen_places {
  int summed = 0, filled = 0;
  const int32* sums = nullptr;  ///< null: all of them
  int32 fills[widest_tile];

  /// `allowed` null: no mask. `present` null: every place has products.
  void select(const problem& p, int count, const bool* allowed, const bool* present);

 private:
  std::uint64_t gets_sum_[widest_tile / 64];  ///< one bit per place
  int32 sum_list_[widest_tile];
};

/// Rows of A in a product with one column, summed and then written together.
class column_strip {
 public:
  chosen_places chosen;
  void read(const problem& p, index row, int count);

 private:
  bool allowed_[widest_tile], present_[widest_tile];
};

/// An array that receives results: C, or the indices of an indexed C.
struct target {
  const dense_operand& c;
  accumulator accum;
  scalar fill;
};

/// c[k] = c[k] ⊙ t[k]
template <class O>
void accumulate_each(accumulator how, O* c, const O* t, int count) {
  const auto each = [&](auto how_here) {
    for (int k = 0; k < count; ++k) c[k] = accumulate(how_here(), c[k], t[k]);
  };
  using enum accumulator;
  switch (how) {
    case none:
    case own:
    case second:
      return each([] { return second; });
    case first:
      return;
    case plus:
      return each([] { return plus; });
    case minus:
      return each([] { return minus; });
    case times:
      return each([] { return times; });
    case divide:
      return each([] { return divide; });
    case minimum:
      return each([] { return minimum; });
    case maximum:
      return each([] { return maximum; });
    case logical_or:
      return each([] { return logical_or; });
    case logical_and:
      return each([] { return logical_and; });
  }
}

/// Calls work(elements of `of` in their stored type), or as O for a type that is not rig's.
template <class O, class Work>
void with_stored(const dense_operand& of, Work work) {
  if constexpr (is_storage<O>) {
    switch (of.value_type) {
      case type::boolean:
        return work(static_cast<bool*>(of.data));
      case type::int32:
        return work(static_cast<int32*>(of.data));
      case type::int64:
        return work(static_cast<int64*>(of.data));
      case type::float32:
        return work(static_cast<float*>(of.data));
      case type::float64:
        return work(static_cast<double*>(of.data));
      case type::half:
        return work(static_cast<half*>(of.data));
      case type::bfloat16:
        return work(static_cast<bfloat16*>(of.data));
      case type::code:
      case type::other:
        return;
    }
  } else {
    work(static_cast<O*>(of.data));
  }
}

/// Calls visit(c[place k], k) for all places; c[0] is element (row, first) of a matrix of this
/// stride.
template <class Element, class Visit>
void visit_places(Element* c, int64 stride, const places& at, Visit visit) {
  const int64 step = at.are_rows ? stride : 1;
  if (at.list == nullptr && step == 1)
    for (int k = 0; k < at.count; ++k) visit(c[k], k);
  else if (at.list == nullptr)
    for (int k = 0; k < at.count; ++k) visit(c[k * step], k);
  else
    for (int k = 0; k < at.count; ++k) visit(c[at.list[k] * step], k);
}

/// t[k] = the content of place k of C.
template <class O>
void read_tile(const dense_operand& c, index row, int64 first, const places& at, O* t) {
  with_stored<O>(c, [&](const auto* stored) {
    visit_places(stored + row * c.stride + first, c.stride, at,
                 [&](const auto& place, int k) { t[k] = convert<O>(place); });
  });
}

/// Joins results with places of C: place k becomes C ⊙ t[k], computed in the common type of both.
template <class O>
void join_tile(const target& to, index row, int64 first, const places& at, const O* t) {
  with_stored<O>(to.c, [&](auto* stored) {
    using element = std::remove_pointer_t<decltype(stored)>;
    using common = algebra<typename common_element<element, O>::type>;
    stored += row * to.c.stride + first;
    common c[widest_tile];
    visit_places(stored, to.c.stride, at,
                 [&](const element& place, int k) { c[k] = convert<common>(place); });
    if constexpr (is_same<common, O>) {
      accumulate_each(to.accum, c, t, at.count);
    } else {
      common converted[widest_tile] = {};
      for (int k = 0; k < at.count; ++k) converted[k] = convert<common>(t[k]);
      accumulate_each(to.accum, c, converted, at.count);
    }
    visit_places(stored, to.c.stride, at,
                 [&](element& place, int k) { place = convert<element>(c[k]); });
  });
}

/// Writes results to places of C, in C's storage type: place k becomes C ⊙ t[k]. If `t` is null, it
/// becomes the fill, or `zero` if `to` has none.
template <class O>
void write_tile(const target& to, index row, int64 first, const places& at, const O* t, O zero) {
  if constexpr (is_storage<O>)  // for other types only the semiring accumulates
    if (t != nullptr && to.accum != accumulator::none && to.accum != accumulator::own)
      return join_tile(to, row, first, at, t);
  with_stored<O>(to.c, [&](auto* stored) {
    using element = std::remove_pointer_t<decltype(stored)>;
    stored += row * to.c.stride + first;
    if (t != nullptr)
      return visit_places(stored, to.c.stride, at,
                          [&](element& place, int k) { place = convert<element>(t[k]); });
    element fill = convert<element>(zero);
    if constexpr (is_storage<O>)
      if (to.fill.has_value()) fill = to.fill.template as<element>();
    visit_places(stored, to.c.stride, at, [&](element& place, int) { place = fill; });
  });
}

#define RIG_SHARED(T)                                                                       \
  extern template void read_tile<T>(const dense_operand&, index, int64, const places&, T*); \
  extern template void write_tile<T>(const target&, index, int64, const places&, const T*, T);
RIG_EACH_ALGEBRA(RIG_SHARED)
#undef RIG_SHARED

/// Finishes and writes tiles, or strips of a column, of one problem; one writer per thread.
template <class S>
class writer {
 public:
  using accum = typename S::accum;

  explicit writer(const problem& p)
      : p_(p), values_{p.c, p.accum, p.desc->fill}, indices_{p.indices, p.accum, -1} {}
  writer(const writer&) = delete;

  /// Prefetches places of C before the sums are formed, because a store that misses the cache
  /// delays the stores after it.
  void fetch(index row, int64 first, int count) const {
    const auto bytes = static_cast<int64>(p_.c.value_bytes);
    const auto* const places =
        static_cast<const char*>(p_.c.data) + (row * p_.c.stride + first) * bytes;
    for (int64 at = 0; at < count * bytes; at += 64) __builtin_prefetch(places + at, 1);
  }

  /// Writes ⊕-sums `x` of a row with n ≥ 1 products. `present`, unless null, marks the places that
  /// have products.
  void write(index row, int64 first, int count, const accum* x, int64 n, const bool* allowed,
             const bool* present = nullptr) const {
    const auto length = [n](int) { return n; };
    if (allowed == nullptr && present == nullptr) return write_sums(row, first, {count}, x, length);
    chosen_places chosen;
    chosen.select(p_, count, allowed, present);
    if (chosen.sums == nullptr) return write_sums(row, first, {count}, x, length);
    accum kept[2 * half_tile<S>];
    for (int k = 0; k < chosen.summed; ++k) kept[k] = x[chosen.sums[k]];
    write_sums(row, first, {chosen.summed, chosen.sums}, kept, length);
    write_fill(row, first, {chosen.filled, chosen.fills});
  }

  /// Writes the places of a row without products.
  void write_empty(index row, int64 first, int count, const bool* allowed) const {
    if (allowed == nullptr) {
      if (p_.accum == accumulator::none) write_fill(row, first, {count});
      return;
    }
    const bool present[2 * half_tile<S>] = {};
    chosen_places chosen;
    chosen.select(p_, count, allowed, present);
    write_fill(row, first, {chosen.filled, chosen.fills});
  }

  /// Writes ⊕-sums: x[k], of length(k) ≥ 1 products, to place k.
  template <class Length>
  void write_sums(index row, int64 first, const places& at, const accum* x, Length length) const {
    if constexpr (is_indexed<output<S>>)
      write_indexed(row, first, at, x, length);
    else
      write_values(row, first, at, x, length);
  }

  /// Writes the fill to the places.
  void write_fill(index row, int64 first, const places& at) const {
    if (at.count == 0) return;
    if constexpr (is_indexed<output<S>>) {
      using value = decltype(output<S>::value);
      write_tile<value>(values_, row, first, at, nullptr, S::zero().value);
      write_tile<int32>(indices_, row, first, at, nullptr, -1);
    } else {
      write_tile<output<S>>(values_, row, first, at, nullptr, finished<S>(S::zero(), 0));
    }
  }

  /// Writes rows [first, last), which the mask forbids: they become the fill, or stay.
  void write_outside(index first, index last) const {
    if (!p_.creates_result && !p_.desc->replace) return;
    if (p_.b.columns == 1) return write_fill(first, 0, {last - first, nullptr, true});
    for (index row = first; row < last; ++row) write_fill(row, 0, {p_.b.columns});
  }

 private:
  /// `write_sums` if C is indexed: values and indices are two arrays.
  template <class Length>
  void write_indexed(index row, int64 first, const places& at, const accum* x,
                     Length length) const {
    using value = decltype(output<S>::value);
    value values[2 * half_tile<S>];
    int32 indices[2 * half_tile<S>];
    const bool joins = p_.accum == accumulator::own;
    if (joins) {
      read_tile<value>(p_.c, row, first, at, values);
      read_tile<int32>(p_.indices, row, first, at, indices);
    }
    for (int k = 0; k < at.count; ++k) {
      accum best = x[k];
      if (joins) best = S::add({values[k], indices[k] < 0 ? highest<int32>() : indices[k]}, best);
      const auto out = finished<S>(best, length(k));
      values[k] = out.value;
      indices[k] = out.index;
    }
    write_tile<value>(values_, row, first, at, values, S::zero().value);
    write_tile<int32>(indices_, row, first, at, indices, -1);
  }

  /// `write_sums` if C is one array.
  template <class Length>
  void write_values(index row, int64 first, const places& at, const accum* x, Length length) const {
    const output<S> zero = finished<S>(S::zero(), 0);
    output<S> t[2 * half_tile<S>];
    if constexpr (is_same<output<S>, accum>)
      if (p_.accum == accumulator::own) {
        read_tile<accum>(p_.c, row, first, at, t);
        for (int k = 0; k < at.count; ++k) t[k] = S::add(t[k], finished<S>(x[k], length(k)));
        return write_tile<output<S>>(values_, row, first, at, t, zero);
      }
    if constexpr (!has_finish<S>) {
      write_tile<output<S>>(values_, row, first, at, x, zero);
    } else {
      for (int k = 0; k < at.count; ++k) t[k] = finished<S>(x[k], length(k));
      write_tile<output<S>>(values_, row, first, at, t, zero);
    }
  }

  const problem& p_;
  const target values_, indices_;
};

}  // namespace rig::on_cpu
