#pragma once

/// @file
/// Sums of the entries of rows, of columns and of all.

#include "rig/elementwise.hpp"

namespace rig {

/// @cond internal

/// What sums elements: a monoid, or plus, times, minimum, maximum, logical_or or logical_and.
template <class M>
concept sums = std::is_same_v<M, binary> || monoid<M>;

/// Something like a function where a monoid is due, which is refused with one error.
template <class M>
concept sums_nothing = is_function_like<M> && !sums<M>;
template <class M>
constexpr void refuse_sum() {
  static_assert(sums<M>,
                "what sums is a rig::binary, such as rig::binary::plus, or a monoid or semiring, "
                "such as rig::plus_times<float>{}; a lambda or a functor cannot be one");
}

/// The type of the sums of elements of type T.
template <class M, class T>
struct sum_of {
  using type = T;
};
template <monoid M, class T>
struct sum_of<M, T> {
  using type = typename M::accum;
};

template <class M>
void fold_elements(const monoid_info&, const element_source& of, int64 begin, int64 end,
                   void* out) {
  using T = typename M::accum;
  constexpr int most = on_cpu::elements_at_once<T>;
  T x[std::size_t(most)], sum = M::zero();
  for (int64 first = begin; first < end; first += most) {
    const int count = static_cast<int>(end - first < most ? end - first : most);
    on_cpu::gather(of, {nullptr, first}, count, x);
    for (int k = 0; k < count; ++k) sum = M::add(sum, x[k]);
  }
  __builtin_memcpy(out, &sum, sizeof(T));
}

template <class T, sums M>
monoid_info monoid_of(const char* operation, M by) {
  if constexpr (std::is_same_v<M, binary>) {
    static_assert(is_storage<T>, "a builtin operator sums numbers: pass a monoid of your own");
    return builtin_monoid(operation, by, type_of<algebra<T>>);
  } else {
    using accum = typename M::accum;
    static_assert(is_loadable<T, accum>, "the elements do not convert to the monoid's accum");
    return {name_of<M>(), type_of<accum>, sizeof(accum), &add_of<M>, 0, &fold_elements<M>};
  }
}

template <class T, class X, sums M>
auto reduce_call(const char* name, const X& x, const monoid_info& by, M) {
  call<typename sum_of<M, T>::type> made{{name, operation::kind::reduce_rows}};
  fill_in(made.o.x, x);
  made.o.sums = &by;
  made.o.op = by.add;
  made.o.code = by.code;
  return made;
}

/// What sums elements with the indices that they come from: arg-max, arg-min.
template <class M>
concept indexed_sums = monoid<M> && is_indexed<typename M::accum>;

/// What the rows of X are summed into: a vector, or a dense of one column if X is dense.
template <class X>
struct sums_of_rows {};
template <class T>
struct sums_of_rows<matrix<T>> {
  using type = vector<T>;
};
template <class T>
struct sums_of_rows<dense<T>> {
  using type = dense<T>;
};
template <class X>
using row_sums = typename sums_of_rows<X>::type;
template <class X, class M>
concept sums_rows = sums<M> && !indexed_sums<M> && requires {
  typename row_sums<X>;
};

/// The identity of a monoid, in the type that it sums in.
template <class T, sums M>
auto identity_of(M by) {
  typename sum_of<M, algebra<T>>::type zero{};
  if constexpr (std::is_same_v<M, binary>)
    write_identity(by, type_of<decltype(zero)>, &zero);
  else
    zero = M::zero();
  return zero;
}

/// Calls run(call) with the sums of the rows of X.
template <class X, sums M, class Run>
auto with_row_sums(const char* name, const X& x, M by, Run run) {
  using T = typename X::value_type;
  const monoid_info info = monoid_of<T>(name, by);
  auto made = reduce_call<T>(name, x, info, by);
  const auto zero = identity_of<T>(by);  // the sum of a row of a dense without columns
  made.o.scalar = &zero;
  made.o.scalar_bytes = sizeof(zero);
  made.o.scalar_type = info.result;
  return run(std::move(made));
}

/// A column that products over `of_entries` do not read.
template <class T>
dense<bool> unread_column(const matrix<T>& a, const descriptor& desc) {
  return dense<bool>::uninitialised(desc.transpose_a ? a.rows() : a.columns(), 1, a.where(),
                                    owner_for(a.where(), desc.stream));
}

/// @endcond

/// The sum of each row: of a matrix a sparse vector of the rows that have entries, of a dense a
/// dense of one column.
///
///   w(i) = ⊕_j A(i,j)
///
/// `by` is a monoid, or one of plus, times, minimum, maximum, logical_or and logical_and. Shapes: A
/// m×n, w and mask m; transpose_a sums columns, as `reduce_columns` does. Elements are a monoid's
/// accum, or A's type, or named; sums are formed in the accum or in A's type. Order: fixed by the
/// number of entries, so the bits do not depend on threads. A sum by logical_or, logical_and or a
/// monoid that is `logical` is 0 or 1, of one element too. accumulator::own is `by`. Places: all.
/// Cost: O(entries + rows). Throws error: shape, place, cannot, out_of_memory; w is unchanged then.
/// @code
/// const auto degrees = rig::reduce_rows(A.with_value(1L), rig::binary::plus);
/// const auto least = rig::reduce_rows(A, rig::min_plus<float>{});
/// @endcode
template <class Named = void, class X, sums M, option_like Option = descriptor>
requires sums_rows<X, M>
auto reduce_rows(const X& a, M by, const Option& option = {}, const behind<Option>& desc = {}) {
  return with_row_sums("reduce_rows", a, by, [&](auto made) {
    return run_creating<row_sums<X>, Named>(std::move(made), option, desc);
  });
}
/// Into C.
template <class W, class X, sums M, option_like Option = descriptor>
requires sums_rows<X, M> && alike<W, row_sums<X>>
void reduce_rows(W& w, accumulator accum, const X& a, M by, const Option& option = {},
                 const behind<Option>& desc = {}) {
  with_row_sums("reduce_rows", a, by,
                [&](auto made) { run_into(w, accum, std::move(made), option, desc); });
}

/// The greatest, or least, entry of each row with its column, for `by` an arg_max_second or
/// arg_min_second: a column of values and one of indices.
///
/// A row without entries has the fill, by default the monoid's identity, and index −1. Everything
/// else is as above; accumulator::own alone accumulates.
/// @code
/// const auto greatest = rig::reduce_rows(A, rig::arg_max_second<float>{});
/// std::printf("%g in column %d\n", greatest.values(0, 0), greatest.indices(0, 0));
/// @endcode
template <class Named = void, class T, indexed_sums M, option_like Option = descriptor>
auto reduce_rows(const matrix<T>& a, M, const Option& option = {},
                 const behind<Option>& desc = {}) {
  const descriptor& used = descriptor_among(option, desc);
  return mxm_creating<Named>(a, unread_column(a, used), of_entries<M>(), mask_among(option), used,
                             column_name{"mxm"});
}
/// Into C.
template <class W, class T, indexed_sums M, option_like Option = descriptor>
void reduce_rows(indexed_dense<W>& w, accumulator accum, const matrix<T>& a, M,
                 const Option& option = {}, const behind<Option>& desc = {}) {
  const descriptor& used = descriptor_among(option, desc);
  mxm_into(w, accum, a, unread_column(a, used), of_entries<M>(), mask_among(option), used,
           column_name{"mxm"});
}

/// The sum of each column: `reduce_rows` of the transpose, which a matrix keeps.
///
///   auto in_degrees = rig::reduce_columns(A.with_value(1L), rig::binary::plus);
///   rig::reduce_columns(w, rig::none, A, rig::binary::maximum, rig::structure(seen));
template <class Named = void, class X, sums M, option_like Option = descriptor>
auto reduce_columns(const X& a, M by, const Option& option = {}, const behind<Option>& desc = {}) {
  return reduce_rows<Named>(a, by, mask_among(option), turned(descriptor_among(option, desc)));
}
/// Into C.
template <class W, class X, sums M, option_like Option = descriptor>
void reduce_columns(W& w, accumulator accum, const X& a, M by, const Option& option = {},
                    const behind<Option>& desc = {}) {
  reduce_rows(w, accum, a, by, mask_among(option), turned(descriptor_among(option, desc)));
}

/// The sum of all entries or elements; the monoid's identity if there is none.
///
/// X is a matrix, a vector or a dense; `by` is as for `reduce_rows`. Waits for the result. Order:
/// fixed by the number of entries. Places: all. Cost: O(entries). Throws error: place, cannot,
/// out_of_memory. The second form joins the sum with c by a builtin operator.
/// @code
/// double total = rig::reduce<double>(A, rig::binary::plus);
/// rig::reduce(total, rig::accumulator::maximum, B, rig::binary::maximum);
/// @endcode
template <class Named = void, container X, sums M>
auto reduce(const X& x, M by, const descriptor& desc = {}) {
  using T = typename X::value_type;
  using natural = typename sum_of<M, T>::type;
  using in = typename sum_of<M, algebra<T>>::type;
  using out = std::conditional_t<std::is_void_v<Named>, natural, Named>;
  return or_out_of_memory("reduce", [&]() -> out {
    const monoid_info info = monoid_of<T>("reduce", by);
    auto made = reduce_call<T>("reduce", x, info, by);
    made.o.desc = &desc;
    in sum = identity_of<T>(by);
    run_reduce(made.o, &sum);
    if constexpr (std::is_same_v<in, out>)
      return sum;
    else
      return convert<out>(sum);
  });
}
/// Into C.
template <class T, container X, sums M>
requires(is_storage<T>) void reduce(T& c, accumulator accum, const X& x, M by,
                                    const descriptor& desc = {}) {
  using in = typename sum_of<M, algebra<typename X::value_type>>::type;
  using common = algebra<typename common_element<T, in>::type>;
  check_enum("reduce", "accumulator", accum, accumulator::logical_and);
  const in t = reduce<in>(x, by, desc);
  if (accum != accumulator::own) {
    c = convert<T>(accumulate(accum, convert<common>(c), convert<common>(t)));
  } else if constexpr (std::is_same_v<M, binary>) {
    c = convert<T>(accumulate(as_accumulator(by), convert<in>(c), t));
  } else {
    c = convert<T>(M::add(convert<in>(c), t));
  }
}

/// @cond internal
template <class Named = void, class X, sums_nothing M, class... Rest>
int reduce_rows(const X&, const M&, const Rest&...) {
  refuse_sum<M>();
  return 0;
}
template <class Named = void, class X, sums_nothing M, class... Rest>
int reduce_columns(const X&, const M&, const Rest&...) {
  refuse_sum<M>();
  return 0;
}
template <class Named = void, container X, sums_nothing M, class... Rest>
int reduce(const X&, const M&, const Rest&...) {
  refuse_sum<M>();
  return 0;
}
/// @endcond

}  // namespace rig
