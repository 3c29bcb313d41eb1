// Operations with dense operands: sums of rows and columns, parts, assignments, dense beside
// sparse, tuples into matrices, and products of one column. Each is compared with a plain loop.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "provoked.hpp"
#include "rig/generate.hpp"
#include "rig/rig.hpp"

namespace {

using rig::accumulator;
using rig::binary;
using rig::dense;
using rig::index;

/// Small numbers, so that sums are exact in any order.
template <class T = float>
dense<T> numbers(index rows, index columns, int seed = 0) {
  dense<T> out(rows, columns);
  for (index i = 0; i < rows; ++i)
    for (index j = 0; j < columns; ++j)
      out(i, j) = static_cast<T>((i * 31 + j * 17 + seed * 7) % 23 - 11);
  return out;
}

template <class T>
bool are_equal(const dense<T>& x, const dense<T>& y) {
  if (x.rows() != y.rows() || x.columns() != y.columns()) return false;
  for (index i = 0; i < x.rows(); ++i)
    for (index j = 0; j < x.columns(); ++j)
      if (x(i, j) != y(i, j)) return false;
  return true;
}

/// A dense of this shape, whose element (i, j) is f(i, j).
template <class T, class F>
dense<T> made(index rows, index columns, F f) {
  dense<T> out(rows, columns);
  for (index i = 0; i < rows; ++i)
    for (index j = 0; j < columns; ++j) out(i, j) = static_cast<T>(f(i, j));
  return out;
}

constexpr std::pair<index, index> shapes[] = {{1, 1},    {3, 5},    {1, 40000}, {40000, 1},
                                              {2500, 7}, {7, 2500}, {300, 257}, {1025, 2}};

TEST_CASE("sums of rows and of columns") {
  for (const auto& [m, n] : shapes) {
    CAPTURE(m);
    CAPTURE(n);
    const auto x = numbers<rig::int64>(m, n);
    const auto sum = [](auto a, auto b) { return a + b; };
    const auto greatest = [](auto a, auto b) { return std::max(a, b); };
    const auto of_rows = [&](auto join) {
      return made<rig::int64>(m, 1, [&](index i, index) {
        auto total = x(i, 0);
        for (index j = 1; j < n; ++j) total = join(total, x(i, j));
        return total;
      });
    };
    const auto of_columns = [&](auto join) {
      return made<rig::int64>(n, 1, [&](index j, index) {
        auto total = x(0, j);
        for (index i = 1; i < m; ++i) total = join(total, x(i, j));
        return total;
      });
    };
    CHECK(are_equal(rig::reduce_rows(x, binary::plus), of_rows(sum)));
    CHECK(are_equal(rig::reduce_rows(x, binary::maximum), of_rows(greatest)));
    CHECK(are_equal(rig::reduce_columns(x, binary::plus), of_columns(sum)));
    CHECK(are_equal(rig::reduce_columns(x, binary::maximum), of_columns(greatest)));
    CHECK(are_equal(rig::reduce_columns(x, rig::max_plus<rig::int64>{}), of_columns(greatest)));
    for (const int threads : {1, 3})
      CHECK(are_equal(rig::reduce_columns<double>(x, binary::plus, {.threads = threads}),
                      rig::apply<double>(of_columns(sum), rig::unary::identity)));
  }
}

TEST_CASE("sums under masks, into results and of no columns") {
  const auto x = numbers(6, 4);
  const auto sums = rig::reduce_rows(x, binary::plus);
  auto c = numbers(6, 1, 3);
  const auto before = c;
  rig::reduce_rows(c, accumulator::minus, x, binary::plus);
  CHECK(are_equal(c, made<float>(6, 1, [&](index i, index) { return before(i, 0) - sums(i, 0); })));
  const auto some = rig::vector<bool>::from_indices(6, std::vector{1, 4});
  c = before;
  rig::reduce_rows(c, rig::none, x, binary::plus, rig::structure(some));
  CHECK(are_equal(c, made<float>(6, 1, [&](index i, index) {
                    return i == 1 || i == 4 ? sums(i, 0) : before(i, 0);
                  })));
  CHECK(are_equal(
      rig::reduce_rows(x, binary::plus, rig::complement(rig::structure(some)), {.fill = -1}),
      made<float>(6, 1, [&](index i, index) { return i == 1 || i == 4 ? -1 : sums(i, 0); })));
  CHECK(are_equal(rig::reduce_rows(dense<float>(3, 0), binary::maximum),
                  dense<float>(3, 1, rig::lowest<float>())));
  CHECK(are_equal(rig::reduce_columns(dense<int>(0, 2), binary::times), dense<int>(2, 1, 1)));
  CHECK(rig::reduce_rows(dense<float>(0, 3), binary::plus).rows() == 0);
  // A column of a wider matrix is an operand, and a result.
  auto wide = numbers(6, 3);
  auto last = dense<float>::view(&wide(0, 2), 6, 1, 3);
  rig::reduce_rows(last, rig::none, x, binary::plus);
  for (index i = 0; i < 6; ++i) CHECK(wide(i, 2) == sums(i, 0));
  CHECK(rig::reduce_columns(last, binary::plus)(0, 0) == rig::reduce(sums, binary::plus));
  // The result lies in the operand.
  auto whole = numbers(4, 4);
  const auto of_whole = rig::reduce_rows(whole, binary::plus);
  auto inside = dense<float>::view(&whole(0, 1), 4, 1, 4);
  rig::reduce_rows(inside, rig::none, whole, binary::plus);
  for (index i = 0; i < 4; ++i) CHECK(whole(i, 1) == of_whole(i, 0));
}

TEST_CASE("the greatest entry of each row, and its column") {
  const auto a = rig::generate::random_values(rig::generate::from_text("rmat:8:6"), 3);
  const auto check = [](const auto& found, const rig::matrix<float>& of) {
    for (index i = 0; i < of.rows(); ++i) {
      const auto begin = of.structure().offset(i), end = of.structure().offset(i + 1);
      if (begin == end) {
        CHECK(found.indices(i, 0) == -1);
        CHECK(found.values(i, 0) == rig::lowest<float>());
        continue;
      }
      auto best = begin;
      for (auto p = begin; p < end; ++p)
        if (of.value(p) > of.value(best)) best = p;
      CHECK(found.values(i, 0) == of.value(best));
      CHECK(found.indices(i, 0) == of.structure().column_indices()[best]);
    }
  };
  check(rig::reduce_rows(a, rig::arg_max_second<float>{}), a);
  check(rig::reduce_columns(a, rig::arg_max_second<float>{}), rig::transpose(a));
  const auto filled = rig::reduce_rows<double>(a, rig::arg_min_second<float>{}, {.fill = 7});
  CHECK(filled.values.rows() == a.rows());
  auto c = rig::reduce_rows(a, rig::arg_max_second<float>{});
  rig::reduce_rows(c, accumulator::own, a, rig::arg_max_second<float>{});
  check(c, a);
}

TEST_CASE("parts of a dense, and dense into parts") {
  const auto x = numbers(9, 7);
  const std::vector<index> rows{8, 0, 3, 3}, columns{6, 1, 1};
  const auto part = rig::extract(x, rows, columns);
  const auto expected = made<float>(4, 3, [&](index i, index j) {
    return x(rows[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)]);
  });
  CHECK(are_equal(part, expected));
  CHECK(are_equal(rig::extract<double>(x, rig::range{8, -1, -2}, rig::all),
                  made<double>(5, 7, [&](index i, index j) { return x(8 - 2 * i, j); })));
  for (const auto accum : {rig::none, accumulator::plus, accumulator::minus}) {
    auto c = numbers(9, 7, 5);
    const auto before = c, given = numbers(4, 3, 2);
    rig::assign(c, accum, given, rows, columns);
    const auto join = [&](float a, float b) { return accum == accumulator::minus ? a - b : a + b; };
    CHECK(are_equal(c, made<float>(9, 7, [&](index r, index s) {
                      std::optional<float> t;
                      for (std::size_t i = 0; i < 4; ++i)
                        for (std::size_t j = 0; j < 3; ++j) {
                          if (rows[i] != r || columns[j] != s) continue;
                          const float y = given(static_cast<index>(i), static_cast<index>(j));
                          t = t && accum != rig::none ? join(*t, y) : y;
                        }
                      if (!t) return before(r, s);
                      return accum == rig::none ? *t : join(before(r, s), *t);
                    })));
  }
  // A mask covers all of C; with replace, the fill takes what it leaves out.
  const auto marks = rig::apply<bool>(numbers(9, 7, 9), binary::greater, 0.0f);
  auto c = numbers(9, 7, 5);
  const auto before = c;
  rig::assign(c, rig::none, 50, rig::range{2, 6}, rig::all, rig::values(marks),
              {.replace = true, .fill = -9});
  CHECK(are_equal(c, made<float>(9, 7, [&](index i, index j) {
                    return !marks(i, j) ? -9.0f : i >= 2 && i < 6 ? 50.0f : before(i, j);
                  })));
  // Levels of a search: a vector masks a column.
  dense<int> levels(5, 1, -1);
  const auto frontier = rig::vector<bool>::from_indices(5, std::vector{0, 3});
  rig::assign(levels, rig::none, 2, rig::all, rig::all, rig::structure(frontier));
  CHECK(are_equal(levels, made<int>(5, 1, [](index i, index) { return i % 3 == 0 ? 2 : -1; })));
  // Operand and result are one.
  auto rotated = x;
  rig::extract(rotated, rig::none, rotated, rig::range{8, -1, -1}, rig::all);
  CHECK(are_equal(rotated, made<float>(9, 7, [&](index i, index j) { return x(8 - i, j); })));
}

