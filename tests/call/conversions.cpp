// Conversions between sparse and dense, equality, entries, text, stacks, and matrices of other
// types, against loops over the same content.

#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "provoked.hpp"
#include "rig/generate.hpp"
#include "rig/rig.hpp"

namespace {

using rig::errc;
using rig::index;
using rig::matrix;

/// The entries by place, read from the arrays.
template <class T>
std::map<std::pair<index, index>, T> content(const matrix<T>& a) {
  std::map<std::pair<index, index>, T> out;
  const rig::pattern& s = a.structure();
  for (index i = 0; i < a.rows(); ++i)
    for (auto p = s.offset(i); p < s.offset(i + 1); ++p)
      out[{i, s.column_indices()[p]}] = a.value(p);
  return out;
}

matrix<float> random(index rows, index columns, std::uint64_t seed) {
  const auto graph = rig::generate::random_values(rig::generate::rmat(6, 4, seed), seed);
  return rig::extract(graph, rig::range{0, rows}, rig::range{0, columns});
}
matrix<float> small() {
  return matrix<float>::from_tuples(3, 3, std::vector{0, 1, 1}, std::vector{1, 0, 2},
                                    std::vector<float>{2, -3, 4.5f});
}

struct pair {
  float x = 0, y = 0;
  friend bool operator==(const pair&, const pair&) = default;
  friend std::ostream& operator<<(std::ostream& out, const pair& p) {
    return out << p.x << '/' << p.y;
  }
};
matrix<pair> pairs() { return small().with_values(std::vector<pair>{{1, 2}, {3, 4}, {5, 6}}); }

/// Every number of a small float reads back from its text, which has at most as many digits as the
/// type needs.
template <class Small>
void check_small_texts() {
  int wrong = 0, long_texts = 0;
  for (int bits = 0; bits < 0x10000; ++bits) {
    Small x;
    x.bits = static_cast<unsigned short>(bits);
    const float wide(x);
    const std::string text = rig::cell_text(x);
    const Small back(std::strtof(text.c_str(), nullptr));
    wrong += wide == wide ? back.bits != x.bits : text.find("nan") == text.npos;
    const auto digits = std::ranges::count_if(text.substr(0, text.find('e')),
                                              [](char c) { return c >= '1' && c <= '9'; });
    long_texts += digits > (std::is_same_v<Small, rig::half> ? 5 : 4);
  }
  CHECK(wrong == 0);
  CHECK(long_texts == 0);
}

TEST_CASE("to_dense and back") {
  for (const auto& [rows, columns] : {std::pair{40, 60}, std::pair{60, 1}, std::pair{0, 5}}) {
    const auto a = random(rows, columns, 3);
    const auto expected = content(a);
    const auto full = rig::to_dense(a), filled = rig::to_dense(a, -1);
    REQUIRE(full.rows() == rows);
    REQUIRE(full.columns() == columns);
    for (index i = 0; i < rows; ++i)
      for (index j = 0; j < columns; ++j) {
        const auto found = expected.find({i, j});
        CHECK(full(i, j) == (found == expected.end() ? 0 : found->second));
        CHECK(filled(i, j) == (found == expected.end() ? -1 : found->second));
      }
    CHECK(content(matrix<float>::from(filled, -1)) == expected);
    const auto every = matrix<float>::from(full);
    CHECK(every.nnz() == rig::int64(rows) * columns);
    CHECK(rig::to_dense(every, 9) == full);
  }
  const auto iso = rig::generate::karate().with_value(7);
  CHECK(rig::to_dense(iso)(1, 0) == 7);
  CHECK(rig::to_dense(iso)(0, 0) == 0);
  CHECK(rig::to_dense(pairs(), {8, 9})(0, 0) == pair{8, 9});
  CHECK(content(matrix<pair>::from(rig::to_dense(pairs())))[{1, 2}] == pair{5, 6});
}

TEST_CASE("matrix::from of views, halves and NaN") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> memory{1, 0, 99, nan, -0.0f, 99};
  const auto strided = rig::dense<float>::view(memory.data(), 2, 2, 3);
  const auto found = content(matrix<float>::from(strided, 0));
  REQUIRE(found.size() == 2);
  CHECK(found.at({0, 0}) == 1);
  CHECK(found.at({1, 0}) != found.at({1, 0}));
  CHECK(matrix<float>::from(strided, nan).nnz() == 4);
  auto halves = rig::dense<rig::half>(2, 2, rig::half(0.5f));
  halves(0, 1) = rig::half(2);
  CHECK(matrix<rig::half>::from(halves, rig::half(0.5f)).nnz() == 1);
  CHECK(matrix<bool>::from(rig::dense<bool>(2, 2, true), true).nnz() == 0);
}

