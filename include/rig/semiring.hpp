#pragma once

#include "rig/scalar.hpp"

namespace rig {

/// Where a product is formed: C's row and the inner index k of A(i,k) ⊗ B(k,j).
struct position {
  index row;
  index inner;
};

/// What a sample of a row's products says of the whole row.
enum class reduction : unsigned char {
  none,     ///< nothing that is worth having: a path that was not looked at may be the one
  sum,      ///< its share of the sum
  mean,     ///< an estimate of the mean
  extreme,  ///< a bound of the greatest or least
};

template <class S>
concept plain_multiply = requires(typename S::left a, typename S::right b) {
  S::multiply(a, b);
};

/// A multiply that also sees the position: arg-max, parents of a search.
template <class S>
concept positional = requires(typename S::left a, typename S::right b, position at) {
  S::multiply(a, b, at);
};

/// An algebra rig can compute with: types left, right, accum; zero(), the identity of add; add;
/// multiply. Optional: finish(x, n), terminal(), overtakes(sum, x), ignores_left, ignores_right,
/// annihilates, linear, logical, samples_as, name.
template <class S>
concept semiring = requires(typename S::accum x) {
  typename S::left;
  typename S::right;
  S::zero();
  S::add(x, x);
}
&&(plain_multiply<S> || positional<S>);

template <class S>
concept has_finish = requires(typename S::accum x, int64 n) {
  S::finish(x, n);
};

/// add(terminal(), x) = terminal() for every x: a reduction that reached it may stop.
template <class S>
concept has_terminal = requires {
  S::terminal();
};

/// Of an add whose result is one of its operands: add(sum, x) is x where overtakes(sum, x), else
/// sum, for a product x of a lower inner index than all of `sum`, or where `sum` is zero(). An add
/// that asks which of two came first need not ask.
template <class S>
concept has_overtakes = requires(typename S::accum x) {
  requires is_same<decltype(S::overtakes(x, x)), bool>;
};

template <class S>
concept is_ignoring_left = requires {
  requires S::ignores_left;
};
template <class S>
concept is_ignoring_right = requires {
  requires S::ignores_right;
};

/// multiply(a, b) = zero() where either operand is it, among ordered finite numbers.
template <class S>
concept is_annihilating = requires {
  requires S::annihilates;
};

/// add is +, and a ⊗ (x + c·y) = a ⊗ x + c·(a ⊗ y): sums may be formed of codes, and dequantised
/// once.
template <class S>
concept is_linear = requires {
  requires S::linear;
};

/// Its values are 0 and 1 only, in whatever type.
template <class S>
concept is_logical = requires {
  requires S::logical;
};

/// What sampled kernels make of S: its member samples_as; `none`, where it has none, keeps them
/// off.
template <class S>
inline constexpr reduction samples_as = reduction::none;
template <class S>
requires requires { S::samples_as; }
inline constexpr reduction samples_as<S> = S::samples_as;

/// Can its sums be multiplied by row_nnz / staged?
template <class S>
inline constexpr bool is_rescaling =
    samples_as<S> == reduction::sum&& is_storage<typename S::accum>;

/// finish(x, n), or x where the semiring has none; n counts the products of the row.
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

/// What a product over S yields.
template <semiring S>
using output = decltype(finished<S>(S::zero(), int64{0}));

template <class T>
inline constexpr bool is_indexed = false;
template <class T>
inline constexpr bool is_indexed<indexed<T>> = true;

}  // namespace rig