TEST_CASE("the transpose of a dense, and parts of it") {
  const auto x = numbers(300, 7);
  const auto turned = made<float>(7, 300, [&](index i, index j) { return x(j, i); });
  CHECK(are_equal(rig::transpose(x), turned));
  CHECK(are_equal(rig::transpose(turned), x));
  CHECK(are_equal(rig::transpose(x, {.transpose_a = true}), x));
  CHECK(are_equal(rig::transpose<double>(x),
                  made<double>(7, 300, [&](index i, index j) { return x(j, i); })));
  const auto narrow = rig::dense<float>::view(x.data() + 2, 300, 3, 7);
  CHECK(are_equal(rig::transpose(narrow),
                  made<float>(3, 300, [&](index i, index j) { return x(j, i + 2); })));
  // Rows and columns are those of the transpose.
  const std::vector<index> rows{6, 1, 1};
  CHECK(are_equal(rig::extract(x, rows, rig::range{299, -1, -3}, {.transpose_a = true}),
                  made<float>(3, 100, [&](index i, index j) {
                    return x(299 - 3 * j, rows[static_cast<std::size_t>(i)]);
                  })));
  CHECK(are_equal(
      rig::extract(x, rows, rig::range{5, 6}, {.transpose_a = true}),
      made<float>(3, 1, [&](index i, index) { return x(5, rows[static_cast<std::size_t>(i)]); })));
  auto c = numbers(7, 300, 5);
  const auto before = c;
  const auto marks = rig::apply<bool>(numbers(7, 300, 9), binary::greater, 0.0f);
  rig::transpose(c, accumulator::plus, x, rig::values(marks));
  CHECK(are_equal(c, made<float>(7, 300, [&](index i, index j) {
                    return before(i, j) + (marks(i, j) ? x(j, i) : 0);
                  })));
  auto square = numbers(40, 40);
  const auto square_before = square;
  rig::transpose(square, rig::none, square);
  CHECK(are_equal(square,
                  made<float>(40, 40, [&](index i, index j) { return square_before(j, i); })));
  CHECK(rig::transpose(rig::dense<float>(0, 5)).rows() == 5);
  check_error(rig::errc::shape, {"transpose", "7x300", "300x7"},
              [&] { rig::transpose(c, rig::none, c); });
  check_error(rig::errc::range, {"extract", "row 7"},
              [&] { rig::extract(x, std::vector<index>{7}, rig::all, {.transpose_a = true}); });
}

