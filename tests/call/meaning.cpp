// The meaning of a call: the design's reference table with dense results, NaN and infinities,
// aliasing, descriptors.

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace {

using rig::accumulator;
using rig::complement;
using rig::dense;
using rig::matrix;
using rig::structure;
using rig::values;

constexpr float inf = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

template <class T>
dense<T> of(rig::index rows, rig::index columns, const std::vector<T>& elements) {
  return dense<T>::from(rows, columns, elements);
}
template <class T>
std::vector<T> elements(const dense<T>& d) {
  std::vector<T> out;
  for (rig::index i = 0; i < d.rows(); ++i) out.insert(out.end(), d.row(i).begin(), d.row(i).end());
  return out;
}
template <class T = float>
matrix<T> tuples(rig::index rows, rig::index columns, const std::vector<rig::index>& i,
                 const std::vector<rig::index>& j, const std::vector<T>& v) {
  return matrix<T>::from_tuples(rows, columns, i, j, v);
}
using floats = std::vector<float>;

/// The reference example: C = [1 2; 3 4; 5 6], T = [10 20; . .; 30 40] and M = [1 0; 1 .; . 0],
/// whose zeros are stored. A row of T has all elements or none, because B is dense.
struct reference {
  matrix<float> a = tuples(3, 2, {0, 2}, {0, 1}, floats{1, 1});
  dense<float> b = of<float>(2, 2, {10, 20, 30, 40});
  dense<float> c = of<float>(3, 2, {1, 2, 3, 4, 5, 6});
  matrix<float> m = tuples(3, 2, {0, 0, 1, 2}, {0, 1, 0, 1}, floats{1, 0, 1, 0});
  static constexpr float f = -7;

  template <class Mask>
  floats operator()(const Mask& mask, accumulator accum = rig::none, bool replace = false) {
    rig::descriptor desc;
    desc.replace = replace;
    desc.fill = f;
    dense<float> result = c;
    rig::mxm(result, accum, a, b, rig::plus_times<float>{}, mask, desc);
    return elements(result);
  }
};

TEST_CASE("the reference table, dense") {
  reference r;
  const float f = reference::f;
  const auto plus = accumulator::plus;
  CHECK(r(values(r.m)) == floats{10, 2, f, 4, 5, 6});
  CHECK(r(values(r.m), plus) == floats{11, 2, 3, 4, 5, 6});
  CHECK(r(values(r.m), rig::none, true) == floats{10, f, f, f, f, f});
  CHECK(r(values(r.m), plus, true) == floats{11, f, 3, f, f, f});
  CHECK(r(structure(r.m)) == floats{10, 20, f, 4, 5, 40});
  CHECK(r(structure(r.m), plus) == floats{11, 22, 3, 4, 5, 46});
  CHECK(r(complement(values(r.m))) == floats{1, 20, 3, f, 30, 40});
  CHECK(r(complement(structure(r.m)), rig::none, true) == floats{f, f, f, f, 30, f});
  CHECK(r(complement(structure(r.m)), plus, true) == floats{f, f, f, 4, 35, f});
  CHECK(r(complement(complement(values(r.m)))) == floats{10, 2, f, 4, 5, 6});
}

TEST_CASE("the reference table without a mask") {
  reference r;
  rig::descriptor desc;
  desc.fill = reference::f;
  dense<float> c = r.c;
  rig::mxm(c, accumulator::plus, r.a, r.b, rig::plus_times<float>{}, desc);
  CHECK(elements(c) == floats{11, 22, 3, 4, 35, 46});
  c = r.c;
  rig::mxm(c, rig::none, r.a, r.b, rig::plus_times<float>{}, desc);
  CHECK(elements(c) == floats{10, 20, reference::f, reference::f, 30, 40});
  CHECK(elements(rig::mxm(r.a, r.b, rig::plus_times<float>{}, desc)) == elements(c));
  // Without a mask, replace has no effect.
  desc.replace = true;
  c = r.c;
  rig::mxm(c, accumulator::plus, r.a, r.b, rig::plus_times<float>{}, desc);
  CHECK(elements(c) == floats{11, 22, 3, 4, 35, 46});
}

TEST_CASE("a mask over a dense means the same as over a matrix") {
  reference r;
  const float f = reference::f;
  const auto m = of<int>(3, 2, {1, 0, 1, 0, 0, 0});
  CHECK(r(values(m)) == floats{10, 2, f, 4, 5, 6});
  CHECK(r(complement(values(m)), rig::none, true) == floats{f, 20, f, f, 30, 40});
  CHECK(r(structure(m)) == floats{10, 20, f, f, 30, 40});
  CHECK(r(complement(structure(m))) == floats{1, 2, 3, 4, 5, 6});
  CHECK(r(complement(structure(m)), rig::none, true) == floats{f, f, f, f, f, f});
  // NaN is not 0, and a nonzero iso value is not 0.
  CHECK(r(values(of<float>(3, 2, {nan, 0, -0.0f, 0, 0, 0}))) == floats{10, 2, 3, 4, 5, 6});
  CHECK(r(values(r.m.with_value(2))) == floats{10, 20, f, 4, 5, 40});
  CHECK(r(values(r.m.with_value(0.0))) == floats{1, 2, 3, 4, 5, 6});
}

TEST_CASE("a new result under a mask is fill outside it") {
  reference r;
  const auto masked = rig::mxm(r.a, r.b, rig::plus_times<float>{}, values(r.m));
  CHECK(elements(masked) == floats{10, 0, 0, 0, 0, 0});
  const auto greatest = rig::mxm(r.a, r.b, rig::max_second<float>{}, structure(r.m));
  CHECK(elements(greatest) == floats{10, 20, -inf, -inf, -inf, 40});
  const auto filled = rig::mxm(r.a, r.b, rig::max_second<float>{}, structure(r.m), {.fill = 0});
  CHECK(elements(filled) == floats{10, 20, 0, 0, 0, 40});
}

TEST_CASE("fill is the finished zero of the semiring unless given") {
  const matrix<float> none(1, 1);
  const dense<float> b(1, 1, 3.0f);
  CHECK(rig::mxm(none, b, rig::plus_times<float>{})(0, 0) == 0);
  CHECK(rig::mxm(none, b, rig::max_plus<float>{})(0, 0) == -inf);
  CHECK(rig::mxm(none, b, rig::min_plus<float>{})(0, 0) == inf);
  CHECK(rig::mxm(none, b, rig::mean_times<float>{})(0, 0) == 0);
  CHECK(rig::mxm(none, b, rig::min_plus<float>{}, {.fill = 9})(0, 0) == 9);
  CHECK(rig::mxm<int>(none, b, rig::min_plus<float>{})(0, 0) == std::numeric_limits<int>::max());
  // An int64 fill keeps all its digits.
  const long large = (1l << 62) + 1;
  CHECK(rig::mxm<long>(none, b, rig::plus_times<float>{}, {.fill = large})(0, 0) == large);
  const auto best = rig::mxm(none, b, rig::arg_max_second<float>{}, {.fill = 4});
  CHECK(best.values(0, 0) == 4);
  CHECK(best.indices(0, 0) == -1);
}

TEST_CASE("explicit zeros are entries, and sums that cancel are results") {
  const auto a = tuples(2, 2, {0, 0, 1}, {0, 1, 0}, floats{1, -1, 0});
  const dense<float> b(2, 1, 1.0f);
  CHECK(elements(rig::mxm(a, b, rig::plus_times<float>{}, {.fill = 5})) == floats{0, 0});
}

TEST_CASE("NaN wins and infinities follow IEEE") {
  const auto row = tuples(1, 3, {0, 0, 0}, {0, 1, 2}, floats{1, 1, 1});
  const auto product = [&](const floats& b, auto s) {
    return rig::mxm(row, of<float>(3, 1, b), s)(0, 0);
  };
  for (const floats& b :
       {floats{nan, 1, 2}, floats{1, nan, 2}, floats{1, 2, nan}, floats{inf, nan, -inf}}) {
    CHECK(std::isnan(product(b, rig::max_second<float>{})));
    CHECK(std::isnan(product(b, rig::min_second<float>{})));
    CHECK(std::isnan(product(b, rig::plus_second<float>{})));
    CHECK(std::isnan(product(b, rig::max_min<float>{})));
    CHECK(std::isnan(product(b, rig::min_plus<float>{})));
  }
  CHECK(product({inf, 1, 2}, rig::plus_second<float>{}) == inf);
  CHECK(std::isnan(product({inf, 1, -inf}, rig::plus_second<float>{})));
  CHECK(product({inf, 1, -inf}, rig::max_second<float>{}) == inf);
  CHECK(product({inf, 1, -inf}, rig::min_second<float>{}) == -inf);
  CHECK(product({-inf, -inf, -inf}, rig::max_second<float>{}) == -inf);
  // 0 · inf is a product like any other.
  CHECK(std::isnan(rig::mxm(row.with_value(0.0f), of<float>(3, 1, {inf, 0, 0}),
                            rig::plus_times<float>{})(0, 0)));
  // An accumulated NaN stays.
  for (const accumulator how :
       {accumulator::plus, accumulator::maximum, accumulator::minimum, accumulator::times}) {
    dense<float> c(1, 1, nan);
    rig::mxm(c, how, row, dense<float>(3, 1, 1.0f), rig::plus_times<float>{});
    CHECK(std::isnan(c(0, 0)));
  }
}

TEST_CASE("arg-max: of equal values the lowest index, NaN beats numbers") {
  const auto row = tuples(1, 4, {0, 0, 0}, {0, 2, 3}, floats{1, 1, 1});
  const auto best = [&](const floats& b) {
    return rig::mxm(row, of<float>(4, 1, b), rig::arg_max_second<float>{});
  };
  CHECK(best({5, 9, 5, 1}).indices(0, 0) == 0);
  CHECK(best({1, 9, 5, 5}).indices(0, 0) == 2);
  CHECK(best({-inf, 9, -inf, -inf}).indices(0, 0) == 0);
  CHECK(best({1, nan, nan, nan}).indices(0, 0) == 2);
  const auto least = rig::mxm(row, of<float>(4, 1, {4, 0, 2, 2}), rig::arg_min_second<float>{});
  CHECK(least.values(0, 0) == 2);
  CHECK(least.indices(0, 0) == 2);

  // The semiring's own add merges a result of other columns; index −1 means no entry yet.
  rig::indexed_dense<float> c{of<float>(1, 1, {7}), of<int>(1, 1, {-1})};
  rig::mxm(c, accumulator::own, row, of<float>(4, 1, {7, 0, 0, 0}), rig::arg_max_second<float>{});
  CHECK(c.indices(0, 0) == 0);
  c.values(0, 0) = 8;
  c.indices(0, 0) = 3;
  rig::mxm(c, accumulator::own, row, of<float>(4, 1, {7, 0, 0, 0}), rig::arg_max_second<float>{});
  CHECK(c.values(0, 0) == 8);
  CHECK(c.indices(0, 0) == 3);
}

TEST_CASE("transposes") {
  const auto a = tuples(2, 3, {0, 0, 1}, {0, 2, 1}, floats{1, 2, 3});
  const auto b = of<float>(2, 2, {1, 2, 3, 4});
  CHECK(elements(rig::mxm(a, b, rig::plus_times<float>{}, {.transpose_a = true})) ==
        floats{1, 2, 9, 12, 2, 4});
  CHECK(elements(
            rig::mxm(a, b, rig::plus_times<float>{}, {.transpose_a = true, .transpose_b = true})) ==
        floats{1, 3, 6, 12, 2, 6});
  // mean divides by the entries per row of op(A).
  CHECK(elements(rig::mxm(a, b, rig::mean_second<float>{}, {.transpose_a = true})) ==
        floats{1, 2, 3, 4, 1, 2});
}

TEST_CASE("the result's type") {
  const auto a = tuples(1, 2, {0, 0}, {0, 1}, std::vector<int>{1, 1});
  const dense<double> b(2, 1, 0.75);
  static_assert(std::is_same_v<decltype(rig::mxm(a, b, rig::plus_times<float>{})), dense<float>>);
  static_assert(std::is_same_v<decltype(rig::mxm<rig::half>(a, b, rig::plus_times<float>{})),
                               dense<rig::half>>);
  static_assert(std::is_same_v<decltype(rig::mxm(a, b, rig::arg_max_second<float>{})),
                               rig::indexed_dense<float>>);
  CHECK(static_cast<float>(rig::mxm<rig::half>(a, b, rig::plus_times<float>{})(0, 0)) == 1.5f);
  CHECK(rig::mxm<int>(a, b, rig::plus_times<float>{})(0, 0) == 1);
  CHECK(rig::mxm<bool>(a, b, rig::plus_times<float>{})(0, 0));
  // B's values convert on load: 0.75 as an int is 0.
  CHECK(rig::mxm(a, b, rig::plus_times<int>{})(0, 0) == 0);
}

}  // namespace
