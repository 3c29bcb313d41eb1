#pragma once

#include <algorithm>

#include "rig/kernels/cpu/write.hpp"
#include "rig/kernels/operation.hpp"

namespace rig::on_cpu {

/// The number of a position's value in `values`.
inline int64 value_at(const element_source& from, int64 position) {
  if (from.permutation == nullptr) return position;
  return from.permutation_64 ? static_cast<const int64*>(from.permutation)[position]
                             : static_cast<const int32*>(from.permutation)[position];
}

/// Copies one element; the usual sizes are constants, so no function is called for them.
inline void copy_element(void* to, const void* from, std::size_t bytes) {
  switch (bytes) {
    case 1:
      __builtin_memcpy(to, from, 1);
      break;
    case 4:
      __builtin_memcpy(to, from, 4);
      break;
    case 8:
      __builtin_memcpy(to, from, 8);
      break;
    default:
      __builtin_memcpy(to, from, bytes);
  }
}

/// out[k] = x[k] op y[k], for `count` elements; or op x[k] where y is absent.
inline void run_block(const operator_info& op, unsigned char code, const element_source& x,
                      element_positions at_x, const element_source& y, element_positions at_y,
                      type out_type, std::size_t out_bytes, void* out, int64 count) {
  op.run_cpu({&x, &y, at_x, at_y, code, out_type, out_bytes, out, static_cast<int>(count)});
}

/// The elements at adjacent positions if they lie there as T, else null.
template <class T>
const T* in_place(const element_source& from, const element_positions& at) {
  const bool is_there = from.values != nullptr && from.stored == type_of<T> &&
                        from.permutation == nullptr && at.are_adjacent();
  return is_there ? static_cast<const T*>(from.values) + at.first : nullptr;
}

/// to[k] = the element at position at[k], converted; undefined where at[k] is negative.
template <class T>
void gather(const element_source& from, const element_positions& at, int count, T* to) {
  dense_operand stored;
  stored.data = const_cast<void*>(from.values);
  if (from.values == nullptr) stored.data = const_cast<unsigned char*>(from.iso);
  stored.value_type = from.stored;
  with_stored<T>(stored, [&](const auto* typed) {
    if (from.values == nullptr)
      return static_cast<void>(std::fill_n(to, count, convert<T>(*typed)));
    if (at.are_adjacent() && from.permutation == nullptr) {
      const auto* const first = typed + at.first;
      for (int k = 0; k < count; ++k) to[k] = convert<T>(first[k]);
      return;
    }
    for (int k = 0; k < count; ++k)
      if (at[k] >= 0) to[k] = convert<T>(typed[value_at(from, at[k])]);
  });
}

/// Calls work with a value of the algebra type of that name.
template <class Work>
decltype(auto) with_algebra(type algebra, Work work) {
  if (algebra == type::boolean) return work(bool());
  if (algebra == type::int32) return work(int32());
  if (algebra == type::int64) return work(int64());
  if (algebra == type::float64) return work(double());
  return work(float());
}

/// out[k] = z[k] in the stored type of the block's results.
template <class O>
void store(const element_block& b, const O* z) {
  dense_operand to;
  to.data = b.out;
  to.value_type = b.out_type;
  with_stored<O>(to, [&]<class To>(To* out) {
    for (int k = 0; k < b.count; ++k) out[k] = convert<To>(z[k]);
  });
}

#define RIG_SHARED(T)                                                                       \
  extern template void gather<T>(const element_source&, const element_positions&, int, T*); \
  extern template void store<T>(const element_block&, const T*);
RIG_EACH_ALGEBRA(RIG_SHARED)
#undef RIG_SHARED

/// The number of elements of these types that a thread's stack holds beside each other.
template <class... T>
inline constexpr int elements_at_once = (sizeof(T) + ...) * element_block::most <= 16384
                                            ? element_block::most
                                            : 1;

/// Splits a block into parts of at most `most` elements.
template <class Work>
void in_parts(const element_block& all, int most, Work work) {
  element_block b = all;
  for (int first = 0; first < all.count; first += most) {
    const auto from = [&](auto* array) { return array == nullptr ? nullptr : array + first; };
    b.count = all.count - first < most ? all.count - first : most;
    b.x = {from(all.x.list), all.x.first + first};
    b.y = {from(all.y.list), all.y.first + first};
    b.rows = from(all.rows);
    b.columns = from(all.columns);
    b.out = static_cast<unsigned char*>(all.out) + static_cast<std::size_t>(first) * all.out_bytes;
    work(b);
  }
}

/// Whether an element of type From can become one of type To.
template <class From, class To>
inline constexpr bool converts = is_same<From, To> || (is_storage<From> && is_storage<To>);

/// out[k] = f(x[k], y[k]) where both are present, else the one that is, converted to O.
template <class L, class R, class O, class F>
void join(const element_block& all, F f) {
  constexpr int most = elements_at_once<L, R, O>;
  in_parts(all, most, [&](const element_block& b) {
    L x[std::size_t(most)];
    R y[std::size_t(most)];
    O z[std::size_t(most)];
    gather(*b.x_of, b.x, b.count, x);
    gather(*b.y_of, b.y, b.count, y);
    for (int k = 0; k < b.count; ++k) {
      if constexpr (converts<L, O>)
        if (b.y[k] < 0) {
          z[k] = convert<O>(x[k]);
          continue;
        }
      if constexpr (converts<R, O>)
        if (b.x[k] < 0) {
          z[k] = convert<O>(y[k]);
          continue;
        }
      z[k] = f(x[k], y[k]);
    }
    store(b, z);
  });
}

/// out[k] = f(x[k], row, column).
template <class X, class O, class F>
void map_each(const element_block& all, F f) {
  constexpr int most = elements_at_once<X, O>;
  in_parts(all, most, [&](const element_block& b) {
    X x[std::size_t(most)];
    O z[std::size_t(most)];
    gather(*b.x_of, b.x, b.count, x);
    for (int k = 0; k < b.count; ++k) z[k] = f(x[k], b.rows[k], b.columns[k]);
    store(b, z);
  });
}

}  // namespace rig::on_cpu