TEST_CASE("dense beside sparse") {
  const auto a = rig::generate::random_values(rig::generate::from_text("karate"), 3);
  const auto d = numbers(34, 34);
  const auto both = rig::ewise_mult(a, d, binary::minus);
  CHECK(both.nnz() == a.nnz());
  const auto back = rig::ewise_mult(d, a, binary::minus);
  const auto any = rig::ewise_add(a, d, binary::minus),
             any_back = rig::ewise_add(d, a, binary::minus);
  dense<float> seen = d, seen_back = d;
  const auto t = rig::to_tuples(a);
  for (index p = 0; p < t.rows.rows(); ++p) {
    const index i = t.rows(p, 0), j = t.columns(p, 0);
    const float x = t.values(p, 0);
    CHECK(rig::at(both, i, j).value() == x - d(i, j));
    CHECK(rig::at(back, i, j).value() == d(i, j) - x);
    seen(i, j) = x - d(i, j);
    seen_back(i, j) = d(i, j) - x;
  }
  CHECK(are_equal(any, seen));
  CHECK(are_equal(any_back, seen_back));
  auto c = d;
  rig::ewise_add(c, accumulator::plus, a, d, rig::plus_times<float>{}, rig::structure(a));
  for (index p = 0; p < t.rows.rows(); ++p) {
    const index i = t.rows(p, 0), j = t.columns(p, 0);
    CHECK(c(i, j) == d(i, j) + (t.values(p, 0) + d(i, j)));
  }
  CHECK(c(0, 0) == d(0, 0));
  const auto v = rig::vector<float>::from_tuples(5, std::vector{3, 1}, std::vector<float>{5, 7});
  const auto column = numbers(5, 1);
  const auto sum = rig::ewise_add(column, v, binary::minus);
  CHECK(sum(3, 0) == column(3, 0) - 5);
  CHECK(sum(0, 0) == column(0, 0));
  CHECK(rig::at(rig::ewise_mult(v, column, binary::times), 1).value() == 7 * column(1, 0));
  // A packed column is extracted in blocks.
  const auto wide = numbers(1000, 3);
  std::vector<index> places;
  for (index k = 0; k < 700; ++k) places.push_back(k * 37 % 1000);
  const auto taken = rig::extract(wide, places, rig::range{1, 2});
  for (index k = 0; k < 700; ++k)
    CHECK(taken(k, 0) == wide(places[static_cast<std::size_t>(k)], 1));
  // Into the dense operand itself, only the elements at entries are computed.
  auto updated = column, updated_back = column, whole = d;
  rig::ewise_add(updated, rig::none, updated, v, binary::minus);
  rig::ewise_add(updated_back, rig::none, v, updated_back, binary::minus);
  rig::ewise_add(whole, rig::none, a, whole, binary::minus);
  CHECK(are_equal(updated, sum));
  CHECK(are_equal(updated_back, rig::ewise_add(v, column, binary::minus)));
  CHECK(are_equal(whole, any));
  check_error(rig::errc::shape, {"34x34", "5x1"}, [&] { rig::ewise_add(a, column, binary::plus); });
  check_error(rig::errc::shape, {"5x1", "34x34"}, [&] { rig::ewise_mult(v, d, binary::plus); });
}

