#pragma once

// One meaning on every place, and of sparse and dense results: how T joins C, what a logical sum
// is, and how numbers are compared. Expected numbers are computed here, in long double.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "oracle_numbers.hpp"
#include "provoked.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace meaning {

using rig::accumulator;
using rig::binary;
using rig::index;
using rig::place;
using rig::selection;

template <class T>
T number(double x) {
  if constexpr (rig::is_small_float<T>)
    return T(static_cast<float>(x));
  else
    return static_cast<T>(x);
}
template <class T>
long double wide(T x) {
  if constexpr (rig::is_small_float<T>)
    return static_cast<float>(x);
  else
    return static_cast<long double>(x);
}

/// 2×2 with entries at (0, 0) and (1, 1).
template <class T>
rig::matrix<T> diagonal(T first, T second, place where) {
  // Not a span of bool, which a vector of bool does not have.
  const T values[] = {first, second};
  const std::vector<index> at{0, 1};
  return rig::matrix<T>::from_tuples(2, 2, at, at, std::span<const T>(values)).to(where);
}
template <class T>
rig::dense<T> full(T first, T second, place where) {
  rig::dense<T> out(2, 2, T());
  out(0, 0) = first;
  out(1, 1) = second;
  return out.to(where);
}
template <class T>
T entry(const rig::matrix<T>& c, index i) {
  const auto found = rig::at(c.to(rig::cpu()), i, i);
  REQUIRE(found.has_value());
  return *found;
}
template <class T>
T entry(const rig::dense<T>& c, index i) {
  return c.to(rig::cpu())(i, i);
}

/// C = {before, other} ⊙ {t, nothing}, in products, in element-wise operations and in moves, with
/// sparse and dense results; `other` has no partner in a sparse T.
template <class C, class T>
void check_join(accumulator how, C before, T t, C want, C other, place where) {
  CAPTURE(wide(before));
  CAPTURE(wide(t));
  CAPTURE(static_cast<int>(how));
  const auto x =
      rig::matrix<T>::from_tuples(2, 2, std::vector{0}, std::vector{0}, std::vector{t}).to(where);
  const auto one = diagonal<T>(T(1), T(1), where);
  const rig::plus_times<T> algebra;
  const auto check = [&](const char* name, auto operate) {
    CAPTURE(std::string(name));
    auto c = diagonal(before, other, where);
    operate(c);
    CHECK(wide(entry(c, 0)) == wide(want));
    CHECK(wide(entry(c, 1)) == wide(other));
  };
  check("mxm", [&](auto& c) { rig::mxm(c, how, x, one, algebra); });
  check("mxm under a mask",
        [&](auto& c) { rig::mxm(c, how, x, one, algebra, rig::structure(one)); });
  auto c = full(before, other, where);
  rig::mxm(c, how, x, full<T>(T(1), T(1), where), algebra);
  CHECK(wide(entry(c, 0)) == wide(want));
  CHECK(wide(entry(c, 1)) == wide(other));
  const rig::matrix<T> none(2, 2);
  check("ewise_add", [&](auto& c) { rig::ewise_add(c, how, x, none.to(where), binary::plus); });
  c = full(before, other, where);
  rig::ewise_mult(c, how, full(t, t, where), full<T>(T(1), T(1), where), binary::times);
  if (how != accumulator::own) CHECK(wide(entry(c, 0)) == wide(want));
  const C both[] = {before, other};
  const auto u = rig::vector<C>::from_tuples(2, std::vector{0, 1}, std::span<const C>(both));
  auto w = u.to(where);
  rig::reduce_rows(w, how, x, binary::plus);
  CHECK(wide(rig::at(w.to(rig::cpu()), 0).value()) == wide(want));
  CHECK(wide(rig::at(w.to(rig::cpu()), 1).value()) == wide(other));
  C sum = before;
  rig::reduce(sum, how, x, binary::plus);
  CHECK(wide(sum) == wide(want));
  if (how == accumulator::own) return;
  check("apply", [&](auto& c) { rig::apply(c, how, x, rig::unary::identity); });
  check("transpose", [&](auto& c) { rig::transpose(c, how, x); });
  check("assign", [&](auto& c) { rig::assign(c, how, x, rig::all, rig::all); });
  c = full(before, other, where);
  rig::assign(c, how, full(t, T(0), where), rig::all, rig::all);
  CHECK(wide(entry(c, 0)) == wide(want));
}

