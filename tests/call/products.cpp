// Products with sparse results: kernels and numbers of threads give the same bits, refusals name
// the reason, and semirings of the caller serve. tests/call/graphblas_products.cpp has the meaning.

#include <doctest/doctest.h>

#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "rig/generate.hpp"
#include "rig/rig.hpp"

RIG_SEMIRING(
    sum_of_places, using left = float; using right = float; using accum = rig::int64;
    static constexpr rig::int64 zero() { return 0; } static constexpr rig::int64 add(rig::int64 x,
                                                                                     rig::int64 y) {
      return x + y;
    } static constexpr rig::int64 multiply(float, float, rig::position at) {
      return 1000 * at.row + at.inner;
    });

namespace {

using rig::index;
using rig::matrix;
using rig::vector;

template <class T>
bool are_same(const matrix<T>& x, const matrix<T>& y) {
  if (x.rows() != y.rows() || x.columns() != y.columns() || x.nnz() != y.nnz()) return false;
  for (index i = 0; i <= x.rows(); ++i)
    if (x.structure().offset(i) != y.structure().offset(i)) return false;
  for (long p = 0; p < x.nnz(); ++p)
    if (x.structure().column_indices()[p] != y.structure().column_indices()[p] ||
        x.value(p) != y.value(p))
      return false;
  return true;
}
template <class T>
bool are_same(const vector<T>& x, const vector<T>& y) {
  return are_same(x.as_row(), y.as_row());
}

template <class Work>
std::string message_of(Work work) {
  try {
    work();
  } catch (const rig::error& e) {
    return e.what();
  }
  return "nothing was thrown";
}
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("kernels and numbers of threads give the same bits") {
  const rig::plus_times<float> s;
  for (const char* graph : {"rmat:11:16", "uniform:3000:5", "grid:40:70"}) {
    CAPTURE(std::string(graph));
    const auto a = rig::generate::random_values(rig::generate::from_text(graph), 3);
    const auto whole = rig::mxm(a, a, s, {.threads = 1}),
               part = rig::mxm(a, a, s, rig::structure(a), {.threads = 1});
    const auto u = vector<float>(rig::extract(a, std::vector{1}, rig::all));
    const auto pushed = rig::vxm(u, a, s, {.kernel = "push", .threads = 1});
    for (const int threads : {1, 2, 5}) {
      CHECK(are_same(whole, rig::mxm(a, a, s, {.threads = threads})));
      for (const char* kernel : {"gustavson", "dot"})
        CHECK(are_same(
            part, rig::mxm(a, a, s, rig::structure(a), {.kernel = kernel, .threads = threads})));
      for (const char* kernel : {"push", "pull"})
        CHECK(are_same(pushed, rig::vxm(u, a, s, {.kernel = kernel, .threads = threads})));
    }
  }
}

TEST_CASE("pull under a mask reads the columns that it allows, and is chosen by them") {
  const rig::plus_times<float> s;
  const auto a = rig::generate::random_values(rig::generate::uniform(3000, 8), 3);
  a.prepare({.transpose_a = true});
  std::vector<index> odd, few{5, 6, 2999};
  for (index i = 1; i < a.rows(); i += 2) odd.push_back(i);
  const auto u = vector<float>::from_indices(a.rows(), odd, 2.0f);
  // Some values of the masks are 0.
  const auto made = [&](const std::vector<index>& at) {
    std::vector<float> of(at.size(), 1.0f);
    for (std::size_t k = 0; k < of.size(); k += 3) of[k] = 0;
    return vector<float>::from_tuples(a.columns(), at, of);
  };
  for (const auto& mask : {made(few), made(odd)})
    for (const auto& by :
         {rig::structure(mask), rig::values(mask), rig::complement(rig::structure(mask))})
      for (const int threads : {1, 2})
        CHECK(are_same(rig::vxm(u, a, s, by, {.kernel = "push", .threads = threads}),
                       rig::vxm(u, a, s, by, {.kernel = "pull", .threads = threads})));
  rig::dense<int> third(a.columns(), 1, 0);
  for (index j = 0; j < a.columns(); j += 3) third(j, 0) = j + 1;
  for (const auto& by : {rig::values(third), rig::complement(rig::values(third))})
    for (const int threads : {1, 2})
      CHECK(are_same(rig::vxm(u, a, s, by, {.kernel = "push", .threads = threads}),
                     rig::vxm(u, a, s, by, {.kernel = "pull", .threads = threads})));
  CHECK(rig::explain(u, a, s).chosen == "push");
  CHECK(rig::explain(u, a, s, rig::structure(made(odd))).chosen == "push");
  CHECK(rig::explain(u, a, s, rig::structure(made(few))).chosen == "pull");
}

TEST_CASE("positions: the row of C, and the inner index") {
  const auto a =
      matrix<float>::from_positions(3, 4, std::vector{0, 1, 2, 2}, std::vector{1, 3, 1, 2});
  const auto b = matrix<float>::from_positions(4, 2, std::vector{1, 2, 3}, std::vector{0, 0, 1});
  const auto c = rig::mxm(a, b, sum_of_places());
  CHECK(rig::at(c, 0, 0) == 1);
  CHECK(rig::at(c, 1, 1) == 1003);
  CHECK(rig::at(c, 2, 0) == 2001 + 2002);
  const auto u = vector<float>::from_indices(4, std::vector{1, 2});
  for (const char* kernel : {"push", "pull"}) {
    const auto w = rig::mxv(a, u, sum_of_places(), {.kernel = kernel});
    CHECK(rig::at(w.as_row(), 0, 0) == 1);
    CHECK(rig::at(w.as_row(), 0, 2) == 2001 + 2002);
    const auto v = rig::vxm(u, b, sum_of_places(), {.kernel = kernel});
    CHECK(rig::at(v.as_row(), 0, 0) == 1 + 2);
  }
}

TEST_CASE("finish takes the entries of the row of A") {
  const auto a =
      matrix<float>::from_positions(1, 3, std::vector{0, 0, 0}, std::vector{0, 1, 2}, 6.0f);
  const auto b = matrix<float>::from_positions(3, 1, std::vector{0}, std::vector{0}, 1.0f);
  CHECK(rig::at(rig::mxm(a, b, rig::mean_times<float>()), 0, 0) == 2);
}

TEST_CASE("finish of mxv takes the entries of the row of A") {
  const auto a =
      matrix<float>::from_positions(1, 4, std::vector{0, 0, 0}, std::vector{0, 1, 2}, 6.0f);
  const auto u = vector<float>::from_indices(4, std::vector{0});
  CHECK(rig::mxv(a, u, rig::mean_times<float>()).value(0) == 2);
  CHECK(contains(message_of([&] { rig::mxv(a, u, rig::mean_times<float>(), {.kernel = "push"}); }),
                 "finish"));
}

TEST_CASE("a product of dense operands shares the pattern of its structural mask") {
  const auto mask = rig::generate::from_text("karate").with_value(2.0f);
  rig::dense<float> x(34, 5, 1.5f), y(5, 34, 2.0f);
  for (const int threads : {1, 3}) {
    const auto c =
        rig::mxm(x, y, rig::plus_times<float>(), rig::structure(mask), {.threads = threads});
    CHECK(c.shared_structure() == mask.shared_structure());
    CHECK(rig::reduce(c, rig::binary::minimum) == 15);
    CHECK(rig::reduce(c, rig::binary::maximum) == 15);
    const auto any = rig::mxm(x, y, rig::any_pair<bool>(), rig::structure(mask));
    CHECK(rig::reduce(any, rig::binary::logical_and));
  }
  // Without inner places there are no products.
  const rig::dense<float> thin(34, 0), flat(0, 34);
  CHECK(rig::mxm(thin, flat, rig::plus_times<float>(), rig::structure(mask)).nnz() == 0);
}

TEST_CASE("the semiring's own add accumulates") {
  const auto a = matrix<float>::from_positions(2, 2, std::vector{0, 1}, std::vector{0, 1}, 3.0f);
  auto c = a;
  rig::mxm(c, rig::accumulator::own, a, a, rig::plus_times<float>());
  CHECK(rig::at(c, 0, 0) == 12);
  auto w = vector<float>::from_indices(2, std::vector{0}, 1.0f);
  rig::vxm(w, rig::accumulator::own, w, a, rig::min_plus<float>());
  CHECK(rig::at(w.as_row(), 0, 0) == 1);
}

TEST_CASE("a result may be an operand and a mask") {
  const auto a = rig::generate::from_text("rmat:8:8").with_value(2.0f);
  auto c = a;
  rig::mxm(c, rig::accumulator::plus, c, c, rig::plus_times<float>(), rig::structure(c));
  auto expected = a;
  rig::mxm(expected, rig::accumulator::plus, a, a, rig::plus_times<float>(), rig::structure(a));
  CHECK(are_same(c, expected));
}

TEST_CASE("refusals") {
  const matrix<float> a(3, 4), b(5, 3);
  const rig::plus_times<float> s;
  CHECK(contains(message_of([&] { rig::mxm(a, b, s); }),
                 "mxm: the first operand is 3x4, the second 5x3"));
  CHECK(message_of([&] { rig::mxm(a, b, s, {.transpose_b = true}); }).find("5x3, transposed") !=
        std::string::npos);
  CHECK(contains(message_of([&] { rig::mxm(b, a, s, {.kernel = "dot"}); }), "needs a mask"));
  CHECK(contains(message_of([&] { rig::mxm(b, a, s, {.kernel = "row"}); }), "two sparse matrices"));
  CHECK(contains(message_of([&] { rig::mxm(b, a, s, {.kernel = "no such"}); }), "gustavson"));
  CHECK(contains(message_of([&] { rig::mxm(b, a, s, {.fill = 1}); }), "fill"));
  const matrix<float> mask(5, 5);
  CHECK(contains(message_of([&] { rig::mxm(b, a, s, rig::structure(mask)); }), "the mask is 5x5"));
  const vector<float> u(4);
  CHECK(contains(message_of([&] { rig::vxm(u, a, s, {.transpose_a = true}); }), "transpose_a"));
  CHECK(contains(message_of([&] { rig::mxv(a, u, s, {.transpose_b = true}); }), "transpose_b"));
  CHECK(contains(message_of([&] { rig::vxm(u, a, s); }), "vxm"));
  CHECK(contains(message_of([&] { rig::mxv(b, u, s); }), "mxv: A is 5x3, u has 4 places"));
  const rig::dense<float> x(3, 2), y(4, 3);
  const matrix<float> m(3, 4);
  CHECK(contains(message_of([&] { rig::mxm(x, y, s, rig::structure(m), {.transpose_b = true}); }),
                 "the second 4x3, transposed"));
}

TEST_CASE("dot builds columns where the products by rows would pay for them several times") {
  constexpr index n = 100000;
  const std::vector<index> nought(n, 0);
  std::vector<index> all(n);
  std::iota(all.begin(), all.end(), 0);
  const auto column = matrix<float>::from_positions(n, 1, all, nought, 2.0f),
             row = matrix<float>::from_positions(1, n, nought, all, 3.0f),
             diagonal = matrix<float>::from_positions(n, n, all, all);
  const rig::plus_times<float> s;
  REQUIRE(rig::explain(column, row, s, rig::structure(diagonal)).chosen == "dot");
  const auto c = rig::mxm(column, row, s, rig::structure(diagonal));
  CHECK(c.nnz() == n);
  CHECK(c.value(n - 1) == 6);
  // Few products, or many entries of columns, pay for no transpose.
  CHECK(rig::explain(diagonal, diagonal, s, rig::structure(diagonal)).chosen == "gustavson");
  const auto a = rig::generate::rmat(10, 8);
  CHECK(rig::explain(a, a, s, rig::structure(a)).chosen == "gustavson");
  // The mean column is short, but the mask reads the long one.
  constexpr index few = 1000;
  const std::span<const index> some = std::span(all).first(few);
  const auto full = rig::generate::cliques(few, few);
  const auto star = matrix<float>::from_positions(few, few, some, std::span(nought).first(few));
  CHECK(rig::explain(full, star, s, rig::structure(star)).chosen == "gustavson");
}

TEST_CASE("explain") {
  const auto a = rig::generate::from_text("rmat:10:8").with_value(1.0f);
  const auto why = rig::explain(a, a, rig::plus_pair<int>());
  CHECK(why.chosen == "gustavson");
  CHECK(contains(why.text(), "needs a mask that is a matrix"));
  CHECK(rig::explain(a, a, rig::plus_pair<int>(), rig::structure(a), {.kernel = "dot"}).chosen ==
        "dot");
  CHECK(rig::explain(a, vector<float>(a.columns()), rig::plus_pair<int>()).chosen == "pull");
  const rig::dense<float> x(a.rows(), 3);
  CHECK(rig::explain(x, x, rig::plus_times<float>(), rig::structure(a), {.transpose_b = true})
            .chosen == "dot");
  // A pull waits until the transpose is there.
  std::vector<index> all(static_cast<std::size_t>(a.rows()));
  for (index i = 0; i < a.rows(); ++i) all[static_cast<std::size_t>(i)] = i;
  const auto full = vector<bool>::from_indices(a.rows(), all);
  a.drop_derived();
  CHECK(rig::explain(full, a, rig::any_pair<bool>()).chosen == "push");
  a.prepare({.transpose_a = true});
  CHECK(rig::explain(full, a, rig::any_pair<bool>()).chosen == "pull");
}

}  // namespace