TEST_CASE("sparse joined with a dense in place") {
  const auto a = rig::generate::random_values(rig::generate::from_text("karate"), 3);
  const auto v = rig::vector<int>::from_tuples(34, std::vector{3, 1}, std::vector<int>{5, 7});
  const auto d = numbers(34, 34);
  const auto column = numbers(34, 1);
  dense<float> wide(34, 40, 9);
  auto part = dense<float>::view(wide.data() + 2, 34, 34, 40);
  rig::assign(part, rig::none, d, rig::all, rig::all);
  for (const binary op : {binary::minus, binary::second, binary::first, binary::minimum}) {
    auto c = d;
    rig::ewise_add(c, rig::none, a, c, op);
    CHECK(are_equal(c, rig::ewise_add(a, d, op)));
    c = d;
    rig::ewise_add(c, rig::none, c, a, op);
    CHECK(are_equal(c, rig::ewise_add(d, a, op)));
    c = column;
    rig::ewise_add(c, rig::none, c, v, op);
    CHECK(are_equal(c, rig::ewise_add(column, v, op)));
  }
  rig::ewise_add(part, rig::none, part, a, binary::minus);
  CHECK(are_equal(part, rig::ewise_add(d, a, binary::minus)));
  CHECK(wide(33, 39) == 9);
  CHECK(wide(0, 1) == 9);
}