/// T joins C before it is rounded: −2 + 1.5 in an int is 0.
inline void check_joins(place where) {
  for (const accumulator how : {accumulator::own, accumulator::plus}) {
    check_join<int, float>(how, -2, 1.5f, 0, 7, where);
    check_join<rig::int64, double>(how, -2, 1.5, 0, 7, where);
    check_join<rig::half, float>(how, rig::half(2048.0f), 1.5f, rig::half(2050.0f), rig::half(0.5f),
                                 where);
    check_join<float, int>(how, 2.0f, 3, 5.0f, 0.5f, where);
    check_join<double, int>(how, 2.0, 3, 5.0, 0.5, where);
  }
  // Builtin operators join in the common type, so a C of more digits keeps them.
  const double fine = 1e10 + 0.5;
  check_join<double, float>(accumulator::plus, fine, 1.5f, fine + 1.5, fine, where);
  check_join<rig::int64, int>(accumulator::plus, 1L << 40, 3, (1L << 40) + 3, 1L << 50, where);
  check_join<float, int>(accumulator::plus, 0.5f, 3, 3.5f, 0.5f, where);
  check_join<float, rig::int64>(accumulator::minus, 0.5f, 3, -2.5f, 0.5f, where);
  check_join<bool, float>(accumulator::minus, true, 0.5f, true, true, where);
  check_join<int, float>(accumulator::maximum, -2, -1.5f, -1, 7, where);

  const auto a = diagonal(1.0f, 2.0f, where);
  auto c = a;
  check_error(rig::errc::cannot, {"mxm", "mean_times", "accumulator::plus"},
              [&] { rig::mxm(c, accumulator::own, a, a, rig::mean_times<float>()); });
  auto w = rig::vector<float>::from_indices(2, std::vector{0}).to(where);
  check_error(rig::errc::cannot, {"vxm", "mean_times", "accumulator::plus"},
              [&] { rig::vxm(w, accumulator::own, w, a, rig::mean_times<float>()); });
  rig::mxm(c, accumulator::plus, a, a, rig::mean_times<float>());  // as the message says
  CHECK(entry(c, 1) == 6);
}

/// Sums by a logical monoid of rows with one entry, with two, and with zeros.
template <class T>
void check_logical_sums(place where) {
  const std::vector<index> i{0, 1, 1, 2, 3, 3}, j{0, 0, 1, 1, 0, 1};
  const T values[] = {T(3), T(3), T(3), T(0), T(0), T(3)};
  const auto a = rig::matrix<T>::from_tuples(4, 2, i, j, std::span<const T>(values)).to(where);
  const auto check = [&](const auto& sums, const std::vector<int>& want) {
    const auto here = sums.to(rig::cpu());
    for (index k = 0; k < static_cast<index>(want.size()); ++k) {
      CAPTURE(k);
      CHECK(here.value(k) == T(want[static_cast<std::size_t>(k)]));
    }
  };
  check(rig::reduce_rows(a, binary::logical_or), {1, 1, 0, 1});
  check(rig::reduce_rows(a, binary::logical_and), {1, 1, 0, 0});
  check(rig::reduce_rows(a, rig::lor_land<T>()), {1, 1, 0, 1});
  check(rig::reduce_columns(a, rig::any_pair<T>()), {1, 1});
  check(rig::reduce_rows(a.with_value(T(3)), binary::logical_and), {1, 1, 1, 1});
  check(rig::reduce_rows(a.with_value(T(3)), rig::lor_land<T>()), {1, 1, 1, 1});
  const auto one = rig::extract(a, rig::range{0, 1}, rig::all);
  CHECK(rig::reduce(one, binary::logical_or) == T(1));
  CHECK(rig::reduce(one, binary::logical_and) == T(1));
  CHECK(rig::reduce(one, rig::lor_land<T>()) == T(1));
  for (const bool turned : {false, true}) {
    const auto column = rig::dense<T>(turned ? 1 : 2, turned ? 2 : 1, T(3)).to(where);
    const rig::descriptor desc{.transpose_a = turned};
    CHECK(rig::reduce_rows(column, binary::logical_and, desc).to(rig::cpu())(1, 0) == T(1));
    CHECK(rig::reduce_rows(column, rig::lor_land<T>(), desc).to(rig::cpu())(0, 0) == T(1));
  }
  const std::vector<index> places{0, 1, 1};
  const auto given = rig::dense<T>(3, 1, T(3)).to(where);
  for (const binary op : {binary::logical_or, binary::logical_and})
    check(rig::build(2, places, given, op), {1, 1});
  check(rig::build(2, places, given, binary::second), {3, 3});
}