TEST_CASE("equality") {
  const auto a = small();
  CHECK(a == rig::transpose(rig::transpose(a)));
  CHECK(a != rig::transpose(a));
  CHECK(a != a.with_value(2.0f));
  CHECK(a.with_value(2.0f) == a.with_values(std::vector<float>(3, 2)));
  CHECK(a.with_value(2.0f) != a.with_value(3.0f));
  CHECK(matrix<float>(2, 3) == matrix<float>(2, 3));
  CHECK(matrix<float>(2, 3) != matrix<float>(3, 2));
  CHECK(matrix<float>(2, 3).with_value(1.0f) == matrix<float>(2, 3).with_value(2.0f));
  CHECK(a != matrix<float>(3, 3));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(a.with_value(nan) != a.with_value(nan));
  CHECK(a.with_value(0.0f) == a.with_value(-0.0f));
  CHECK(pairs() == pairs());
  CHECK(rig::extract_row(a, 1) == rig::extract_row(rig::transpose(a), 1, {.transpose_a = true}));
  CHECK(rig::extract_row(a, 1) != rig::extract_row(a, 0));
  const std::vector<float> memory{1, 2, 9, 3, 4, 9};
  const auto strided = rig::dense<float>::view(memory.data(), 2, 2, 3);
  const auto packed = rig::dense<float>::from(2, 2, std::vector<float>{1, 2, 3, 4});
  CHECK(strided == packed);
  CHECK(packed != rig::dense<float>(2, 2));
  CHECK(rig::dense<float>(0, 2) != rig::dense<float>(0, 3));
  CHECK(rig::dense<rig::half>(1, 1, rig::half(1)) == rig::dense<rig::half>(1, 1, rig::half(1)));
}

TEST_CASE("entries") {
  const auto a = random(50, 64, 5);
  std::map<std::pair<index, index>, float> found;
  rig::int64 count = 0;
  for (const auto& [i, j, x] : a.entries()) found[{i, j}] = x, ++count;
  CHECK(found == content(a));
  CHECK(count == a.nnz());
  CHECK(a.entries().size() == count);
  for (const auto& [i, j, x] : matrix<float>(5, 5).entries())
    FAIL(std::to_string(x + float(i + j)));
  for (const auto& [i, x] : rig::vector<int>().entries()) FAIL(std::to_string(i + x));
  static_assert(std::ranges::forward_range<decltype(a.entries())>);
  const auto v = rig::extract_row(a, 1);
  index before = -1;
  count = 0;
  for (const auto& [j, x] : v.entries()) {
    CHECK(before < j);
    CHECK(found.at({1, j}) == x);
    before = j;
    ++count;
  }
  CHECK(count == v.nnz());
}