TEST_CASE("matrices and vectors from tuples") {
  const auto rows = made<index>(5, 1, [](index p, index) { return p % 3; });
  const auto columns = made<index>(5, 1, [](index p, index) { return p / 3; });
  const auto values = made<double>(5, 1, [](index p, index) { return p + 1; });
  const auto a = rig::build(3, 4, rows, columns, values);
  CHECK(a.nnz() == 5);
  CHECK(rig::at(a, 1, 1).value() == 5);
  const std::vector<index> ones(5, 1);
  const auto folded = rig::build(3, 4, ones, columns, values, binary::minus);
  CHECK(folded.nnz() == 2);
  CHECK(rig::at(folded, 1, 0).value() == 1 - 2 - 3);
  CHECK(rig::at(rig::build(4, ones, values, binary::plus), 1).value() == 15);
  CHECK(rig::build(9, rig::range{1, 6}, values).nnz() == 5);
  check_error(rig::errc::duplicate, {"(1, 0)", "combiner"},
              [&] { rig::build(3, 4, ones, columns, values); });
  check_error(rig::errc::range, {"row 2", "number 2"},
              [&] { rig::build(2, 4, rows, columns, values); });
  check_error(rig::errc::shape, {"5 values", "2 rows"}, [&] {
    rig::build(3, 4, std::vector{1, 2}, columns, values);
  });
}

TEST_CASE("vectors and columns") {
  const auto column = numbers(7, 1);
  const auto v = rig::vector<float>::from(column);
  CHECK(v.nnz() == 7);
  CHECK(are_equal(v.to_dense(), column));
  const auto wide = numbers(7, 3);
  const auto second = dense<float>::view(&wide(0, 1), 7, 1, 3);
  CHECK(are_equal(rig::vector<float>::from(second).to_dense(), dense<float>(second)));
  CHECK(rig::vector<float>::from(dense<float>(0, 1)).size() == 0);
}

struct minus_times {  // ⊗ is not commutative: x − 2y
  using left = float;
  using right = double;
  using accum = double;
  static constexpr double zero() { return 0; }
  static constexpr double add(double x, double y) { return x + y; }
  static constexpr double multiply(float a, double b) { return a - 2 * b; }
};
struct parent {  // the row that the product comes from, and C's row
  using left = float;
  using right = float;
  using accum = int;
  static constexpr int zero() { return -1; }
  static constexpr int add(int x, int y) { return x > y ? x : y; }
  static constexpr int multiply(float, float, rig::position at) { return at.inner + 1000 * at.row; }
};

TEST_CASE("products of one column") {
  const auto a = rig::extract(rig::generate::random_values(rig::generate::from_text("rmat:6:4"), 3),
                              rig::range{0, 50}, rig::all);
  const auto u = numbers(64, 1), of_rows = numbers(50, 1);
  CHECK(are_equal(rig::mxv(a, u, rig::plus_times<float>{}),
                  rig::mxm(a, u, rig::plus_times<float>{})));
  CHECK(are_equal(rig::vxm(of_rows, a, rig::plus_times<float>{}),
                  rig::mxm(a, of_rows, rig::plus_times<float>{}, {.transpose_a = true})));
  CHECK(are_equal(rig::vxm(of_rows, a, rig::plus_first<float>{}),
                  rig::mxm(a, of_rows, rig::plus_second<float>{}, {.transpose_a = true})));
  CHECK(are_equal(rig::vxm(u, a, rig::plus_second<float>{}, {.transpose_b = true}),
                  rig::mxm(a, u, rig::plus_first<float>{})));
  dense<double> expected(64, 1, 0.0);
  dense<int> last(64, 1, -1);
  const auto t = rig::to_tuples(a);
  for (index p = 0; p < t.rows.rows(); ++p) {
    expected(t.columns(p, 0), 0) += of_rows(t.rows(p, 0), 0) - 2.0 * t.values(p, 0);
    last(t.columns(p, 0), 0) = t.rows(p, 0);
  }
  const auto found = rig::vxm(of_rows, a, minus_times{});
  for (index j = 0; j < 64; ++j) CHECK(found(j, 0) == doctest::Approx(expected(j, 0)));
  CHECK(are_equal(rig::vxm(of_rows, a, parent{}), last));
  const auto some = rig::vector<bool>::from_indices(50, std::vector{2, 40});
  auto w = numbers(50, 1, 1);
  const auto before = w, all = rig::mxv(a, u, rig::plus_times<float>{});
  rig::mxv(w, accumulator::plus, a, u, rig::plus_times<float>{},
           rig::complement(rig::structure(some)));
  const auto rows = rig::reduce_rows(a.with_value(1), binary::plus).to_dense(0);
  for (index i = 0; i < 50; ++i)
    CHECK(w(i, 0) ==
          (i == 2 || i == 40 || rows(i, 0) == 0 ? before(i, 0) : before(i, 0) + all(i, 0)));
  check_error(rig::errc::shape, {"mxv", "64x2"},
              [&] { rig::mxv(a, numbers(64, 2), rig::plus_times<float>{}); });
  check_error(rig::errc::cannot, {"vxm", "transpose_a"},
              [&] { rig::vxm(of_rows, a, rig::plus_times<float>{}, {.transpose_a = true}); });
}