/// Numbers of a type at the ends of its range, and around the ends of others.
template <class T>
std::vector<T> numbers() {
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (std::is_integral_v<T>) {
    std::vector<T> out{std::numeric_limits<T>::lowest(), -1, 0, 1, 2, (1 << 24) + 1,
                       std::numeric_limits<T>::max()};
    if constexpr (sizeof(T) == 8)
      for (const T x : {T(5000000000), T(-5000000000), (T(1) << 31), (T(1) << 53) + 1}) {
        out.push_back(x);
      }
    return out;
  } else {
    const double inf = std::numeric_limits<double>::infinity();
    std::vector<T> out;
    for (const double x :
         {-inf, -1e300, -5e9, -0.5, 0.0, 0.1, 1.0, 1.5, 2.0, 16777216.0, 2147483647.0, 2147483648.0,
          9223372036854775808.0, 1e300, inf, double(NAN)})
      out.push_back(number<T>(x));
    return out;
  }
}

/// Every comparison of elements of T with every number of Y, as `select` and as `apply`.
template <class T, class Y>
void check_comparisons(place where) {
  const std::vector<T> elements = numbers<T>();
  const auto count = static_cast<index>(elements.size());
  rig::dense<T> here(count, 1);
  std::vector<index> places;
  for (index k = 0; k < count; ++k) {
    here(k, 0) = elements[static_cast<std::size_t>(k)];
    places.push_back(k);
  }
  const auto x = here.to(where);
  const auto v = rig::build(count, places, x);
  int wrong = 0;
  for (const Y y : numbers<Y>())
    for (int code = 0; code < 6; ++code) {
      const auto op = static_cast<binary>(static_cast<int>(binary::equal) + code);
      const auto compares = [&](long double a, long double b) {
        return oracle::apply(oracle::named_as(op), oracle::kind::float64, a, b) != 0;
      };
      const auto kept =
          rig::select(v, static_cast<selection>(static_cast<int>(selection::equal) + code), y)
              .to(rig::cpu());
      const auto holds = rig::apply<bool>(x, op, y).to(rig::cpu());
      const auto of_entries = rig::apply<bool>(v, op, y).to(rig::cpu());
      const auto mirrored = rig::apply<bool>(y, op, x).to(rig::cpu());
      for (index k = 0; k < count; ++k) {
        const long double element = wide(here(k, 0));
        const bool want = compares(element, wide(y));
        wrong += rig::at(kept, k).has_value() != want || holds(k, 0) != want ||
                 of_entries.value(k) != want || mirrored(k, 0) != compares(wide(y), element);
      }
    }
  CHECK(wrong == 0);
}

