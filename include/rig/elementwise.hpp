#pragma once

/// @file
/// Element-wise operations on matrices, vectors and dense matrices: unions, intersections, `apply`
/// and `select`.

#include <cmath>
#include <utility>

#include "rig/kernels/refusals.hpp"

namespace rig {

/// @cond internal

/// The text of a semiring, a monoid or an operator.
template <class S>
inline constexpr definition definition_of = {rig_type_key::of<S>(), is_of_rig<S>(), source_of<S>(),
                                             hash_of_semiring<S>()};

/// The operators of semirings as records.
template <class S>
void join_by_add(const element_block& b) {
  using T = typename S::accum;
  on_cpu::join<T, T, T>(b, [](const T& x, const T& y) { return S::add(x, y); });
}
template <class S>
void join_by_multiply(const element_block& b) {
  using T = typename S::accum;
  on_cpu::join<typename S::left, typename S::right, T>(
      b, [](const auto& x, const auto& y) { return S::multiply(x, y); });
}
template <class S>
inline constexpr operator_info add_of = {name_of<S>(),
                                         type_of<typename S::accum>,
                                         sizeof(typename S::accum),
                                         false,
                                         &join_by_add<S>,
                                         operator_kind::add,
                                         type::other,
                                         definition_of<S>};
template <class S>
inline constexpr operator_info multiply_of = {name_of<S>(),
                                              type_of<typename S::accum>,
                                              sizeof(typename S::accum),
                                              false,
                                              &join_by_multiply<S>,
                                              operator_kind::multiply,
                                              type::other,
                                              definition_of<S>};

/// What joins two elements: a builtin operator, a monoid or a semiring.
template <class Op>
concept joins = std::is_same_v<Op, binary> || semiring<Op>;

/// Whether F could be meant as a function: a lambda, a functor, a pointer. The overloads that take
/// one refuse it with one error, which says what to pass.
template <class F>
inline constexpr bool is_function_like =
    (std::is_class_v<F> && !container<F>) || std::is_pointer_v<F>;
template <class Op>
constexpr bool require_join() {
  static_assert(joins<Op>,
                "the operator is a rig::binary, such as rig::binary::plus, or a semiring, such as "
                "rig::plus_times<float>{}; a lambda or a functor cannot be one");
  return joins<Op>;
}

/// A call that merges X and Y. A semiring joins elements of a union by its add, others by its
/// multiply.
template <bool Union, class X, class Y, class Op>
auto merge_call(const char* name, const X& x, const Y& y, Op op) {
  const auto with = [&]<class Natural>(Natural*, const operator_info& info, unsigned char code) {
    call<Natural> made{{name, operation::kind::merge}};
    fill_in(made.o.x, x);
    fill_in(made.o.y, y);
    made.o.op = &info;
    made.o.code = code;
    made.o.is_union = Union;
    return made;
  };
  if constexpr (!require_join<Op>()) {
    return call<typename X::value_type>{{name, operation::kind::merge}};
  } else if constexpr (std::is_same_v<Op, binary>) {
    using common = typename common_element<typename X::value_type, typename Y::value_type>::type;
    static_assert(is_storage<typename X::value_type> && is_storage<typename Y::value_type>,
                  "a builtin operator joins numbers: pass a semiring for other types");
    check_enum(name, "operator", op, binary::greater_equal);
    constexpr type algebra_is = type_of<algebra<common>>;
    return with(static_cast<common*>(nullptr),
                is_comparison(op) ? builtin_comparison(algebra_is) : builtin_binary(algebra_is),
                static_cast<unsigned char>(op));
  } else {
    using accum = typename Op::accum;
    using left = std::conditional_t<Union, accum, typename Op::left>;
    using right = std::conditional_t<Union, accum, typename Op::right>;
    static_assert(
        is_loadable<typename X::value_type, left> && is_loadable<typename Y::value_type, right>,
        "the elements do not convert to the types of the semiring");
    static_assert(Union || plain_multiply<Op>,
                  "a multiply that takes a position has no meaning between elements");
    return with(static_cast<accum*>(nullptr), Union ? add_of<Op> : multiply_of<Op>, 0);
  }
}

/// Of two containers, one sparse and one dense: the result of a union is dense, of an intersection
/// sparse.
template <class X, class Y>
concept mixed =
    container<X> && container<Y> && container_of<X>::is_sparse != container_of<Y>::is_sparse;
template <bool Union, class X, class Y>
using merged_like = std::conditional_t<mixed<X, Y> && container_of<X>::is_sparse == Union, Y, X>;
/// What ewise_add and ewise_mult take.
template <class X, class Y>
inline constexpr bool joinable = alike<X, Y> || mixed<X, Y>;
template <bool Union, class C, class X, class Y>
inline constexpr bool joinable_into = alike<C, merged_like<Union, X, Y>>;

/// A call that joins X and Y where the operation visits them: the entries of the sparse one.
template <bool Union, class X, class Y, class Op>
auto join_call(const char* name, const X& x, const Y& y, Op op) {
  static_assert(joinable<X, Y>,
                "a matrix joins a matrix or a dense, and a vector joins a vector or a dense of one "
                "column: pass a vector v as the 1xn matrix v.as_row()");
  auto made = merge_call<Union>(name, x, y, op);
  if constexpr (mixed<X, Y>) {
    made.o.what = Union ? operation::kind::spread : operation::kind::map;
    if constexpr (!container_of<X>::is_sparse) {
      std::swap(made.o.x, made.o.y);
      made.o.scalar_first = true;
    }
    made.o.y_by = made.o.x.is_vector ? broadcast::columns : broadcast::places;
  }
  return made;
}

/// Runs a call that joins X and Y into C.
template <bool Union, class C, class X, class Y, class Op, class Option, class Behind>
void join_into(const char* name, C& c, accumulator accum, const X& a, const Y& b, Op op,
               const Option& option, const Behind& desc) {
  static_assert(!joinable<X, Y> || joinable_into<Union, C, X, Y>,
                "C is of the operands' kind: matrix, vector or dense; beside a dense, a union is "
                "dense and an intersection sparse");
  run_into(c, accum, join_call<Union>(name, a, b, op), option, desc);
}

/// a(i,j) ⊙ y(i), or y(j), with a dense y of one column.
template <class Out, class T, class Y>
matrix<Out> join_by(const char* name, const matrix<T>& a, binary op, const dense<Y>& y,
                    broadcast by, const descriptor& desc = {}) {
  auto made = merge_call<false>(name, a, y, op);
  made.o.what = operation::kind::map;
  made.o.y_by = by;
  return run_creating<matrix<T>, Out>(std::move(made), no_mask(), desc);
}

/// @endcond

/// The union of two containers: x ⊙ y where both have an entry, otherwise the entry that is there,
/// converted; beside a comparison to bool: 1 unless it is 0. A dense has every entry.
///
/// `op` is a `binary`, or a monoid or semiring, whose add is ⊙. Shapes: A, B, mask and C are alike
/// after the transposes of the descriptor; all are matrices, vectors or dense. Beside a dense, A or
/// B may be a matrix, or a vector for a dense of one column; then C is dense, and nothing is
/// transposed. Elements of the result have the common type of A and B (the later of bool, int32,
/// int64, float, double), a monoid's accum, or the named type: ewise_add<double>(A, B, op). A
/// comparison yields 0 or 1. Deterministic. Places: all. Cost: O(nnz(A) + nnz(B) + rows); O(nnz) of
/// the sparse one if C is the dense. Throws error: shape, place, range, out_of_memory; C is
/// unchanged then.
/// @code
/// const auto total = rig::ewise_add(A, rig::transpose(A), rig::binary::plus);
/// auto P = A;
/// rig::ewise_add(P, rig::accumulator::minimum, A, A, rig::plus_times<float>{});
/// @endcode
template <class Named = void, container X, container Y, class Op, option_like Option = descriptor>
auto ewise_add(const X& a, const Y& b, Op op, const Option& option = {},
               const behind<Option>& desc = {}) {
  return run_creating<merged_like<true, X, Y>, Named>(join_call<true>("ewise_add", a, b, op),
                                                      option, desc);
}
/// Into C.
template <container C, container X, container Y, class Op, option_like Option = descriptor>
void ewise_add(C& c, accumulator accum, const X& a, const Y& b, Op op, const Option& option = {},
               const behind<Option>& desc = {}) {
  join_into<true>("ewise_add", c, accum, a, b, op, option, desc);
}

/// The intersection of two containers: x ⊙ y where both have an entry.
///
/// `op` is a `binary`, or a semiring, whose multiply is ⊙; a semiring's left and right may differ.
/// Of a sparse and a dense operand the result is sparse. Everything else is as for `ewise_add`.
/// @code
/// const auto squares = rig::ewise_mult(A, A, rig::binary::times);
/// const auto less = rig::ewise_mult<bool>(A, rig::transpose(A), rig::binary::less);
/// @endcode
template <class Named = void, container X, container Y, class Op, option_like Option = descriptor>
auto ewise_mult(const X& a, const Y& b, Op op, const Option& option = {},
                const behind<Option>& desc = {}) {
  return run_creating<merged_like<false, X, Y>, Named>(join_call<false>("ewise_mult", a, b, op),
                                                       option, desc);
}
/// Into C.
template <container C, container X, container Y, class Op, option_like Option = descriptor>
void ewise_mult(C& c, accumulator accum, const X& a, const Y& b, Op op, const Option& option = {},
                const behind<Option>& desc = {}) {
  join_into<false>("ewise_mult", c, accum, a, b, op, option, desc);
}

/// @cond internal

/// The algebra in which a number y meets elements of type T: T's, unless T is an integer or bool
/// and y is not, or T is bool and y an integer.
template <class T, class Y>
struct scalar_algebra {
  using type = algebra<T>;
};
template <class T, class Y>
requires(!is_float<algebra<T>> && is_float<algebra<Y>>) struct scalar_algebra<T, Y> {
  using type = algebra<Y>;
};
template <class T, class Y>
requires(is_same<T, bool>&& is_integer<Y>) struct scalar_algebra<T, Y> {
  using type = Y;
};

/// The name of an algebra type, for messages.
template <class A>
inline constexpr const char* algebra_name = is_same<A, bool>    ? "bool"
                                            : is_same<A, int32> ? "int32"
                                            : is_same<A, int64> ? "int64"
                                            : is_same<A, float> ? "float"
                                                                : "double";

/// y in the algebra A of an operator. Throws error(range) for an integer beyond the range of A, and
/// for a number that becomes infinite.
template <class A, class Y>
A fitting(const char* operation, Y given) {
  using in = algebra<Y>;
  const in y = convert<in>(given);
  const A out = convert<A>(y);
  bool fits = true;
  if constexpr (is_float<A> && is_float<in>)
    fits = out - out == 0 || y - y != 0;  // finite, or y is not
  else if constexpr (!is_float<A>)
    fits = convert<in>(out) == y;
  if (!fits)
    fail(errc::range,
         {operation, ": y is ", y, ", beyond the range of ", algebra_name<A>,
          ", in which the operator computes; convert the elements first: apply<",
          is_same<in, int64> ? "rig::int64" : algebra_name<in>, ">(A, rig::unary::identity)"});
  return out;
}

/// The greatest number of an algebra up to y, if there is one, and whether it is y.
template <class A>
struct number_below {
  A value;
  bool exists, is_y;
};

/// For A of floats.
template <class A, class Y>
number_below<A> greatest_float_up_to(Y y) {
  auto value = static_cast<A>(y);
  if constexpr (is_float<Y>) {
    if (value > y) value = std::nextafter(value, lowest<A>());
    return {value, true, value == y || y != y};
  } else {
    constexpr A beyond = -static_cast<A>(lowest<int64>());
    if (value >= beyond || static_cast<int64>(value) > y)
      value = std::nextafter(value, lowest<A>());
    return {value, true, static_cast<int64>(value) == y};
  }
}

template <class A, class Y>
number_below<A> greatest_up_to(Y y) {
  if constexpr (is_float<A>) {
    return greatest_float_up_to<A>(y);
  } else if constexpr (is_float<Y>) {
    const auto least = static_cast<Y>(lowest<A>());
    if (!(y >= least)) return {lowest<A>(), false, false};  // NaN, too
    if (y >= (is_same<A, bool> ? Y(2) : -least)) return {highest<A>(), true, false};
    const Y floor = std::floor(y);
    return {static_cast<A>(floor), true, floor == y};
  } else {
    const int64 wide = y;
    if (wide < lowest<A>()) return {lowest<A>(), false, false};
    if (wide > highest<A>()) return {highest<A>(), true, false};
    return {static_cast<A>(y), true, true};
  }
}

/// x op y, for x in an algebra A.
template <class A>
struct comparison {
  binary op;
  A y;
};

/// The comparison in A that holds for the same x as x op y, although A may not hold y: then x < y
/// is x ≤ the greatest number of A below y, and x = y never holds.
template <class A, class Y>
comparison<A> comparison_in(binary op, Y given) {
  const auto y = convert<algebra<Y>>(given);
  const bool is_equality = op == binary::equal || op == binary::not_equal;
  const bool is_upper = op == binary::less || op == binary::less_equal;
  const number_below<A> z = greatest_up_to<A>(y);
  if (z.is_y) return {op, z.value};
  if (z.exists && !is_equality) return {is_upper ? binary::less_equal : binary::greater, z.value};
  // Always or never, for x of NaN too.
  const bool holds = is_equality ? op == binary::not_equal : !is_upper && y == y;
  if constexpr (is_float<A>)
    return {holds ? binary::not_equal : binary::equal, static_cast<A>(__builtin_nan(""))};
  else
    return {holds ? binary::greater_equal : binary::less, lowest<A>()};
}

/// y op x as x op y.
constexpr binary mirrored(binary comparison) {
  using enum binary;
  return comparison == less            ? greater
         : comparison == less_equal    ? greater_equal
         : comparison == greater       ? less
         : comparison == greater_equal ? less_equal
                                       : comparison;
}

/// The number that a builtin operator takes, in any type.
struct stored_number {
  alignas(8) unsigned char bytes[8] = {};