TEST_CASE("memory that operands, lists and numbers share with C") {
  std::vector<index> list(400);
  for (index i = 0; i < 200; ++i) list[static_cast<std::size_t>(i)] = 199 - i;
  const auto x = numbers<index>(200, 2);
  auto over_list = dense<index>::view(list.data(), 200, 2);
  rig::extract(over_list, rig::none, x, std::span<const index>(list.data(), 200), rig::all);
  CHECK(are_equal(dense<index>(over_list),
                  made<index>(200, 2, [&](index i, index j) { return x(199 - i, j); })));
  dense<float> c(30, 30, 1);
  c(0, 0) = 2;
  rig::assign(c, accumulator::plus, c(0, 0), rig::all, rig::all);
  CHECK(c(0, 0) == 4);
  CHECK(c(29, 29) == 3);
  std::vector<float> memory{1, 2, 3, 4, 5, 6};
  const std::vector<long> offsets{0, 1, 2, 3};
  const std::vector<index> entries{1, 0, 1};
  const auto a =
      rig::matrix<float>::view(3, 2, offsets, entries, std::span<const float>(memory.data(), 3));
  auto over_values = dense<float>::view(memory.data(), 3, 2);
  rig::ewise_add(over_values, rig::none, a, dense<float>(3, 2, 100), binary::plus);
  CHECK(memory == std::vector<float>{100, 101, 102, 100, 100, 103});
  // The mask's values lie in C, a row further: row 0 of C holds row 1 of the mask.
  const std::vector<int> flags{1, 0, 1, 1, 1, 0, 0, 1, 1};
  std::vector<int> shared(flags);
  shared.resize(12, 5);
  const std::vector<index> rows{0, 3, 6, 9}, each{0, 1, 2, 0, 1, 2, 0, 1, 2};
  const auto mask =
      rig::matrix<int>::view(3, 3, rows, each, std::span<const int>(shared.data(), 9));
  auto over_mask = dense<int>::view(shared.data() + 3, 3, 3);
  const auto before = dense<int>(over_mask), zeros = dense<int>(3, 3, 0);
  rig::apply(over_mask, rig::none, zeros, rig::unary::identity, rig::values(mask), {.threads = 1});
  CHECK(are_equal(dense<int>(over_mask), made<int>(3, 3, [&](index i, index j) {
                    return flags[static_cast<std::size_t>(3 * i + j)] != 0 ? 0 : before(i, j);
                  })));
}

TEST_CASE("transposes beside dense operands") {
  const auto a =
      rig::matrix<float>::from_tuples(2, 3, std::vector{0}, std::vector{1}, std::vector<float>{5});
  const auto y = numbers(3, 2);
  const auto back = rig::ewise_mult(y, a, binary::minus, {.transpose_b = true});
  CHECK(rig::at(back, 1, 0).value() == y(1, 0) - 5);
  const auto forth = rig::ewise_mult(a, y, binary::minus, {.transpose_a = true});
  CHECK(rig::at(forth, 1, 0).value() == 5 - y(1, 0));
  check_error(rig::errc::cannot, {"ewise_mult", "dense"},
              [&] { rig::ewise_mult(y, a, binary::minus, {.transpose_a = true}); });
  check_error(rig::errc::cannot, {"ewise_mult", "dense"},
              [&] { rig::ewise_mult(a, y, binary::minus, {.transpose_b = true}); });
  check_error(rig::errc::shape, {"first operand is 3x2", "second 2x3"},
              [&] { rig::ewise_mult(y, a, binary::minus); });
  check_error(rig::errc::cannot, {"mxv", "transpose_b"},
              [&] { rig::mxv(a, numbers(3, 1), rig::plus_times<float>{}, {.transpose_b = true}); });
  check_error(rig::errc::shape, {"vxm", "3x1", "2x3"},
              [&] { rig::vxm(numbers(3, 1), a, rig::plus_times<float>{}); });
}

