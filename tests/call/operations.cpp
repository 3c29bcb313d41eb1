// Operations other than products: what the comparison with GraphBLAS does not reach. Threads,
// sparse vectors, dense matrices, iso matrices, operators of the caller, shared memory and errors.

#include <doctest/doctest.h>

#include <vector>

#include "provoked.hpp"
#include "rig/generate.hpp"
#include "rig/rig.hpp"

namespace {

template <class T>
bool are_equal(const rig::matrix<T>& x, const rig::matrix<T>& y) {
  if (x.rows() != y.rows() || x.columns() != y.columns() || x.nnz() != y.nnz()) return false;
  const auto s = rig::to_tuples(x), t = rig::to_tuples(y);
  for (rig::index p = 0; p < s.rows.rows(); ++p)
    if (s.rows(p, 0) != t.rows(p, 0) || s.columns(p, 0) != t.columns(p, 0) ||
        s.values(p, 0) != t.values(p, 0))
      return false;
  return true;
}

rig::matrix<float> weighted(const char* graph) {
  return rig::generate::random_values(rig::generate::from_text(graph), 7);
}

template <class Work>
void same_on_threads(Work work) {
  const auto one = work(rig::descriptor{.threads = 1});
  for (const int threads : {2, 3, 8})
    CHECK(are_equal(one, work(rig::descriptor{.threads = threads})));
}

TEST_CASE("the number of threads changes nothing") {
  const auto a = weighted("rmat:13:16"), b = weighted("uniform:8192:20");
  const auto mask = weighted("rmat:13:4");
  same_on_threads([&](auto d) { return rig::ewise_add(a, b, rig::binary::plus, d); });
  same_on_threads([&](auto d) {
    return rig::ewise_mult(a, b, rig::binary::times, rig::complement(rig::structure(mask)), d);
  });
  same_on_threads([&](auto d) {
    auto c = a;
    d.transpose_a = true;
    rig::apply(c, rig::accumulator::plus, b, rig::unary::square, rig::values(mask), d);
    return c;
  });
  same_on_threads([&](auto d) { return rig::select(a, rig::selection::greater, 0.25f, d); });
  same_on_threads([&](auto d) { return rig::reduce_rows(a, rig::binary::plus, d).as_row(); });
  std::vector<rig::index> order(8192);
  for (rig::index k = 0; k < 8192; ++k) order[static_cast<std::size_t>(k)] = (k * 4099 + 5) % 8192;
  same_on_threads([&](auto d) { return rig::extract(a, order, order, d); });
  const float sum = rig::reduce(a, rig::binary::plus, {.threads = 1});
  CHECK(rig::reduce(a, rig::binary::plus, {.threads = 5}) == sum);
}

TEST_CASE("selections by place from a pattern without values, cut between threads") {
  for (const char* text : {"rmat:13:16", "uniform:200000:1", "grid:200:300"}) {
    const auto a = rig::generate::from_text(text).with_value(true);
    const auto all = rig::to_tuples(a);
    for (const long y : {-100000000L, -1L, 0L, 7L})
      for (const int threads : {1, 3}) {
        CAPTURE(text);
        CAPTURE(y);
        std::vector<rig::index> rows, columns;
        for (rig::index p = 0; p < all.rows.rows(); ++p)
          if (all.columns(p, 0) - all.rows(p, 0) <= y) {
            rows.push_back(all.rows(p, 0));
            columns.push_back(all.columns(p, 0));
          }
        const auto expected = rig::matrix<bool>::from_positions(a.rows(), a.rows(), rows, columns);
        CHECK(are_equal(rig::select(a, rig::selection::lower, y, {.threads = threads}), expected));
      }
  }
}

TEST_CASE("own joins in the operator's type, and leaves C's other entries as they are") {
  const std::vector<rig::index> i{0, 1}, j{0, 1};
  const std::vector<double> before{2.5, 1e10 + 0.5};
  const auto a = rig::matrix<int>::from_positions(2, 2, std::vector{0}, std::vector{0}, 1);
  const auto start = rig::matrix<double>::from_tuples(2, 2, i, j, before);
  const rig::plus_times<int> algebra;
  const auto check = [&](const rig::matrix<double>& c, double first) {
    REQUIRE(c.nnz() == 2);
    CHECK(c.value(0) == first);
    CHECK(c.value(1) == before[1]);
  };
  auto c = start;
  rig::mxm(c, rig::accumulator::own, a, a, algebra);
  check(c, 3);
  rig::ewise_add(c, rig::accumulator::own, a, a, rig::binary::plus);
  check(c, 5);
  rig::mxm(c, rig::accumulator::own, a, a, algebra, rig::complement(rig::structure(a)));
  check(c, 5);
  rig::mxm(c, rig::accumulator::own, a, a, algebra, rig::structure(a), {.replace = true});
  CHECK(c.nnz() == 1);
  CHECK(c.value(0) == 6);
  // An entry that C lacks comes as it is.
  c = rig::matrix<double>::from_tuples(2, 2, std::vector{1}, std::vector{1}, std::vector{0.5});
  rig::mxm(c, rig::accumulator::own, a, a, algebra);
  REQUIRE(c.nnz() == 2);
  CHECK(c.value(0) == 1);
  CHECK(c.value(1) == 0.5);
  auto w = rig::vector<double>::from_tuples(2, i, std::vector{2.5, 7.75});
  rig::vxm(w, rig::accumulator::own, rig::vector<int>::from_indices(2, std::vector{0}), a, algebra);
  CHECK(w.value(0) == 3);
  CHECK(w.value(1) == 7.75);
  // A value mask, an iso C, and C in half.
  c = start;
  const auto flags = rig::matrix<int>::from_tuples(2, 2, i, j, std::vector<int>{0, 1});
  rig::mxm(c, rig::accumulator::own, a, a, algebra, rig::values(flags));
  check(c, 2.5);
  c = rig::matrix<double>::from_positions(2, 2, i, j, 0.5);
  rig::ewise_add(c, rig::accumulator::own, a, a, rig::binary::plus);
  CHECK(c.value(0) == 2);
  CHECK(c.value(1) == 0.5);
  auto h = rig::matrix<rig::half>::from_tuples(2, 2, i, j,
                                               std::vector{rig::half(1.5f), rig::half(2.5f)});
  rig::mxm(h, rig::accumulator::own, a, a, rig::plus_times<float>());
  CHECK(static_cast<float>(h.value(0)) == 2.5f);
  rig::mxm(h, rig::accumulator::own, a, a, algebra);
  CHECK(static_cast<float>(h.value(0)) == 3);
  CHECK(static_cast<float>(h.value(1)) == 2.5f);
  constexpr long odd = (1L << 53) + 1;
  auto l =
      rig::matrix<rig::int64>::from_tuples(1, 1, std::vector{0}, std::vector{0}, std::vector{odd});
  const rig::matrix<double> none_there(1, 1);
  rig::mxm(l, rig::accumulator::own, none_there, none_there, rig::plus_times<double>());
  CHECK(l.value(0) == odd);
}

TEST_CASE("one long row, as of a vector, is cut between threads") {
  constexpr rig::index n = 300000;
  std::vector<rig::index> even, third;
  for (rig::index k = 0; k < n; ++k) {
    if (k % 2 == 0) even.push_back(k);
    if (k % 3 == 0) third.push_back(k);
  }
  const auto v = rig::vector<int>::from_indices(n, even, 2),
             w = rig::vector<int>::from_indices(n, third, 3);
  const auto both = rig::ewise_mult(v, w, rig::binary::plus, {.threads = 4});
  const auto any = rig::ewise_add(v, w, rig::binary::plus, {.threads = 4});
  CHECK(both.nnz() == (n + 5) / 6);
  CHECK(any.nnz() == v.nnz() + w.nnz() - both.nnz());
  for (const rig::index k : {0, 2, 3, 4, 6, 299998, 299997})
    CHECK(rig::at(any, k).value() == (k % 2 == 0 ? 2 : 0) + (k % 3 == 0 ? 3 : 0));
  CHECK(rig::reduce(any, rig::binary::plus) == 2 * v.nnz() + 3 * w.nnz());
  const auto five = rig::select(any, rig::selection::equal, 5, {.threads = 4});
  CHECK(five.nnz() == both.nnz());
  for (rig::int64 p = 0; p < five.nnz(); p += 1000) {
    CHECK(five.indices()[p] == 6 * p);
    CHECK(five.value(p) == 5);
  }
}

TEST_CASE("the largest vector, and the farthest diagonals") {
  constexpr rig::index n = 2147483647;
  std::vector<rig::index> low, high;
  for (rig::index k = 0; k < 200000; ++k) {
    low.push_back(3 * k);
    high.push_back(n - 1 - 2 * k);
  }
  const auto v = rig::vector<int>::from_indices(n, low, 2),
             w = rig::vector<int>::from_indices(n, high, 3);
  const auto any = rig::ewise_add(v, w, rig::binary::plus, {.threads = 8});
  CHECK(any.nnz() == 400000);
  CHECK(rig::reduce(any, rig::binary::plus) == 1000000);
  const auto a = weighted("karate");
  CHECK(rig::diag(a, -n - 1).size() == 0);
  CHECK(rig::diag(a, n).size() == 0);
}

TEST_CASE("sparse vectors") {
  using rig::vector;
  const auto v = vector<float>::from_tuples(5, std::vector{4, 1, 4}, std::vector<float>{1, 2, 3},
                                            [](float x, float y) { return 10 * x + y; });
  CHECK(v.size() == 5);
  CHECK(v.nnz() == 2);
  CHECK(rig::at(v, 4).value() == 13);
  CHECK_FALSE(rig::at(v, 0));
  const auto full = v.to_dense(-1);
  CHECK(full(0, 0) == -1);
  CHECK(full(1, 0) == 2);
  CHECK(vector<float>::from(full).nnz() == 5);
  CHECK(vector<int>::from_indices(3, std::vector<long>{2, 0}).iso());
  CHECK(vector<int>().size() == 0);
  const std::vector<rig::index> places{1, 3};
  const std::vector<float> values{5, 6};
  const auto view = vector<float>::view(4, places, values);
  CHECK(view.values() == values.data());
  CHECK(rig::reduce(view, rig::binary::maximum) == 6);
  check_error(rig::errc::duplicate, {"0", "a combiner of from_tuples or build"}, [] {
    vector<int>::from_indices(3, std::vector{1, 1});
  });
  check_error(rig::errc::shape, {"2x2"}, [] { vector<int>(rig::matrix<int>(2, 2)); });
  check_error(rig::errc::range, {"5"}, [&] { static_cast<void>(rig::at(v, 5)); });
}

TEST_CASE("a dense of one column masks a vector, also as a column of a wider one") {
  rig::dense<bool> marks(4, 3, false);
  marks(1, 1) = marks(3, 1) = true;
  const auto column = rig::dense<bool>::view(&marks(0, 1), 4, 1, 3);
  auto w = rig::vector<int>(4);
  rig::assign(w, rig::none, 7, rig::all, rig::values(column));
  CHECK(w.nnz() == 2);
  CHECK(rig::at(w, 3).value() == 7);
  rig::assign(w, rig::none, 1, rig::all, rig::complement(rig::values(column)), {.replace = true});
  CHECK(w.nnz() == 2);
  CHECK(rig::at(w, 0).value() == 1);
}

TEST_CASE("flags at the entries of an operand mask it") {
  const auto a = weighted("rmat:10:8");
  const auto flags = rig::apply<bool>(a, rig::binary::greater, 0.5f);
  REQUIRE(flags.shared_structure() == a.shared_structure());
  // The same flags in another pattern's memory, so that the two masks are not told apart by it.
  const auto t = rig::to_tuples(flags);
  const auto apart = rig::build(a.rows(), a.columns(), t.rows, t.columns, t.values);
  for (const int threads : {1, 3}) {
    const rig::descriptor d{.threads = threads};
    const auto kept = rig::apply(a, rig::unary::negate, rig::values(flags), d);
    CHECK(kept.nnz() > 0);
    CHECK(kept.nnz() < a.nnz());
    CHECK(are_equal(kept, rig::apply(a, rig::unary::negate, rig::values(apart), d)));
    CHECK(are_equal(rig::apply(a, rig::unary::one, rig::complement(rig::values(flags)), d),
                    rig::apply(a, rig::unary::one, rig::complement(rig::values(apart)), d)));
    const auto ones = a.with_value(2.0f);
    CHECK(are_equal(rig::apply(ones, rig::unary::negate, rig::values(flags), d),
                    rig::apply(ones, rig::unary::negate, rig::values(apart), d)));
  }
}

TEST_CASE("iso matrices stay iso where their values cannot differ") {
  const auto a = rig::generate::from_text("karate");
  const auto iso = rig::matrix<int>(a.shared_structure(), 3);
  CHECK(rig::apply(iso, rig::unary::square).iso());
  CHECK(rig::apply(iso, rig::unary::square).shared_structure() == iso.shared_structure());
  CHECK(rig::select(iso, rig::selection::upper, 1).iso());
  CHECK(rig::select<double>(iso, rig::selection::upper, 1).iso_value() == 3.0);
  CHECK(rig::extract(iso, rig::range{0, 5}, rig::all).iso());
  CHECK(rig::transpose(iso).iso());
}

struct place_of {
  static long apply(float, rig::index i, rig::index j, long width) { return i * width + j; }
};
struct is_odd {
  static bool apply(float, rig::index i, rig::index j, int) { return (i + j) % 2 != 0; }
};

TEST_CASE("operators of the caller see row and column") {
  const auto a = weighted("karate");
  const auto places = rig::apply(a, place_of(), 34L);
  const auto t = rig::to_tuples(places);
  for (rig::index p = 0; p < t.rows.rows(); ++p)
    CHECK(t.values(p, 0) == t.rows(p, 0) * 34L + t.columns(p, 0));
  const auto odd = rig::to_tuples(rig::select(a, is_odd(), 0));
  CHECK(odd.rows.rows() > 0);
  for (rig::index p = 0; p < odd.rows.rows(); ++p)
    CHECK((odd.rows(p, 0) + odd.columns(p, 0)) % 2 == 1);
  rig::dense<float> d(3, 5, 1);
  CHECK(rig::apply(d, place_of(), 5L)(2, 3) == 13);
  // A column is read in blocks; one of a wider dense is not.
  rig::dense<float> column(1000, 1, 1), wide(1000, 2, 1);
  const auto part = rig::dense<float>::view(wide.data(), 1000, 1, 2);
  for (const auto& of : {rig::apply(column, place_of(), 5L), rig::apply(part, place_of(), 5L)})
    for (rig::index i = 0; i < 1000; ++i) CHECK(of(i, 0) == 5L * i);
}

TEST_CASE("sums of equal values are those of values side by side") {
  const auto a = rig::generate::from_text("rmat:8:20");
  const auto check = [&](auto value, rig::binary op) {
    using T = decltype(value);
    const rig::matrix<T> equal = a.with_value(value);
    const std::vector<T> all(static_cast<std::size_t>(a.nnz()), value);
    const auto listed = a.with_values(all);
    const auto found = rig::reduce_rows(equal, op).to_dense(T(-7)),
               expected = rig::reduce_rows(listed, op).to_dense(T(-7));
    for (rig::index i = 0; i < a.rows(); ++i) CHECK(found(i, 0) == expected(i, 0));
    CHECK(rig::reduce(equal, op) == rig::reduce(listed, op));
  };
  for (const auto op : {rig::binary::plus, rig::binary::times, rig::binary::minimum,
                        rig::binary::maximum, rig::binary::logical_or, rig::binary::logical_and})
    check(rig::int64(3), op);
  check(0.5, rig::binary::plus);
}

struct pair {
  float sum;
  int count;
  bool operator==(const pair&) const = default;
};
struct mean_parts {
  using accum = pair;
  static constexpr pair zero() { return {0, 0}; }
  static constexpr pair add(pair x, pair y) { return {x.sum + y.sum, x.count + y.count}; }
};
static_assert(rig::monoid<mean_parts>);
static_assert(rig::monoid<rig::plus_times<float>>);

TEST_CASE("elements of the caller's own type") {
  const std::vector<int> i{0, 0, 1}, j{0, 2, 1};
  const auto a =
      rig::matrix<pair>::from_tuples(2, 3, i, j, std::vector<pair>{{1, 1}, {2, 1}, {4, 2}});
  const auto sums = rig::reduce_rows(a, mean_parts());
  CHECK(rig::at(sums, 0).value() == pair{3, 2});
  CHECK(rig::reduce(a, mean_parts()) == pair{7, 4});
  auto c = a;
  rig::assign(c, rig::none, rig::extract(a, rig::range{1, 2}, rig::all), rig::range{0, 1},
              rig::all);
  CHECK(rig::at(c, 0, 1).value() == pair{4, 2});
  CHECK(c.nnz() == 2);
  check_error(rig::errc::cannot, {"assign", "accumulator"},
              [&] { rig::assign(c, rig::accumulator::plus, a, rig::all, rig::all); });
}

TEST_CASE("dense operands: masks, fill, accumulators and shared memory") {
  rig::dense<float> x(3, 4), y(3, 4, 2);
  for (int k = 0; k < 12; ++k) x.data()[k] = static_cast<float>(k - 6);
  const auto m = rig::matrix<int>::from_positions(3, 4, std::vector{0, 2}, std::vector{1, 3});
  const auto product = rig::ewise_mult(x, y, rig::binary::times, rig::structure(m), {.fill = 9});
  CHECK(product(0, 1) == -10);
  CHECK(product(0, 0) == 9);
  rig::dense<int> c(3, 4, 100);
  rig::apply(c, rig::accumulator::plus, x, rig::unary::absolute, rig::structure(m));
  CHECK(c(2, 3) == 105);
  CHECK(c(0, 0) == 100);
  auto shifted = rig::dense<float>::view(x.data() + 4, 2, 4);  // row 1 on, written from row 0 on
  const auto first = rig::dense<float>::view(x.data(), 2, 4);
  rig::apply(shifted, rig::none, first, rig::unary::negate);
  CHECK(x(1, 0) == 6);
  CHECK(x(2, 0) == 2);
  CHECK(rig::reduce(y, rig::binary::times) == 4096);
  const auto view = rig::dense<float>::view(static_cast<const float*>(y.data()), 3, 4);
  auto writable = view;
  rig::apply(writable, rig::none, view, rig::unary::negate);  // a copy owns its memory
  CHECK(y(0, 0) == 2);
}

TEST_CASE("places that a list names twice are joined in order, or the last stays") {
  const auto a = rig::matrix<float>::from_tuples(3, 1, std::vector{0, 1, 2}, std::vector{0, 0, 0},
                                                 std::vector<float>{1, 2, 4});
  auto c = rig::matrix<float>(2, 2);
  rig::assign(c, rig::none, a, std::vector{1, 0, 1}, rig::range{1, 2});
  CHECK(rig::at(c, 1, 1).value() == 4);
  c = rig::matrix<float>(2, 2);
  rig::assign(c, rig::accumulator::minus, a, std::vector{1, 0, 1}, rig::range{1, 2});
  CHECK(rig::at(c, 1, 1).value() == 1 - 4);
  CHECK(rig::at(c, 0, 1).value() == 2);
}

TEST_CASE("errors name the values, and C stays") {
  const rig::matrix<float> a(3, 4), b(4, 3);
  auto c = weighted("karate");
  const auto before = c;
  using enum rig::errc;
  check_error(shape, {"ewise_add", "3x4", "4x3"}, [&] { rig::ewise_add(a, b, rig::binary::plus); });
  check_error(shape, {"34x34", "3x4"}, [&] { rig::apply(c, rig::none, a, rig::unary::negate); });
  check_error(shape, {"the mask is 4x3"},
              [&] { rig::apply(a, rig::unary::negate, rig::structure(b)); });
  check_error(range, {"row 3", "0 … 2"}, [&] { rig::extract(a, std::vector{0, 3}, rig::all); });
  check_error(range, {"column -2"}, [&] { rig::extract(a, rig::all, rig::range{2, -3, -1}); });
  check_error(range, {"step 0"}, [&] { rig::extract(a, rig::range{0, 2, 0}, rig::all); });
  check_error(shape, {"2 rows", "3x4"}, [&] {
    rig::assign(c, rig::none, a, rig::range{0, 2}, rig::all);
  });
  check_error(range, {"rows", "4611686014132420609"}, [] {
    const rig::matrix<bool> wide(2147483647, 2147483647);
    rig::kronecker(wide, wide, rig::binary::times);
  });
  check_error(range, {"threads is -1"},
              [&] { rig::apply(a, rig::unary::negate, {.threads = -1}); });
  check_error(cannot, {"fill"}, [&] { rig::apply(a, rig::unary::negate, {.fill = 1}); });
  check_error(unknown_kernel, {"'row'"},
              [&] { rig::apply(a, rig::unary::negate, {.kernel = "row"}); });
  check_error(cannot, {"accumulator::own"},
              [&] { rig::apply(c, rig::accumulator::own, c, rig::unary::negate); });
  check_error(range, {"accumulator 99"},
              [&] { rig::apply(c, static_cast<rig::accumulator>(99), c, rig::unary::negate); });
  check_error(range, {"operator 77"}, [&] { rig::apply(a, static_cast<rig::unary>(77)); });
  check_error(cannot, {"reduce: binary::minus is no monoid; pass plus, times"},
              [&] { rig::reduce(a, rig::binary::minus); });
  check_error(range, {"operator 77"}, [&] { rig::reduce(a, static_cast<rig::binary>(77)); });
  check_error(cannot, {"vector"},
              [] { rig::apply(rig::vector<int>(3), rig::unary::negate, {.transpose_a = true}); });
  CHECK(are_equal(c, before));
}

TEST_CASE("operands without rows, columns or entries") {
  for (const auto& [m, n] : {std::pair{0, 0}, {0, 5}, {5, 0}, {5, 5}}) {
    const rig::matrix<float> a(m, n);
    CHECK(rig::ewise_add(a, a, rig::binary::plus).nnz() == 0);
    CHECK(rig::transpose(a).rows() == n);
    CHECK(rig::select(a, rig::selection::upper, 0).columns() == n);
    CHECK(rig::reduce_rows(a, rig::binary::plus).size() == m);
    CHECK(rig::reduce(a, rig::binary::minimum) == rig::highest<float>());
    CHECK(rig::extract(a, rig::all, rig::all).rows() == m);
    CHECK(rig::kronecker(a, a, rig::binary::plus).rows() == m * m);
    CHECK(rig::diag(a).nnz() == 0);
    CHECK(rig::apply(rig::dense<float>(m, n), rig::unary::one).rows() == m);
    auto c = a;
    rig::assign(c, rig::none, 1.0f, rig::all, rig::all);
    CHECK(c.nnz() == m * n);
  }
}

}  // namespace
