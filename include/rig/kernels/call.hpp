#pragma once

#include <type_traits>
#include <utility>

#include "rig/kernels/cpu/element.hpp"
#include "rig/kernels/operation.hpp"
#include "rig/mxm.hpp"
#include "rig/operators.hpp"
#include "rig/vector.hpp"

// Hop 0 of the operations other than products.

namespace rig {

/// The containers that operations take: matrix, vector and dense.
template <class X>
struct container_of {
  static constexpr bool is_one = false;
};
template <class T>
struct container_of<matrix<T>> {
  static constexpr bool is_one = true, is_sparse = true, is_vector = false;
  template <class U>
  using with = matrix<U>;
};
template <class T>
struct container_of<vector<T>> {
  static constexpr bool is_one = true, is_sparse = true, is_vector = true;
  template <class U>
  using with = vector<U>;
};
template <class T>
struct container_of<dense<T>> {
  static constexpr bool is_one = true, is_sparse = false, is_vector = false;
  template <class U>
  using with = dense<U>;
};
template <class X>
concept container = container_of<X>::is_one;
template <class X>
concept sparse_like = container<X> && container_of<X>::is_sparse;

template <class X>
concept two_dimensional = container<X> && !container_of<X>::is_vector;

template <class X, class Y>
inline constexpr bool are_alike = false;
template <container X, container Y>
inline constexpr bool are_alike<X, Y> =
    container_of<X>::is_sparse == container_of<Y>::is_sparse&& container_of<X>::is_vector ==
    container_of<Y>::is_vector;
/// Containers of one kind; element types may differ.
template <class X, class... Others>
concept alike = container<X> &&(are_alike<X, Others>&&...);

template <class T>
const matrix<T>& as_matrix(const matrix<T>& x) {
  return x;
}
template <class T>
const matrix<T>& as_matrix(const vector<T>& x) {
  return x.as_row();
}

/// The container of X's kind with elements of type Named, or Natural if Named is void.
template <class X, class Named, class Natural>
using result_like = typename container_of<X>::template with<
    std::conditional_t<std::is_void_v<Named>, Natural, Named>>;

template <sparse_like X>
void fill_in(operand& out, const X& from) {
  out.what = operand::kind::sparse;
  out.is_vector = container_of<X>::is_vector;
  fill_in(out.sparse, as_matrix(from));
  out.structure = as_matrix(from).shared_structure();
}
template <class T>
void fill_in(operand& out, const dense<T>& from) {
  static_assert(sizeof(T) <= 16, "the elements of operands have at most 16 bytes");
  out.what = operand::kind::dense;
  fill_in(out.full, from);
}

inline descriptor turned(descriptor desc) {
  desc.transpose_a = !desc.transpose_a;
  return desc;
}

/// A result with its type.
template <class X>
X typed(sparse_result made) {
  using T = typename X::value_type;
  if (!made.is_iso) return X(matrix<T>(std::move(made.structure), std::move(made.values)));
  T iso;
  __builtin_memcpy(&iso, made.iso, sizeof(T));
  return X(matrix<T>(std::move(made.structure), iso));
}

/// An operation, and the type of its results unless another is named.
template <class Natural>
struct call {
  operation o;
};

/// Fills in what all forms of a call share.
template <class T, bool IsVector, class Option, class Behind>
void fill_in(operation& o, const Option& option, const Behind& desc) {
  fill_in_mask(o, mask_among(option));
  o.yields_vector = IsVector;
  o.out_type = type_of<T>;
  o.out_bytes = sizeof(T);
  o.desc = &descriptor_among(option, desc);
}
/// Fills in the fill of a dense result. A sparse one has none, which is refused for every type.
template <class T>
void fill_in_fill(operation& o) {
  if constexpr (is_storage<T>) {
    const T fill = o.desc->fill.template checked<T>(o.name, "fill");
    __builtin_memcpy(o.fill, &fill, sizeof(T));
  } else if (o.desc->fill.has_value()) {
    fail(errc::type, {o.name, ": fill is ", o.desc->fill.in_words(),
                      ", and the results' type is none of rig's; leave fill unset"});
  }
}

/// Runs a call with a new result, like X.
template <class X, class Named, class Natural, class Option, class Behind>
auto run_creating(call<Natural> made, const Option& option, const Behind& desc) {
  using Out = result_like<X, Named, Natural>;
  operation& o = made.o;
  return or_out_of_memory(o.name, [&] {
    fill_in<typename Out::value_type, container_of<Out>::is_vector>(o, option, desc);
    if constexpr (sparse_like<Out>) {
      return typed<Out>(run_sparse(o));
    } else {
      fill_in_fill<typename Out::value_type>(o);
      const result_shape shape = check_dense(o);
      Out c = Out::uninitialised(shape.rows, shape.columns, o.where(),
                                 owner_for(o.where(), o.desc->stream));
      fill_in(o.c, c);
      run_dense(o);
      return c;
    }
  });
}

/// Runs a call into C. accumulator::own is the call's own operator, if it joins two operands or
/// sums; others join in the common type of C and T.
template <class C, class Natural, class Option, class Behind>
void run_into(C& c, accumulator accum, call<Natural> made, const Option& option,
              const Behind& desc) {
  using T = typename C::value_type;
  operation& o = made.o;
  o.creates_result = false;
  o.accum = accum;
  if (accum == accumulator::own) {
    using enum operation::kind;
    const bool joins_two = o.what == merge || o.what == spread || o.what == reduce_rows ||
                           o.what == product || o.y_by != broadcast::absent;
    o.accumulates = joins_two ? o.op : nullptr;
    o.accumulates_code = o.code;
  } else if constexpr (is_storage<T> && is_storage<Natural>) {
    using common = typename common_element<T, algebra<Natural>>::type;
    o.accumulates = &builtin_binary(type_of<algebra<common>>);
    o.accumulates_code =
        static_cast<unsigned char>(static_cast<int>(accum) - static_cast<int>(accumulator::plus));
  }
  if constexpr (!sparse_like<C>) static_cast<void>(c.data());  // throws for a read-only view
  fill_in(o.c, c);
  if constexpr (sparse_like<C>)
    c = run_creating<C, T>(std::move(made), option, desc);
  else
    or_out_of_memory(o.name, [&] {
      fill_in<T, false>(o, option, desc);
      fill_in_fill<T>(o);
      check_dense(o);
      run_dense(o);
    });
}

}  // namespace rig