TEST_CASE("text") {
  std::ostringstream out;
  out << small() << rig::extract_row(small(), 1) << rig::to_dense(small());
  CHECK(out.str() ==
        "3x3 matrix, 3 entries\n"
        " . 2   .\n"
        "-3 . 4.5\n"
        " . .   .\n"
        "vector of 3, 2 entries\n"
        "-3 . 4.5\n"
        "3x3 dense\n"
        " 0 2   0\n"
        "-3 0 4.5\n"
        " 0 0   0\n");
  CHECK(rig::to_text(matrix<bool>::from_positions(1, 2, std::vector{0}, std::vector{0})) ==
        "1x2 matrix, 1 entry\n1 .\n");
  CHECK(rig::to_text(rig::dense<float>(13, 14, 0.1f)) == [] {
    std::string rows = "13x14 dense\n";
    for (int i = 0; i < 12; ++i) {
      for (int j = 0; j < 12; ++j) rows += "0.1 ";
      rows += "…\n";
    }
    return rows + "…\n";
  }());
  CHECK(rig::to_text(matrix<int>(0, 0)) == "0x0 matrix, 0 entries\n");
  CHECK(rig::to_text(rig::dense<long>(1, 1, 5000000000)) == "1x1 dense\n5000000000\n");
  CHECK(rig::to_text(rig::dense<rig::half>(1, 1, rig::half(0.5f))) == "1x1 dense\n0.5\n");
  CHECK(rig::to_text(rig::dense<rig::half>(1, 1, rig::half(0.1f))) == "1x1 dense\n0.1\n");
  CHECK(rig::to_text(rig::dense<rig::bfloat16>(1, 1, rig::bfloat16(-3e38f))) ==
        "1x1 dense\n-3e+38\n");
  check_small_texts<rig::half>();
  check_small_texts<rig::bfloat16>();
  CHECK(rig::to_text(pairs()) == "3x3 matrix, 3 entries\n  . 1/2   .\n3/4   . 5/6\n  .   .   .\n");
  const auto wide = matrix<float>(2, 2'000'000'000);
  CHECK(rig::to_text(wide).size() < 100);
}

TEST_CASE("hstack and vstack") {
  const auto a = random(30, 40, 1), b = random(30, 7, 2), c = random(30, 13, 3);
  const auto beside = rig::hstack({a, b, c});
  CHECK(beside.rows() == 30);
  CHECK(beside.columns() == 60);
  auto expected = content(a);
  for (const auto& [at, x] : content(b)) expected[{at.first, at.second + 40}] = x;
  for (const auto& [at, x] : content(c)) expected[{at.first, at.second + 47}] = x;
  CHECK(content(beside) == expected);
  const std::vector turned{rig::transpose(a), rig::transpose(b), rig::transpose(c)};
  CHECK(rig::vstack(turned) == rig::transpose(beside));
  CHECK(rig::vstack({a}) == a);
  // Without entries, rows take no memory.
  const matrix<float> tall(1'000'000'000, 3);
  CHECK(rig::vstack({tall, tall}).rows() == 2'000'000'000);
  CHECK(content(rig::hstack({pairs(), pairs()}))[{1, 5}] == pair{5, 6});
  const auto iso = rig::generate::karate();
  CHECK(rig::extract(rig::vstack({iso, iso}), rig::range{34, 68}, rig::all) == iso);
  check_error(errc::shape, {"hstack", "matrix 1 is 13x30", "30x40", "equal rows"}, [&] {
    rig::hstack({a, rig::transpose(c)});
  });
  check_error(errc::shape, {"vstack", "matrix 2", "equal columns"}, [&] {
    rig::vstack({a, a, b});
  });
  check_error(errc::shape, {"vstack", "at least one"},
              [] { rig::vstack(std::vector<matrix<float>>()); });
}

TEST_CASE("diagonal") {
  const auto a = random(40, 40, 4);
  for (const int k : {-3, 0, 2}) CHECK(rig::diagonal(a, k) == rig::diag(a, k));
}

template <class T>
void check_places(const matrix<T>& a) {
  const auto before = content(a);
  const auto turned = rig::transpose(a);
  CHECK(turned.rows() == a.columns());
  std::map<std::pair<index, index>, T> expected;
  for (const auto& [at, x] : before) expected[{at.second, at.first}] = x;
  CHECK(content(turned) == expected);
  CHECK(rig::transpose(turned) == a);
  matrix<T> into(a.columns(), a.rows());
  rig::transpose(into, rig::none, a);
  CHECK(into == turned);

  expected.clear();
  for (const auto& [at, x] : before)
    if (at.second <= at.first) expected[at] = x;
  const auto below = rig::select(a, rig::selection::lower, 0);
  CHECK(content(below) == expected);
  CHECK(content(rig::select(a, rig::selection::column_above, 0)).size() == before.size() - 1);

  const auto ones = a.with_value(1.0f);
  const auto s = rig::plus_times<float>{};
  CHECK(rig::mxm(ones, ones, s, rig::structure(a)) ==
        rig::mxm(ones, ones, s, rig::structure(ones)));
  CHECK(rig::ewise_add(ones, ones, rig::binary::plus, rig::complement(rig::structure(below))) ==
        rig::ewise_add(ones, ones, rig::binary::plus,
                       rig::complement(rig::structure(below.with_value(true)))));
  check_error(errc::type, {"select", "predicate of your own"},
              [&] { rig::select(a, rig::selection::less, 0); });
}

TEST_CASE("matrices of complex numbers and structures: places without arithmetic") {
  using complex = std::complex<double>;
  check_places(small().with_values(std::vector<complex>{{1, 2}, {3, 4}, {5, 6}}));
  check_places(small().with_value(complex(1, -1)));
  check_places(pairs());
}

}  // namespace
