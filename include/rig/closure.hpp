#pragma once

/// @file
/// The fixed point of products with a square matrix: `closure`.

#include <functional>

#include "rig/elementwise.hpp"
#include "rig/kernels/closing.hpp"
#include "rig/kernels/cpu/closure.hpp"
#include "rig/mxm.hpp"
#include "rig/rearrange.hpp"
#include "rig/vector.hpp"

namespace rig {

/// How `closure` orders its work. Neither changes the result.
struct closure_options {
  /// Of a minimum or maximum of numbers: values that differ from the best one by less are settled
  /// before the others. 0: all together. Near the usual weight of an arc, few products are in vain.
  double width = 0;
  /// Called after each round with its number, from 1 on, and about how many values it changed. On a
  /// device each round then waits for the host.
  std::function<void(int, int64)> progress = {};
};

/// @cond internal
/// Whether products of a, which ⊕ prefers to b, are preferred to those of b, for small weights.
template <semiring S>
bool keeps_order(typename S::accum a, typename S::accum b, int count) {
  if constexpr (is_number<typename S::right>)
    for (int weight = 1; weight < count; ++weight) {
      const auto w = static_cast<typename S::right>(weight);
      const auto x = product<S>(a, w, position{0, 0}), y = product<S>(b, w, position{0, 0});
      if (S::add(x, y) != x) return false;
    }
  return true;
}

/// The laws that make the fixed point unique, tested on small numbers. Throws error(cannot) with
/// the law. Values that are no numbers are not tested: S states by `selective` that they hold.
template <semiring S>
void check_closing_laws(const char* name) {
  using T = typename S::accum;
  const auto refuse = [&](const char* law, const char* remedy) {
    fail(errc::cannot, {name, ": ", name_of<S>(), " ", law, "; ", remedy});
  };
  if constexpr (!is_number<T>) {
    if (!is_selective<S>)
      refuse("does not state that its add returns one of its operands",
             "declare `static constexpr bool selective = true` if it does");
  } else {
    const auto better = [](T x, T y) { return S::add(x, y) == x; };
    constexpr int count = is_logical<S> || is_same<T, bool> ? 2 : 4;
    for (int x = 0; x < count; ++x)
      for (int y = 0; y < count; ++y) {
        const T a = static_cast<T>(x), b = static_cast<T>(y);
        if (!better(a, b) && !better(b, a))
          refuse("is not idempotent: its add of two numbers is neither of them",
                 "give a semiring whose add is a minimum, a maximum or a logical or");
        const bool counts = a != S::zero() && b != S::zero() && better(a, b);
        if (counts && !keeps_order<S>(a, b, count))
          refuse("is not monotone: its multiply turns the order of two numbers",
                 "give one whose products are better for better left operands");
      }
  }
}

/// y = y ⊕ y·A until nothing changes. Returns the number of rounds.
template <semiring S>
int64 close_into(const char* name, dense<typename S::accum>& y, const matrix<typename S::right>& a,
                 S, const closure_options& given, const descriptor& desc,
                 explanation* why = nullptr) {
  static_assert(is_same<typename S::left, typename S::accum>,
                "closure multiplies its own sums: left and accum of the semiring are one type");
  static_assert(!has_finish<S>, "closure multiplies its own sums, so the semiring has no finish");
  check_closing_laws<S>(name);
  closing of;
  of.run_cpu = &on_cpu::close_columns<S>;
  of.width = given.width;
  of.is_ordered = is_number<typename S::accum> && !is_logical<S>;
  of.progress = &given.progress;
  problem p;
  p.name = name;
  p.algebra = &info_of<S>;
  p.desc = &desc;
  p.structure = &a.structure();
  p.closure = &of;
  fill_in(p.a, a);
  fill_in(p.c, y);
  if (why != nullptr)
    *why = explain_closing(p);
  else
    run_closing(p);
  return of.rounds;
}

/// x as the values of a closure begin: in the semiring's type, zero() where a vector has no entry.
template <class S, class T>
dense<typename S::accum> first_values(const dense<T>& x, const descriptor& desc) {
  if constexpr (is_same<T, typename S::accum>)
    return x;
  else
    return apply<typename S::accum>(x, unary::identity, desc);
}
template <class S, class T>
dense<typename S::accum> first_values(const vector<T>& x, const descriptor& desc) {
  using accum = typename S::accum;
  static_assert(is_number<accum>, "closure of a vector has sums of numbers: give x as a dense");
  auto out = dense<accum>::uninitialised(x.size(), 1, x.where());
  assign(out, none, S::zero(), all, all, desc);
  ewise_add(out, none, out, x, binary::second, desc);
  return out;
}
/// A with values of the semiring's type.
template <class S, class T>
matrix<typename S::right> weights_of(const matrix<T>& a, const descriptor& desc) {
  using right = typename S::right;
  if constexpr (is_ignoring_right<S>)
    return a.with_value(right{});
  else if constexpr (is_same<T, right>)
    return a;
  else
    return apply<right>(a, unary::identity, desc);
}
template <class S, class X, class T>
dense<typename S::accum> closed(const X& x, const matrix<T>& a, S s, const closure_options& given,
                                const descriptor& desc, explanation* why = nullptr) {
  return or_out_of_memory("closure", [&] {
    const descriptor other{.threads = desc.threads, .stream = desc.stream};
    auto y = first_values<S>(x, other);
    close_into("closure", y, weights_of<S>(a, other), s, given, desc, why);
    return y;
  });
}
/// @endcond

/// The closure x·A*: the best value that walks along the arcs of A bring to each node.
///
///   y = x ⊕ y·A,  the least one:  y(j) = ⊕ over walks i → … → j of x(i) ⊗ A(i,k) ⊗ … ⊗ A(l,j)
///
/// ⊕ returns one of its operands, and ⊗ keeps their order, which is tested on small numbers.
/// Products run from left to right, so y is unique: the same bits for any number of threads and on
/// both places, but for the sign of a zero. NaN reaches what its node reaches; on a GPU NaN or −∞
/// around a cycle is refused, as a cycle of negative weight is, if there is no width. Shapes: A
/// n×n, or with transpose_b its transpose; x a dense n×K, a closure per column, or a vector; zero()
/// is no value. Places: all. Cost: O(nnz + n) if no value changes twice; at most n + 1 rounds,
/// which a refused cycle takes, but for NaN and infinities. Throws error: shape, place, cannot (a
/// law), unknown_kernel, out_of_memory; range, if values do not settle.
/// @code
/// const auto from = rig::vector<float>::from_indices(A.rows(), std::vector{0}, 0.0f);
/// const auto lengths = rig::closure(from, A, rig::min_plus<float>{});
/// @endcode
template <class T, class TA, semiring S>
dense<typename S::accum> closure(const dense<T>& x, const matrix<TA>& a, S s,
                                 const closure_options& given = {}, const descriptor& desc = {}) {
  return closed(x, a, s, given, desc);
}
/// The same of a vector, as one column.
template <class T, class TA, semiring S>
dense<typename S::accum> closure(const vector<T>& x, const matrix<TA>& a, S s,
                                 const closure_options& given = {}, const descriptor& desc = {}) {
  return closed(x, a, s, given, desc);
}

/// Explains such a call: the answers of the kernels, and the choice.
template <class X, class TA, semiring S>
explanation explain_closure(const X& x, const matrix<TA>& a, S s, const closure_options& given = {},
                            const descriptor& desc = {}) {
  explanation out;
  closed(x, a, s, given, desc, &out);
  return out;
}

}  // namespace rig
