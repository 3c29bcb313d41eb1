#pragma once

// Operators on elements of any stored type. The kernels of element-wise operations take one as a
// template argument, and compute a few elements per thread, so that several loads are in flight.

#include "cuda/device/write.cuh"
#include "rig/operators.hpp"

namespace rig::on_cuda {

/// Threads per block of these kernels, and elements that a thread computes together.
constexpr int element_threads = 256;
constexpr int elements_in_flight = 4;

/// The elements of an operand: the value of position p is values[permutation[p]].
struct element_array {
  const void* values = nullptr;  ///< null: every element is `iso`
  const void* permutation = nullptr;
  bool permutation_64 = false;
  type stored = type::other;
  unsigned bytes = 0;  ///< of one element
  any_value iso = {};
};

/// An element of a type that is not rig's, of up to 16 bytes.
struct raw_element : any_value {};

/// An operator's operands, and where its results go.
struct element_arguments {
  element_array x, y;
  any_value scalar = {};  ///< the y of a selection or of an operator of the caller
  unsigned char code = 0;
  bool selects = false;  ///< `code` is a selection, not a unary operator
  type out_type = type::other;
  unsigned out_bytes = 0;
  void* out = nullptr;
};

/// Which operands an element has, and its place in a matrix.
struct element_place {
  bool has_x, has_y;
  index row, column;
};

/// Calls work(pointer to T) for a storage type by name, or for T itself if it is not one.
template <class T, class Work>
__device__ __forceinline__ void with_stored(type stored, Work work) {
  if constexpr (is_storage<T>) {
    switch (stored) {
      case type::boolean:
        return work(static_cast<bool*>(nullptr));
      case type::int32:
        return work(static_cast<int32*>(nullptr));
      case type::int64:
        return work(static_cast<int64*>(nullptr));
      case type::float32:
        return work(static_cast<float*>(nullptr));
      case type::float64:
        return work(static_cast<double*>(nullptr));
      case type::half:
        return work(static_cast<half*>(nullptr));
      case type::bfloat16:
        return work(static_cast<bfloat16*>(nullptr));
      case type::code:
      case type::other:
        return;
    }
  } else {
    work(static_cast<T*>(nullptr));
  }
}

/// The number of a position's value in `values`.
__device__ __forceinline__ int64 value_at(const element_array& from, int64 position) {
  if (from.permutation == nullptr) return position;
  return from.permutation_64 ? static_cast<const int64*>(from.permutation)[position]
                             : static_cast<const int32*>(from.permutation)[position];
}

/// to[k] = the element at position at[k], converted; undefined where at[k] is negative.
template <class To, int N>
__device__ __forceinline__ void gather(const element_array& from, const int64 (&at)[N],
                                       To (&to)[N]) {
  if (type_of<To> != type::other && from.stored == type_of<To> && from.permutation == nullptr &&
      from.values != nullptr) {  // most often
    for (int k = 0; k < N; ++k)
      if (at[k] >= 0) to[k] = static_cast<const To*>(from.values)[at[k]];
    return;
  }
  int64 value[N];
  for (int k = 0; k < N; ++k) value[k] = at[k] < 0 ? 0 : value_at(from, at[k]);
  with_stored<To>(from.stored, [&]<class T>(T*) {
    if (from.values == nullptr) {
      const T one = *reinterpret_cast<const T*>(from.iso.bytes);
      for (int k = 0; k < N; ++k) to[k] = convert<To>(one);
    } else {
      for (int k = 0; k < N; ++k)
        if (at[k] >= 0) to[k] = convert<To>(static_cast<const T*>(from.values)[value[k]]);
    }
  });
}
template <int N>
__device__ __forceinline__ void gather(const element_array& from, const int64 (&at)[N],
                                       raw_element (&to)[N]) {
  for (int k = 0; k < N; ++k) {
    const auto* const bytes = static_cast<const unsigned char*>(from.values);
    const auto* const element = bytes == nullptr
                                    ? from.iso.bytes
                                    : bytes + (at[k] < 0 ? 0 : value_at(from, at[k])) * from.bytes;
    for (unsigned byte = 0; byte < 16; ++byte)
      if (at[k] >= 0 && byte < from.bytes) to[k].bytes[byte] = element[byte];
  }
}

/// Writes the bytes of an element.
__device__ __forceinline__ void store_bytes(const element_arguments& to, int64 at,
                                            const any_value& from) {
  auto* const out = static_cast<unsigned char*>(to.out) + at * to.out_bytes;
  for (unsigned byte = 0; byte < 16; ++byte)
    if (byte < to.out_bytes) out[byte] = from.bytes[byte];
}

/// out[at[k]] = z[k], converted; nothing where at[k] is negative.
template <class From, int N>
__device__ __forceinline__ void scatter(const element_arguments& to, const int64 (&at)[N],
                                        const From (&z)[N]) {
  if (type_of<From> != type::other && to.out_type == type_of<From>) {
    for (int k = 0; k < N; ++k)
      if (at[k] >= 0) static_cast<From*>(to.out)[at[k]] = z[k];
    return;
  }
  with_stored<From>(to.out_type, [&]<class T>(T*) {
    for (int k = 0; k < N; ++k)
      if (at[k] >= 0) static_cast<T*>(to.out)[at[k]] = convert<T>(z[k]);
  });
}
template <int N>
__device__ __forceinline__ void scatter(const element_arguments& to, const int64 (&at)[N],
                                        const raw_element (&z)[N]) {
  for (int k = 0; k < N; ++k)
    if (at[k] >= 0) store_bytes(to, at[k], z[k]);
}

/// Calls work with the one of these constants that `code` is, so that loops over elements do not
/// test it. Another code is a fault of the launch, never a result that nobody wrote.
template <auto Code, auto... Others, class Work>
__device__ __forceinline__ void with_code(unsigned char code, Work work) {
  if (code == static_cast<unsigned char>(Code))
    work.template operator()<Code>();
  else if constexpr (sizeof...(Others) > 0)
    with_code<Others...>(code, work);
  else
    __trap();
}

/// Builtin binary operators and comparisons in the algebra type A. An element with one operand is
/// that operand; under a comparison, whether it is not 0.
template <class A>
struct builtin_join {
  using folds = A;
  using packed = A;
  using left = A;
  using right = A;
  using result = A;
  static constexpr bool has_right = true;
  static __device__ __forceinline__ A join(binary op, A x, A y) {
    return is_comparison(op) ? A(compare(op, x, y)) : accumulate(as_accumulator(op), x, y);
  }
  static __device__ A compute(const element_arguments& args, A x, A y, const element_place& at) {
    const auto op = static_cast<binary>(args.code);
    if (at.has_x && at.has_y) return join(op, x, y);
    const A one = at.has_x ? x : y;
    return is_comparison(op) ? A(one != A(0)) : one;
  }
  /// z[k] = x[k] op y[k].
  template <int N>
  static __device__ __forceinline__ void compute_all(const element_arguments& args, const A (&x)[N],
                                                     const A (&y)[N], A (&z)[N]) {
    using enum binary;
    with_code<plus, minus, times, divide, minimum, maximum, first, second, logical_or, logical_and,
              equal, not_equal, less, less_equal, greater, greater_equal>(
        args.code, [&]<binary Code>() {
          for (int k = 0; k < N; ++k) z[k] = join(Code, x[k], y[k]);
        });
  }
};

/// Builtin unary operators and selections; a selection yields 0 or 1.
template <class A>
struct builtin_map {
  using packed = A;
  using left = A;
  using right = A;
  using result = A;
  static constexpr bool has_right = false;
  static __device__ A compute(const element_arguments& args, A x, A, const element_place& at) {
    if (!args.selects) return apply_unary(static_cast<unary>(args.code), x);
    const auto how = static_cast<selection>(args.code);
    if (how < selection::equal)
      return A(
          is_selected(how, at.row, at.column, *reinterpret_cast<const int64*>(args.scalar.bytes)));
    return A(compare(comparison_of(how), x, *reinterpret_cast<const A*>(args.scalar.bytes)));
  }
  /// z[k] = op(x[k]); not for selections.
  template <int N>
  static __device__ __forceinline__ void compute_all(const element_arguments& args, const A (&x)[N],
                                                     const A (&)[N], A (&z)[N]) {
    using enum unary;
    with_code<identity, negate, absolute, reciprocal, square, square_root, exponential, logarithm,
              sigmoid, hyperbolic_tangent, relu, sign, floor, ceiling, round, logical_not, one>(
        args.code, [&]<unary Code>() {
          for (int k = 0; k < N; ++k) z[k] = apply_unary(Code, x[k]);
        });
  }
};

/// The operand that is present, y before x, as it is stored.
template <class Word>
struct copying {
  using left = Word;
  using right = Word;
  using result = Word;
  static constexpr bool has_right = true;
  static __device__ Word compute(const element_arguments&, Word x, Word y,
                                 const element_place& at) {
    return at.has_y ? y : x;
  }
};

/// Whether an operator computes many elements at once.
template <class Op>
concept computes_all = requires {
  typename Op::packed;
};

/// The add of a semiring or monoid, and the multiply of a semiring.
template <class S>
struct adding {
  using left = typename S::accum;
  using right = typename S::accum;
  using result = typename S::accum;
  static constexpr bool has_right = true;
  static constexpr bool is_logical = rig::is_logical<S>;
  static __device__ result compute(const element_arguments&, const left& x, const right& y,
                                   const element_place& at) {
    return !at.has_y ? x : !at.has_x ? y : S::add(x, y);
  }
};
template <class S>
struct multiplying {
  using left = typename S::left;
  using right = typename S::right;
  using result = typename S::accum;
  static constexpr bool has_right = true;
  static __device__ result compute(const element_arguments&, const left& x, const right& y,
                                   const element_place&) {
    return S::multiply(x, y);
  }
};

/// An operator of the caller, F::apply(x, i, j, y), whose y has type Y.
template <class F, class X, class Y>
struct applying {
  using left = X;
  using right = X;
  using result = decltype(F::apply(X(), index(), index(), Y()));
  static constexpr bool has_right = false;
  static __device__ result compute(const element_arguments& args, const left& x, const right&,
                                   const element_place& at) {
    return F::apply(x, at.row, at.column, *reinterpret_cast<const Y*>(args.scalar.bytes));
  }
};

/// z[k] = the operator on element k: x at position x[k] and y at position y[k], if not negative.
template <class Op, int N>
__device__ __forceinline__ void compute(const element_arguments& args, const int64 (&x)[N],
                                        const int64 (&y)[N], const index (&rows)[N],
                                        const index (&columns)[N], typename Op::result (&z)[N]) {
  typename Op::left of_x[N] = {};
  typename Op::right of_y[N] = {};
  gather(args.x, x, of_x);
  if constexpr (Op::has_right) gather(args.y, y, of_y);
  for (int k = 0; k < N; ++k)
    if (x[k] >= 0 || y[k] >= 0)
      z[k] = Op::compute(args, of_x[k], of_y[k], {x[k] >= 0, y[k] >= 0, rows[k], columns[k]});
}

}  // namespace rig::on_cuda
