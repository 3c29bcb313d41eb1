#pragma once

// scatter_add against loops in double. The CPU's and the GPU's test share these cases.

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "product.hpp"
#include "provoked.hpp"
#include "rig/scatter.hpp"
#include "seed.hpp"

namespace scatter_cases {

using rig::index, rig::int32, rig::dense;
using rows_of = dense<int32>;

struct sizes {
  index m, r, f;
};
inline const std::vector<sizes> all_sizes = {
    {0, 3, 4},    {5, 0, 4},    {4, 4, 0},     {1, 1, 1},    {40, 1, 3},
    {300, 70, 1}, {64, 300, 7}, {500, 33, 32}, {257, 2, 33}, {90, 1000, 100}};

/// A dense in a place, whose rows lie `gap` further apart than its columns need.
template <class T>
struct apart {
  dense<T> all;
  dense<T> view;
  apart(const dense<T>& from, index gap, rig::place where)
      : all(placed(padded_by(from, gap), where)),
        view(dense<T>::view(all.data(), from.rows(), from.columns(), all.columns(), where,
                            all.stream())) {}

  dense<T> content() const {
    const auto host = all.to(rig::cpu());
    dense<T> out(view.rows(), view.columns());
    for (index i = 0; i < out.rows(); ++i)
      for (index j = 0; j < out.columns(); ++j) out(i, j) = host(i, j);
    return out;
  }

 private:
  static dense<T> padded_by(const dense<T>& from, index gap) {
    dense<T> out(from.rows(), from.columns() + gap);
    for (index i = 0; i < from.rows(); ++i)
      for (index j = 0; j < from.columns(); ++j) out(i, j) = from(i, j);
    return out;
  }
};

inline rows_of drawn_rows(const sizes& s, random_bits& random) {
  rows_of rows(s.m, s.f);
  for (index i = 0; i < s.m; ++i)
    for (index j = 0; j < s.f; ++j) rows(i, j) = random.below(s.r + 3) - 1;  // −1, r and r + 1 too
  return rows;
}

template <class T>
dense<T> drawn(index rows, index columns, random_bits& random, bool are_quarters) {
  dense<T> x(rows, columns);
  for (index i = 0; i < rows; ++i)
    for (index j = 0; j < columns; ++j)
      x(i, j) = T(static_cast<float>(are_quarters
                                         ? (random.below(17) - 8) / 4.0
                                         : std::ldexp(random.unit() - 0.5, random.below(20) - 10)));
  return x;
}

/// Checks Y against Y₀ + the sums, which may be off by `off`, and `bound` of the sum of the sizes.
template <class T>
void check_sums(const dense<T>& y, const std::type_identity_t<dense<T>>* before, const dense<T>& x,
                const rows_of& rows, double bound, double off = 0) {
  std::vector<double> sums(static_cast<std::size_t>(y.rows()) * y.columns()), sizes = sums;
  const auto at = [&](index i, index j) { return static_cast<std::size_t>(i) * y.columns() + j; };
  for (index i = 0; i < y.rows(); ++i)
    for (index j = 0; j < y.columns(); ++j) {
      const double start = before != nullptr ? rig::convert<double>((*before)(i, j)) : 0;
      sums[at(i, j)] = start;
      sizes[at(i, j)] = std::abs(start);
    }
  for (index i = 0; i < x.rows(); ++i)
    for (index j = 0; j < x.columns(); ++j)
      if (const int32 r = rows(i, j); r >= 0 && r < y.rows()) {
        sums[at(r, j)] += rig::convert<double>(x(i, j));
        sizes[at(r, j)] += std::abs(rig::convert<double>(x(i, j)));
      }
  for (index i = 0; i < y.rows(); ++i)
    for (index j = 0; j < y.columns(); ++j)
      if (std::abs(rig::convert<double>(y(i, j)) - sums[at(i, j)]) > bound * sizes[at(i, j)] + off)
        FAIL_CHECK("Y(", i, ",", j, ") is ", rig::convert<double>(y(i, j)), ", the sum is ",
                   sums[at(i, j)], "; Y is ", y.rows(), "x", y.columns(), ", X has ", x.rows(),
                   " rows, seed ", test_seed());
}

/// Every shape and both accumulators, with rows apart and packed.
template <class T>
void check_type(rig::place where, double epsilon) {
  random_bits random(test_seed() + sizeof(T));
  int number = 0;
  for (const sizes& s : all_sizes)
    for (const bool are_quarters : {true, false})
      for (const rig::accumulator accum : {rig::none, rig::accumulator::plus}) {
        const index gap = number++ % 3;
        const auto rows = drawn_rows(s, random);
        const auto x = drawn<T>(s.m, s.f, random, are_quarters);
        const auto before = drawn<T>(s.r, s.f, random, are_quarters);
        const apart<int32> rows_there(rows, gap, where);
        const apart<T> x_there(x, gap, where);
        apart<T> y(before, gap, where);
        rig::scatter_add(y.view, accum, x_there.view, rows_there.view);
        // A unit of fixed point per element; sizes are below 1024.
        const double u = std::ldexp(2.0 * s.m, -62), unit = 1024 * (sizeof(T) == 8 ? u * u : u);
        const double off = where == rig::cpu() || are_quarters ? 0 : unit * s.m;
        const bool is_exact = are_quarters && sizeof(T) >= 4;
        const double bound = is_exact ? 0 : epsilon * (sizeof(T) >= 4 ? 2 + s.m : 2);
        check_sums(y.content(), accum == rig::none ? nullptr : &before, x, rows, bound, off);
        if (accum == rig::none) {
          const auto made = rig::scatter_add(x_there.view, rows_there.view, s.r);
          check_sums(made.to(rig::cpu()), nullptr, x, rows, bound, off);
        }
      }
}

inline void check_types(rig::place where) {
  check_type<float>(where, 0x1p-24);
  check_type<double>(where, 0x1p-53);
  check_type<rig::half>(where, 0x1p-11);
  check_type<rig::bfloat16>(where, 0x1p-8);
}

/// Infinities and numbers that are none, beside finite sums that stay.
template <class T>
void check_infinities(rig::place where) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const std::vector<std::pair<float, int32>> given = {
      {inf, 0}, {1, 0},   {-inf, 1}, {2, 1}, {inf, 2},  {-inf, 2}, {nan, 3},
      {inf, 3}, {nan, 4}, {1, 5},    {2, 5}, {nan, -1}, {inf, 6},  {inf, 6}};
  dense<T> x(static_cast<index>(given.size()), 1);
  rows_of rows(x.rows(), 1);
  for (index i = 0; i < x.rows(); ++i) {
    x(i, 0) = T(given[static_cast<std::size_t>(i)].first);
    rows(i, 0) = given[static_cast<std::size_t>(i)].second;
  }
  const auto y = rig::scatter_add(placed(x, where), placed(rows, where), 8).to(rig::cpu());
  const auto number = [&](index i) { return rig::convert<double>(y(i, 0)); };
  CHECK(number(0) == inf);
  CHECK(number(1) == -inf);
  CHECK(std::isnan(number(2)));
  CHECK(std::isnan(number(3)));
  CHECK(std::isnan(number(4)));
  CHECK(number(5) == 3);
  CHECK(number(6) == inf);
  CHECK(number(7) == 0);
}