TEST_CASE("sums accumulated by their own monoid") {
  const auto a = rig::generate::random_values(rig::generate::from_text("karate"), 3);
  const auto once = rig::reduce_rows(a, rig::max_plus<float>{});
  auto w = rig::vector<float>::from_indices(34, std::vector{3}, 9.0f);
  rig::reduce_rows(w, accumulator::own, a, rig::max_plus<float>{});
  CHECK(rig::at(w, 3).value() == 9);
  CHECK(rig::at(w, 5).value() == rig::at(once, 5).value());
  dense<int> sums(2, 1, 3);
  rig::reduce_rows(sums, accumulator::own, dense<int>(2, 4, 5), binary::plus);
  CHECK(sums(1, 0) == 23);
  int total = 10;
  rig::reduce(total, accumulator::own, dense<int>(2, 1, 5), binary::plus);
  CHECK(total == 20);
  rig::reduce(total, accumulator::own, dense<int>(2, 1, 50), rig::max_plus<int>{});
  CHECK(total == 50);
  check_error(rig::errc::shape, {"5x0"}, [] { rig::vector<float>(rig::matrix<float>(5, 0)); });
}

TEST_CASE("PageRank") {
  const auto a = rig::generate::from_text("karate");
  const auto ranks = rig::pagerank(a).ranks;
  CHECK(are_equal(rig::pagerank(a, {}, {.width = 3, .k = 2}).ranks, ranks));
  check_error(rig::errc::cannot, {"pagerank", "transpose_b"},
              [&] { rig::pagerank(a, {}, {.transpose_b = true}); });
  check_error(rig::errc::cannot, {"pagerank", "fill"}, [&] { rig::pagerank(a, {}, {.fill = 5}); });
  CHECK(are_equal(rig::pagerank(a, {.damping = 0}).ranks, dense<double>(34, 1, 1.0 / 34)));
  CHECK(rig::pagerank(a, {.tolerance = 0, .most_iterations = 7}).iterations == 7);
  CHECK(rig::pagerank(rig::matrix<float>(1, 1)).ranks(0, 0) == 1);
  CHECK(rig::pagerank(rig::matrix<float>(0, 0)).ranks.columns() == 1);
  int calls = 0;
  rig::pagerank(a, {.most_iterations = 4, .progress = [&](int, double) { ++calls; }});
  CHECK(calls == 4);
  check_error(rig::errc::shape, {"2x3"}, [] { rig::pagerank(rig::matrix<float>(2, 3)); });
  check_error(rig::errc::range, {"damping", "1"}, [&] { rig::pagerank(a, {.damping = 1}); });
  check_error(rig::errc::range, {"most_iterations", "0"},
              [&] { rig::pagerank(a, {.most_iterations = 0}); });
}

TEST_CASE("the softmax of edges in all forms") {
  const auto a = rig::generate::random_values(rig::generate::from_text("karate"), 3);
  const auto all = rig::edge_softmax(a);
  const auto upper = rig::select(a, rig::selection::upper, 1);
  CHECK(rig::edge_softmax(a, rig::structure(upper)).nnz() == upper.nnz());
  auto c = a;
  rig::edge_softmax(c, accumulator::plus, a);
  CHECK(c.value(5) == doctest::Approx(a.value(5) + all.value(5)));
  const auto flipped = rig::edge_softmax(a, {.transpose_a = true});
  CHECK(flipped.value(5) == doctest::Approx(rig::edge_softmax(rig::transpose(a)).value(5)));
}

}  // namespace