  template <class A>
  explicit stored_number(A value) {
    __builtin_memcpy(bytes, &value, sizeof(value));
  }
};

/// The number that a selection by place compares with. No place lies as far away as an int64 is
/// great. Throws error(range) for a fraction and for NaN.
template <class Y>
int64 place_number(selection how, Y given) {
  const auto y = convert<algebra<Y>>(given);
  if (!(y == y) || !scalar(y).is_integer())
    fail(errc::range, {"select: y is ", scalar(y).in_words(), ", and selection::", name_of(how),
                       " compares places, which are whole numbers; pass one"});
  return convert<int64>(y);
}

/// A call whose operator takes a number, and the number in the operator's type.
template <class Natural, class Y>
struct scalar_call {
  call<Natural> made;
  Y y;
};

/// The operation reads the number where the call has it.
template <class Natural, class Y>
void point_at_scalar(scalar_call<Natural, Y>& of) {
  of.made.o.scalar = &of.y;
  of.made.o.scalar_bytes = sizeof(Y);
}

template <class Natural, container X>
call<Natural> map_call(const char* name, operation::kind what, const X& x,
                       const operator_info& info, int code) {
  call<Natural> made{{name, what}};
  fill_in(made.o.x, x);
  made.o.op = &info;
  made.o.code = static_cast<unsigned char>(code);
  return made;
}

template <container X>
auto apply_call(const X& x, unary op) {
  using T = typename X::value_type;
  static_assert(is_storage<T>, "a builtin operator takes numbers: pass an operator of your own");
  check_enum("apply", "operator", op, unary::one);
  return map_call<T>("apply", operation::kind::map, x, builtin_unary(type_of<algebra<T>>),
                     static_cast<int>(op));
}

/// An integer of a type that is no storage type, such as long long or unsigned.
template <class Y>
concept other_integer = std::is_integral_v<Y> && !is_storage<Y>;

/// The same number as an int64. Throws error(range).
template <other_integer Y>
int64 as_int64(const char* operation, Y y) {
  if (!std::in_range<int64>(y))
    fail(errc::range, {operation, ": y is ", y, ", beyond the range of int64; pass a double"});
  return static_cast<int64>(y);
}

/// x ⊙ y or y ⊙ x with a number y.
template <container X, class Y>
auto apply_call(const X& x, binary op, Y y, bool y_first) {
  using T = typename X::value_type;
  using A = typename scalar_algebra<T, Y>::type;
  static_assert(is_storage<T> && is_storage<Y>, "a builtin operator takes numbers");
  check_enum("apply", "operator", op, binary::greater_equal);
  using natural = std::conditional_t<is_same<A, algebra<T>>, T, A>;
  const auto with = [&]<class In>(const operator_info& info, binary code, In number) {
    scalar_call<natural, stored_number> out{
        map_call<natural>("apply", operation::kind::map, x, info, static_cast<int>(code)),
        stored_number(number)};
    out.made.o.scalar_first = y_first && !is_comparison(op);
    out.made.o.scalar_type = type_of<In>;
    return out;
  };
  if (!is_comparison(op)) return with(builtin_binary(type_of<A>), op, fitting<A>("apply", y));
  const auto by = comparison_in<algebra<T>>(y_first ? mirrored(op) : op, y);
  return with(builtin_comparison(type_of<algebra<T>>), by.op, by.y);
}

template <container X, other_integer Y>
auto apply_call(const X& x, binary op, Y y, bool y_first) {
  return apply_call(x, op, as_int64("apply", y), y_first);
}

/// An operator of the caller: a struct with a static apply(x, i, j, y) of an element, its row and
/// column, and a number.
template <class F, class X, class Y>
concept element_operator = container<X> && std::is_empty_v<F> &&
    requires(algebra<typename X::value_type> x, Y y) {
  F::apply(x, index(), index(), y);
};
template <class F, class X, class Y>
using element_result =
    decltype(F::apply(algebra<typename X::value_type>(), index(), index(), std::declval<Y>()));

template <class F, class T, class Y>
void run_element_operator(const element_block& b) {
  Y y;
  __builtin_memcpy(&y, b.scalar, sizeof(Y));
  using O = decltype(F::apply(T(), index(), index(), y));
  on_cpu::map_each<T, O>(b, [&](const T& x, index i, index j) { return F::apply(x, i, j, y); });
}
template <class F, class T, class Y>
inline constexpr operator_info element_operator_of = {
    name_of<F>(),
    type_of<decltype(F::apply(T(), index(), index(), Y()))>,
    sizeof(decltype(F::apply(T(), index(), index(), Y()))),
    true,
    &run_element_operator<F, T, Y>,
    operator_kind::apply,
    type_of<T>,
    {rig_type_key::of<F>(), false, source_of<F>(), hash_of_semiring<F>()}};

/// A call with an operator of the caller, and its y.
template <class Natural, class F, container X, class Y>
scalar_call<Natural, Y> element_call(const char* name, operation::kind what, const X& x, Y y) {
  static_assert(std::is_trivially_copyable_v<Y>, "y is passed as its bytes");
  const operator_info& op = element_operator_of<F, algebra<typename X::value_type>, Y>;
  scalar_call<Natural, Y> out{map_call<Natural>(name, what, x, op, 0), y};
  out.made.o.scalar_type = type_of<Y>;
  return out;
}

template <container X, class F, class Y>
requires element_operator<F, X, Y>
auto apply_call(const X& x, F, Y y) {
  return element_call<element_result<F, X, Y>, F>("apply", operation::kind::map, x, y);
}

/// What may follow the operands of a call: a mask or a descriptor.
template <class Y>
inline constexpr bool is_option = is_mask<Y> || std::is_same_v<Y, descriptor>;
template <class Op>
inline constexpr bool takes_number = std::is_same_v<Op, binary> || std::is_same_v<Op, selection>;

/// The call of apply(a, op, y): one of a and y is a container.
template <class A, class Op, class Y>
auto apply_call_of(const A& a, Op op, const Y& y) {
  if constexpr (!std::is_same_v<Op, binary>)
    return apply_call(a, op, y);
  else if constexpr (container<A>)
    return apply_call(a, op, y, false);
  else
    return apply_call(y, op, a, true);
}
template <class A, class Y>
using container_among = std::conditional_t<container<A>, A, Y>;
template <class A, class Op, class Y>
concept applies = (std::is_same_v<Op, binary> && container<A> != container<Y> && !is_option<Y>) ||
                  element_operator<Op, A, Y>;

/// A call with an operator that takes a number y, and without one.
template <class... Arguments>
inline constexpr bool lacks_number = false;
template <container X, class Op>
inline constexpr bool lacks_number<X, Op> = takes_number<Op>;
template <container X, class Op, class Next, class... Rest>
requires takes_number<Op>
inline constexpr bool lacks_number<X, Op, Next, Rest...> = is_option<Next>;
template <container C, class... Rest>
inline constexpr bool lacks_number<C, accumulator, Rest...> = lacks_number<Rest...>;
template <class... Arguments>
constexpr void refuse_lacking_number() {
  static_assert(sizeof...(Arguments) == 0,
                "this operator takes a number after it: rig::apply(A, rig::binary::plus, 0.5f), "
                "rig::select(A, rig::selection::lower, 0); two containers join by rig::ewise_add");
}

/// A call with something like a function, but without F::apply(x, i, j, y) or its y.
template <class F, class X, class... Rest>
inline constexpr bool is_element_operator = false;
template <class F, class X, class Y, class... Rest>
inline constexpr bool is_element_operator<F, X, Y, Rest...> = element_operator<F, X, Y>;
template <class F, class X, class... Rest>
concept applies_nothing =
    container<X> && is_function_like<F> && !is_element_operator<F, X, Rest...>;
template <class F, class X, class... Rest>
constexpr void refuse_operator() {
  static_assert(is_element_operator<F, X, Rest...>,
                "an operator of yours is an empty struct F with a static apply(x, i, j, y), and a "
                "number y is passed with it: rig::apply(A, F(), 0.5f), rig::select(A, F(), 0.5f)");
}

#define RIG_REFUSE_OPERATORS(call)                                                              \
  template <class Named = void, class X, class F, class... Rest>                                \
  requires applies_nothing<F, X, Rest...>                                                       \
  void call(const X&, const F&, const Rest&...) { refuse_operator<F, X, Rest...>(); }           \
  template <class C, class X, class F, class... Rest>                                           \
  requires(applies_nothing<F, X, Rest...> && container<C>) int call(C&, accumulator, const X&,  \
                                                                    const F&, const Rest&...) { \
    refuse_operator<F, X, Rest...>();                                                           \
    return 0;                                                                                   \
  }                                                                                             \
  template <class Named = void, class... Arguments>                                             \
  requires lacks_number<Arguments...>                                                           \
  void call(const Arguments&...) { refuse_lacking_number<Arguments...>(); }                     \
  template <class Named = void, container X, class Op>                                          \
  requires takes_number<Op>                                                                     \
  void call(const X&, Op, const descriptor&) { refuse_lacking_number<X>(); }
RIG_REFUSE_OPERATORS(apply)
RIG_REFUSE_OPERATORS(select)
#undef RIG_REFUSE_OPERATORS

/// Whether T is a type of weights that an algorithm converts to numbers of its own.
template <class T>
constexpr bool require_weights() {
  static_assert(is_storage<T>,
                "weights are float, double, int32, int64, bool, half or bfloat16: convert with an "
                "operator of yours that returns one, rig::apply(A, F(), 0)");
  return is_storage<T>;
}

/// @endcond

/// Every element, or entry, through a unary operator: T(i,j) = op(A(i,j)).
///
/// Entries stay where they are, and without a mask the result shares A's pattern and derived
/// structures. Elements keep A's type unless another is named. Shapes: as A, transposed if the
/// descriptor says so; a dense is not transposed. Places: all. Cost: O(entries). Throws error:
/// shape, place, range, out_of_memory; C is unchanged then.
/// @code
/// const auto active = rig::apply(X, rig::unary::relu);
/// rig::apply(C, rig::none, C, rig::unary::absolute);
/// @endcode
template <class Named = void, container X, option_like Option = descriptor>
auto apply(const X& a, unary op, const Option& option = {}, const behind<Option>& desc = {}) {
  return run_creating<X, Named>(apply_call(a, op), option, desc);
}
/// Into C.
template <class C, container X, option_like Option = descriptor>
requires alike<C, X>
void apply(C& c, accumulator accum, const X& a, unary op, const Option& option = {},
           const behind<Option>& desc = {}) {
  run_into(c, accum, apply_call(a, op), option, desc);
}

/// Every element, or entry, with a number: apply(A, op, y) is A(i,j) ⊙ y, apply(y, op, A) is
/// y ⊙ A(i,j), and apply(A, F(), y) is F::apply(A(i,j), i, j, y) of an operator of yours.
///
/// Builtin operators compute in A's type, unless A has integers and y is not one, or A has bool and
/// y is an integer; then in y's. A y beyond that type's range is refused. Comparisons are of the
/// numbers themselves: y is not rounded, so no float equals 0.1, and every int32 is less than 1e10.
/// F is an empty struct; half and bfloat16 reach it as floats. Everything else is as above.
/// @code
/// const auto half = rig::apply(A, rig::binary::times, 0.5f);
/// const auto inverse = rig::apply(1.0f, rig::binary::divide, A);
/// @endcode
template <class Named = void, class A, class Op, class Y, option_like Option = descriptor>
requires applies<A, Op, Y>
auto apply(const A& a, Op op, const Y& y, const Option& option = {},
           const behind<Option>& desc = {}) {
  auto made = apply_call_of(a, op, y);
  point_at_scalar(made);
  return run_creating<container_among<A, Y>, Named>(std::move(made.made), option, desc);
}
/// Into C.
template <class C, class A, class Op, class Y, option_like Option = descriptor>
requires applies<A, Op, Y> && alike<C, container_among<A, Y>>
void apply(C& c, accumulator accum, const A& a, Op op, const Y& y, const Option& option = {},
           const behind<Option>& desc = {}) {
  auto made = apply_call_of(a, op, y);
  point_at_scalar(made);
  run_into(c, accum, std::move(made.made), option, desc);
}

/// @cond internal
/// The call of a selection: a builtin one, whose y is an int64 for places and a number for values,
/// or the predicate of the caller.
template <sparse_like X, class Y>
auto select_call(const X& x, selection how, Y y) {
  using T = typename X::value_type;
  // Places are selected alike for all types of values.
  using A = algebra<std::conditional_t<is_storage<T>, T, bool>>;
  static_assert(is_storage<Y>, "a builtin selection compares numbers");
  check_enum("select", "selection", how, selection::greater_equal);
  if (!is_storage<T> && how >= selection::equal)
    fail(errc::type, {"select: a builtin selection by value compares numbers, and the values are "
                      "of another type; pass a predicate of your own"});
  const auto with = [&](selection code, auto number) {
    return scalar_call<T, stored_number>{
        map_call<T>("select", operation::kind::select, x, builtin_selection(type_of<A>),
                    static_cast<int>(code)),
        stored_number(number)};
  };
  if (how < selection::equal) return with(how, place_number(how, y));
  const auto by = comparison_in<A>(comparison_of(how), y);
  return with(selection_of(by.op), by.y);
}
template <sparse_like X, other_integer Y>
auto select_call(const X& x, selection how, Y y) {
  return select_call(x, how, as_int64("select", y));
}
template <sparse_like X, class P, class Y>
requires element_operator<P, X, Y>
auto select_call(const X& x, P, Y y) {
  return element_call<typename X::value_type, P>("select", operation::kind::select, x, y);
}
template <class P, class X, class Y>
concept selects = sparse_like<X> &&
    ((std::is_same_v<P, selection> && !is_option<Y>) || element_operator<P, X, Y>);

/// @endcond

/// The entries for which a selection holds, or for which P::apply(x, i, j, y) of yours is true.
///
/// Shapes: as A. Values stay; C's type receives them converted. Values are compared with y itself,
/// which is not rounded to A's type: no float equals 0.1, and every int32 is less than 1e10.
/// Indices of a vector are columns of row 0. Places: all. Cost: O(entries + rows). Throws error:
/// shape, place, range, out_of_memory; C is unchanged then.
/// @code
/// const auto below = rig::select(A, rig::selection::lower, -1);
/// const auto heavy = rig::select(A, rig::selection::greater, 0.5f);
/// @endcode
template <class Named = void, class X, class P, class Y, option_like Option = descriptor>
requires selects<P, X, Y>
auto select(const X& a, P how, const Y& y, const Option& option = {},
            const behind<Option>& desc = {}) {
  auto made = select_call(a, how, y);
  point_at_scalar(made);
  return run_creating<X, Named>(std::move(made.made), option, desc);
}
/// Into C.
template <class C, class X, class P, class Y, option_like Option = descriptor>
requires selects<P, X, Y> && alike<C, X>
void select(C& c, accumulator accum, const X& a, P how, const Y& y, const Option& option = {},
            const behind<Option>& desc = {}) {
  auto made = select_call(a, how, y);
  point_at_scalar(made);
  run_into(c, accum, std::move(made.made), option, desc);
}

}  // namespace rig