/// Numbers at both ends of a type's range, beside the greatest that adds nowhere.
template <class T>
void check_ends(rig::place where) {
  using limits = std::numeric_limits<T>;
  for (const T x : {limits::denorm_min(), limits::min(), limits::max(), -limits::max() / 2}) {
    dense<T> all(4, 1);
    all(0, 0) = all(1, 0) = x;
    all(2, 0) = x / 2;
    all(3, 0) = limits::max();
    rows_of rows(4, 1);
    rows(0, 0) = 0, rows(1, 0) = rows(2, 0) = 1, rows(3, 0) = -1;
    const auto y = rig::scatter_add(placed(all, where), placed(rows, where), 2).to(rig::cpu());
    CHECK(y(0, 0) == x);
    CHECK(y(1, 0) == x + x / 2);
  }
}

/// The same bits in each run, whatever adds first.
template <class T>
void check_bits(rig::place where) {
  random_bits random(test_seed());
  const sizes s{20000, 50, 40};
  const auto rows = placed(drawn_rows(s, random), where);
  const auto x = placed(drawn<T>(s.m, s.f, random, false), where);
  const auto first = rig::scatter_add(x, rows, s.r).to(rig::cpu());
  for (int run = 0; run < 5; ++run) {
    const auto next = rig::scatter_add(x, rows, s.r).to(rig::cpu());
    CHECK(std::memcmp(first.data(), next.data(), sizeof(T) * s.r * s.f) == 0);
  }
}

inline void check_errors(rig::place where) {
  using rig::errc;
  const auto on = [&](index rows, index columns) {
    return placed(dense<float>(rows, columns), where);
  };
  const auto rows_on = [&](index rows, index columns) {
    return placed(rows_of(rows, columns), where);
  };
  auto y = placed(
      [] {
        dense<float> full(2, 3);
        for (index j = 0; j < 3; ++j) full(0, j) = full(1, j) = 7;
        return full;
      }(),
      where);
  check_error(errc::shape, {"4x3", "4x2", "a row for each"},
              [&] { rig::scatter_add(y, rig::none, on(4, 3), rows_on(4, 2)); });
  check_error(errc::shape, {"Y has 3 columns", "X has 2"},
              [&] { rig::scatter_add(y, rig::none, on(4, 2), rows_on(4, 2)); });
  check_error(errc::cannot, {"plus"},
              [&] { rig::scatter_add(y, rig::accumulator::maximum, on(4, 3), rows_on(4, 3)); });
  check_error(errc::cannot, {"Y shares memory with X"},
              [&] { rig::scatter_add(y, rig::none, y, rows_on(2, 3)); });
  const auto in_y = rows_of::view(reinterpret_cast<int32*>(y.data()), 2, 3, 3, where);
  check_error(errc::cannot, {"Y shares memory with rows"},
              [&] { rig::scatter_add(y, rig::none, on(2, 3), in_y); });
  check_error(errc::range, {"threads"},
              [&] { rig::scatter_add(y, rig::none, on(4, 3), rows_on(4, 3), {.threads = -1}); });
  check_error(errc::range, {"count is -1"}, [&] { rig::scatter_add(on(4, 3), rows_on(4, 3), -1); });
  check_error(errc::range, {"5000000000"},
              [&] { rig::scatter_add(on(4, 3), rows_on(4, 3), 5'000'000'000L); });
  const auto kept = y.to(rig::cpu());
  for (index i = 0; i < 2; ++i)
    for (index j = 0; j < 3; ++j) CHECK(kept(i, j) == 7);
}

inline void check_all(rig::place where) {
  SUBCASE("every type, shape and accumulator") { check_types(where); }
  SUBCASE("infinities") {
    check_infinities<float>(where);
    check_infinities<double>(where);
    check_infinities<rig::half>(where);
    check_infinities<rig::bfloat16>(where);
  }
  SUBCASE("the ends of the range") {
    check_ends<float>(where);
    check_ends<double>(where);
  }
  SUBCASE("the same bits in each run") {
    check_bits<float>(where);
    check_bits<double>(where);
    check_bits<rig::half>(where);
  }
  SUBCASE("errors") { check_errors(where); }
}

}  // namespace scatter_cases
