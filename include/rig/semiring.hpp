#pragma once

/// @file
/// The members of a semiring, as concepts: `semiring`.

#include "rig/scalar.hpp"

namespace rig {

/// The position of a product: C's row, and the inner index k of A(i,k) ⊗ B(k,j).
struct position {
  index row;    ///< the row of C
  index inner;  ///< the inner index k
};

/// The meaning of a sample of a row's products for the whole row.
enum class reduction : unsigned char {
  none,     ///< nothing useful: a path outside the sample may be the best
  sum,      ///< its share of the sum
  mean,     ///< an estimate of the mean
  extreme,  ///< a bound of the greatest or least
};

/// A multiply that takes two operands.
template <class S>
concept plain_multiply = requires(typename S::left a, typename S::right b) {
  S::multiply(a, b);
};

/// A multiply that also takes the position: arg-max, parents in a search.
template <class S>
concept positional = requires(typename S::left a, typename S::right b, position at) {
  S::multiply(a, b, at);
};

/// A commutative, associative add with its identity: accum, zero(), add. Every semiring is one, by
/// its add. Reductions take it.
template <class S>
concept monoid = requires(typename S::accum x) {
  requires is_same<decltype(S::zero()), typename S::accum>;
  requires is_same<decltype(S::add(x, x)), typename S::accum>;
};

/// An algebra rig can compute with: types left, right, accum; zero(), the identity of add; add;
/// multiply. Optional: finish(x, n), terminal(), replaces(sum, x), keeps_first, ignores_left,
/// ignores_right, annihilates, linear, logical, selective, samples_as, name.
///
/// C(i,j) of `mxm` is finish(⊕_k A(i,k) ⊗ B(k,j), n_i), with ⊕ = add and ⊗ = multiply. A type that
/// is no semiring does not compile, and the message names the member. `check_semiring` checks the
/// laws.
/// @code
/// static_assert(rig::semiring<rig::plus_times<float>>);
/// static_assert(!rig::semiring<float>);
/// @endcode
template <class S>
concept semiring = requires(typename S::accum x) {
  typename S::left;
  typename S::right;
  S::zero();
  S::add(x, x);
}
&&(plain_multiply<S> || positional<S>);

/// A semiring with finish(x, n), which maps a sum of n products to the result.
template <class S>
concept has_finish = requires(typename S::accum x, int64 n) {
  S::finish(x, n);
};

/// add(terminal(), x) = terminal() for every x, so a reduction may stop when it reaches terminal().
template <class S>
concept has_terminal = requires {
  S::terminal();
};

/// For an add that returns one of its operands: add(sum, x) is x if replaces(sum, x), else sum. It
/// holds for a product x of a lower inner index than all of `sum`, or if `sum` is zero(). So an add
/// that breaks ties by index needs no comparison of indices.
template <class S>
concept has_replaces = requires(typename S::accum x) {
  requires is_same<decltype(S::replaces(x, x)), bool>;
};

/// A sum is its product of the lowest inner index, so a reduction in that order may stop there.
template <class S>
concept is_keeping_first = requires {
  requires S::keeps_first;
};

/// multiply does not read its left operand, so kernels load no values of A.
template <class S>
concept is_ignoring_left = requires {
  requires S::ignores_left;
};
/// multiply does not read its right operand, so kernels load no elements of B.
template <class S>
concept is_ignoring_right = requires {
  requires S::ignores_right;
};

/// multiply(a, b) = zero() if either operand is zero(), among ordered finite numbers.
template <class S>
concept is_annihilating = requires {
  requires S::annihilates;
};

/// add(x, y) is x or y, so sums are exact in any order.
template <class S>
concept is_selective = requires {
  requires S::selective;
};

/// add is +, and a ⊗ (x + c·y) = a ⊗ x + c·(a ⊗ y). So kernels may sum codes and dequantise the sum
/// once.
template <class S>
concept is_linear = requires {
  requires S::linear;
};

/// All values are 0 or 1, in any type.
template <class S>
concept is_logical = requires {
  requires S::logical;
};

/// How sampled kernels use S: its member samples_as. Without one it is `none`, and sampled kernels
/// refuse S.
template <class S>
inline constexpr reduction samples_as = reduction::none;
/// @cond internal
template <class S>
requires requires { S::samples_as; }
inline constexpr reduction samples_as<S> = S::samples_as;
/// @endcond

/// Whether sums of S can be multiplied by row_nnz / staged.
template <class S>
inline constexpr bool is_rescaling =
    samples_as<S> == reduction::sum&& is_storage<typename S::accum>;

/// Whether sums of S are exact, so that their order does not change a bit: of integers and logical
/// values, and of adds that return an operand.
template <class S>
inline constexpr bool is_exact =
    is_logical<S> || is_selective<S> || samples_as<S> == reduction::extreme ||
    is_same<typename S::accum, bool> || is_same<typename S::accum, int32> ||
    is_same<typename S::accum, int64>;

/// finish(x, n), or x if the semiring has no finish; n counts the entries of the row of A.
template <semiring S>
constexpr auto finished(typename S::accum x, int64 n) {
  if constexpr (has_finish<S>)
    return S::finish(x, n);
  else
    return x;
}

/// a ⊗ b, positional or not.
template <semiring S>
constexpr typename S::accum product(typename S::left a, typename S::right b, position at) {
  if constexpr (positional<S>)
    return S::multiply(a, b, at);
  else
    return S::multiply(a, b);
}

/// The result type of a product over S.
template <semiring S>
using output = decltype(finished<S>(S::zero(), int64{0}));

/// Whether T is an `indexed`, so that results are two arrays.
template <class T>
inline constexpr bool is_indexed = false;
/// @cond internal
template <class T>
inline constexpr bool is_indexed<indexed<T>> = true;
/// @endcond

/// The greatest size of a left, right, accum or result in bytes: kernels hold 128 of them on a
/// thread's stack.
inline constexpr int64 widest_element = 8192;

/// @cond internal
template <class T>
inline constexpr bool fits_element = static_cast<int64>(sizeof(T)) <= widest_element;

/// Whether kernels can allocate, copy and drop elements of type T as bytes.
template <class T>
inline constexpr bool is_plain = __is_trivially_copyable(T) && __is_constructible(T);

template <class S>
concept has_element_types = requires {
  typename S::left;
  typename S::right;
  typename S::accum;
};

/// Whether S has a member of this name that cannot be called as required. A deleted one could be
/// called, by its type.
template <class S>
concept misdeclares_finish = !has_finish<S> && requires {
  &S::finish;
}
&&!requires(decltype(&S::finish) call, typename S::accum x, int64 n) { call(x, n); };
template <class S>
concept misdeclares_terminal = !has_terminal<S> && requires {
  &S::terminal;
}
&&!requires(decltype(&S::terminal) call) { call(); };
template <class S>
concept has_incomparable_terminal = has_terminal<S> && !requires(typename S::accum x) {
  static_cast<bool>(x == S::terminal());
};
template <class S>
concept misdeclares_replaces = !has_replaces<S> && requires {
  &S::replaces;
}
&&!requires(decltype(&S::replaces) call, typename S::accum x) {
  requires is_same<decltype(call(x, x)), bool>;
};

/// Whether S stands for a builtin semiring that is chosen at run time.
template <class S>
inline constexpr bool is_named = false;

/// Whether S is a semiring that kernels can use. If not, one static_assert states the reason.
template <class S>
constexpr bool require_semiring() {
  constexpr bool is_absent = sizeof(S) == 0;
  if constexpr (is_named<S>)
    return true;
  else if constexpr (!has_element_types<S>)
    static_assert(is_absent, "a semiring is a struct with public types left, right and accum");
  else if constexpr (!requires { S::zero(); })
    static_assert(is_absent, "a semiring has a public static zero(), the identity of add");
  else if constexpr (!requires(typename S::accum x) { S::add(x, x); })
    static_assert(is_absent, "a semiring has a public static add(x, y) of two accum");
  else if constexpr (!plain_multiply<S> && !positional<S>)
    static_assert(is_absent,
                  "a semiring has a public static multiply(a, b), or multiply(a, b, at), of a left "
                  "and a right");
  else if constexpr (misdeclares_finish<S>)
    static_assert(is_absent,
                  "finish(x, n) of a semiring is public and static, and takes accum and int64");
  else if constexpr (misdeclares_terminal<S>)
    static_assert(is_absent, "terminal() of a semiring is public and static");
  else if constexpr (has_incomparable_terminal<S>)
    static_assert(is_absent,
                  "sums are compared with terminal() by ==, which accum lacks: give it operator==");
  else if constexpr (misdeclares_replaces<S>)
    static_assert(
        is_absent,
        "replaces(sum, x) of a semiring is public and static, takes two accum and returns a bool");
  else if constexpr (!__is_empty(S) || !__is_constructible(S))
    static_assert(is_absent,
                  "a semiring is its type and holds no values: pass a parameter as a template "
                  "parameter");
  else if constexpr (!is_plain<typename S::left> || !is_plain<typename S::right> ||
                     !is_plain<typename S::accum> || !is_plain<output<S>>)
    static_assert(
        is_absent,
        "left, right, accum and the result of a semiring are trivially copyable and "
        "default-constructible, because kernels copy their bytes: no std::string, std::set or "
        "std::pair");
  else if constexpr (!fits_element<typename S::left> || !fits_element<typename S::right> ||
                     !fits_element<typename S::accum> || !fits_element<output<S>>)
    static_assert(is_absent,
                  "left, right, accum and the result of a semiring have at most 8192 bytes each");
  else
    return !is_absent;
  return false;
}

/// For a product that takes no `named_semiring`: false, with an error that says so, if S is one.
template <class S>
constexpr bool require_type() {
  static_assert(!is_named<S>,
                "this product takes a semiring by its type, such as rig::plus_times<float>{}; by "
                "name there are mxm of a matrix and a dense or a matrix, and mxv of a dense");
  return !is_named<S>;
}

template <class S>
constexpr const char* name_of() {
  if constexpr (requires { S::name; })
    return S::name;
  else
    return "a semiring of the caller";
}

/// The optional members of S, for a semiring around it.
template <class S>
struct finish_of {};
template <has_finish S>
struct finish_of<S> {
  static constexpr auto finish(typename S::accum x, int64 n) { return S::finish(x, n); }
};
template <class S>
struct terminal_of {};
template <has_terminal S>
struct terminal_of<S> {
  static constexpr typename S::accum terminal() { return S::terminal(); }
};
template <class S>
struct replaces_of {};
template <has_replaces S>
struct replaces_of<S> {
  static constexpr bool replaces(typename S::accum sum, typename S::accum x) {
    return S::replaces(sum, x);
  }
};
template <class S>
struct sums_of : finish_of<S>, terminal_of<S>, replaces_of<S> {
  using rig_wraps = S;
  using accum = typename S::accum;
  static constexpr const char* name = name_of<S>();
  static constexpr accum zero() { return S::zero(); }
  static constexpr accum add(accum x, accum y) { return S::add(x, y); }
};

/// S with exchanged operands: vxm is mxm of the transpose over it. C has one row.
template <class S>
struct flipped : sums_of<S> {
  using left = typename S::right;
  using right = typename S::left;
  using accum = typename S::accum;
  static constexpr bool ignores_left = is_ignoring_right<S>;
  static constexpr bool ignores_right = is_ignoring_left<S>;
  static constexpr bool annihilates = is_annihilating<S>;
  static constexpr bool logical = is_logical<S>;
  static constexpr bool selective = is_selective<S>;
  static constexpr bool keeps_first = is_keeping_first<S>;
  static constexpr reduction samples_as = rig::samples_as<S>;
  static constexpr accum multiply(left a, right b) requires plain_multiply<S> {
    return S::multiply(b, a);
  }
  static constexpr accum multiply(left a, right b, position at) requires positional<S> {
    return S::multiply(b, a, {0, at.inner});
  }
};

/// The semiring of mxv, whose vector is the left operand of kernels: S with exchanged operands. C
/// is a column, whose index is the row of a position.
template <class S>
struct exchanged : flipped<S> {
  using left = typename S::right;
  using right = typename S::left;
  using accum = typename S::accum;
  static constexpr accum multiply(left a, right b) requires plain_multiply<S> {
    return S::multiply(b, a);
  }
  static constexpr accum multiply(left a, right b, position at) requires positional<S> {
    return S::multiply(b, a, at);
  }
};

/// The sum of A's entries with their columns, over an add of `indexed`; B is not read.
template <class M>
struct of_entries : sums_of<M> {
  using accum = typename M::accum;
  using left = decltype(accum::value);
  using right = bool;
  static constexpr bool ignores_right = true;
  static constexpr accum multiply(left a, right, position at) { return {a, at.inner}; }
};
/// @endcond

}  // namespace rig