template <class T>
void check_comparisons(place where) {
  check_comparisons<T, bool>(where);
  check_comparisons<T, int>(where);
  check_comparisons<T, rig::int64>(where);
  check_comparisons<T, float>(where);
  check_comparisons<T, double>(where);
  check_comparisons<T, rig::half>(where);
}
inline void check_comparisons(place where) {
  check_comparisons<bool>(where);
  check_comparisons<int>(where);
  check_comparisons<rig::int64>(where);
  check_comparisons<float>(where);
  check_comparisons<double>(where);
  check_comparisons<rig::half>(where);
  check_comparisons<rig::bfloat16>(where);
}

/// What has no partner becomes a bool beside a comparison, in sparse and dense unions alike.
inline void check_lone_entries(place where) {
  const std::vector<index> none;
  const auto a = diagonal(7.0f, 0.0f, where);
  const auto b = rig::matrix<float>(2, 2).to(where);
  for (const bool swapped : {false, true}) {
    const auto lone =
        swapped ? rig::ewise_add(b, a, binary::less) : rig::ewise_add(a, b, binary::less);
    CHECK(entry(lone, 0) == 1);
    CHECK(entry(lone, 1) == 0);
    const auto x = full(7.0f, 0.0f, where);
    const auto mixed =
        swapped ? rig::ewise_add(b, x, binary::less) : rig::ewise_add(x, b, binary::less);
    CHECK(entry(mixed, 0) == 1);
    CHECK(entry(mixed, 1) == 0);
    auto c = x;
    rig::ewise_add(c, rig::none, c, b, binary::less);
    CHECK(entry(c, 0) == 1);
  }
  // C's entries are no operands.
  auto c = a;
  rig::ewise_add(c, accumulator::own, b, b, binary::less);
  CHECK(entry(c, 0) == 7);
}

/// C ⊙ x everywhere, for one number x.
template <class C, class Y>
void check_assigned(accumulator how, C before, Y x, C want, place where) {
  auto sparse = diagonal<C>(before, before, where);
  auto all_places = full<C>(before, before, where);
  rig::assign(sparse, how, x, rig::all, rig::all);
  rig::assign(all_places, how, x, rig::all, rig::all);
  CHECK(wide(entry(sparse, 1)) == wide(want));
  CHECK(wide(entry(all_places, 1)) == wide(want));
}

/// A number that is assigned joins C in its own type, and is rounded once.
inline void check_assigned_numbers(place where) {
  using enum accumulator;
  check_assigned<int>(plus, -2, 1.5f, 0, where);
  check_assigned<int>(plus, -2, 1.5, 0, where);
  check_assigned<int>(times, 3, 2.5, 7, where);
  check_assigned<int>(none, 3, 2.9, 2, where);
  check_assigned<int>(minimum, 3, 5'000'000'000L - 4'999'999'999L, 1, where);
  check_assigned<float>(plus, 1.0f, 2, 3.0f, where);
  check_assigned<double>(plus, 0.25, 1.5f, 1.75, where);
  check_assigned<rig::int64>(plus, 1, 5'000'000'000LL, 5'000'000'001, where);
  check_assigned<bool>(none, false, 7, true, where);
  for (const accumulator how : {none, plus}) {
    auto c = diagonal<int>(1, 2, where);
    auto d = full<int>(1, 2, where);
    const auto refuses = [&](auto number, const char* words) {
      check_error(rig::errc::range, {"assign: the number is", words, "pass one within"},
                  [&] { rig::assign(c, how, number, rig::all, rig::all); });
      check_error(rig::errc::range, {"assign: the number is", words, "pass one within"},
                  [&] { rig::assign(d, how, number, rig::all, rig::all); });
    };
    refuses(5'000'000'000L, "5000000000");
    refuses(5'000'000'000ULL, "5000000000");
    refuses(-3e9, "-3e+09");
    refuses(std::numeric_limits<float>::quiet_NaN(), "nan");
    CHECK(entry(c, 1) == 2);
    CHECK(entry(d, 1) == 2);
  }
}

}  // namespace meaning
