// Sizes, indices and numbers of every integer type: what a type cannot hold is refused, and named.

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "provoked.hpp"
#include "rig/generate.hpp"
#include "rig/rig.hpp"

namespace {

using rig::errc;

constexpr long wide = 5'000'000'000;  // 705 032 704 in 32 bits
const std::string named = "5000000000";

struct attempt {
  const char* what;
  std::function<void()> make;
};

void expect_refusals(const std::vector<attempt>& attempts) {
  for (const attempt& one : attempts) {
    CAPTURE(one.what);
    check_error(errc::range, {named, "2147483647"}, one.make);
  }
}

TEST_CASE("containers") {
  const std::vector<int> none;
  const std::vector<float> no_values;
  const std::vector<long> offsets{0};
  float* const nothing = nullptr;
  expect_refusals({
      {"dense rows", [] { rig::dense<float>(wide, 1); }},
      {"dense columns", [] { rig::dense<float>(1, wide); }},
      {"uninitialised", [] { rig::dense<float>::uninitialised(wide, 0); }},
      {"from", [&] { rig::dense<float>::from(0, wide, no_values); }},
      {"view", [&] { rig::dense<float>::view(nothing, wide, 0); }},
      {"matrix rows", [] { rig::matrix<float>(wide, 1); }},
      {"matrix columns", [] { rig::matrix<int>(0, wide); }},
      {"from_tuples", [&] { rig::matrix<float>::from_tuples(wide, 1, none, none, no_values); }},
      {"from_positions", [&] { rig::matrix<float>::from_positions(1, wide, none, none); }},
      {"from_csr", [&] { rig::matrix<float>::from_csr(0, wide, offsets, none, no_values); }},
      {"iso from_csr", [&] { rig::matrix<float>::from_csr(0, wide, offsets, none); }},
      {"view of CSR", [&] { rig::matrix<float>::view(0, wide, offsets, none, no_values); }},
      {"pattern_from_csr",
       [&] { rig::pattern_from_csr(0, wide, offsets, none, rig::input::checked); }},
      {"pattern_view", [&] { rig::pattern_view(wide, 0, offsets, none, rig::input::trusted); }},
      {"vector", [] { rig::vector<float>{wide}; }},
      {"vector from_indices", [&] { rig::vector<float>::from_indices(wide, none); }},
      {"vector from_tuples", [&] { rig::vector<float>::from_tuples(wide, none, no_values); }},
      {"vector view", [&] { rig::vector<float>::view(wide, none, no_values); }},
      {"cbsr", [&] { rig::cbsr<float>::from(wide, 1, 1, no_values, none); }},
      {"k of a cbsr", [&] { rig::cbsr<float>::from(1, 1, wide, no_values, none); }},
      {"cbsr_pattern", [&] { rig::cbsr_pattern::from(0, wide, 1, none); }},
      {"quantized",
       [&] { rig::quantized::from_codes(wide, 0, std::vector<unsigned char>(), no_values, {}); }},
  });
}

TEST_CASE("errors name the call and the argument") {
  const std::vector<int> none;
  const auto a = rig::generate::karate();
  const auto v = rig::vector<float>::from_indices(3, std::vector{1});
  for (const attempt& one : std::vector<attempt>{
           {"dense: rows is", [] { rig::dense<float>(wide, 1); }},
           {"dense: columns is",
            [] { rig::dense<float>::view(static_cast<float*>(nullptr), 0, wide); }},
           {"matrix: rows is", [] { rig::matrix<float>(wide, 1); }},
           {"matrix: columns is", [&] { rig::matrix<float>::from_positions(1, wide, none, none); }},
           {"matrix: rows is", [&] { rig::matrix<float>::from_csr(wide, 1, none, none); }},
           {"vector: size is", [&] { rig::vector<float>::from_indices(wide, none); }},
           {"cbsr: k is", [&] { rig::cbsr_pattern::from(0, 1, wide, none); }},
           {"quantized: columns is", [&] { rig::quantized::from_codes(0, wide, {}, {}, {}); }},
           {"maxk: k is", [] { rig::maxk(rig::dense<float>(3, 3), wide); }},
           {"extract_row: row is", [&] { rig::extract_row(a, wide); }},
           {"range: last is",
            [&] {
              rig::extract(a, rig::range{0, wide}, rig::all);
            }},
           {"at: j is", [&] { rig::at(a, 0, wide); }},
           {"at: i is", [&] { rig::at(v, wide); }},
           {"diag: k is", [&] { rig::diag(v, wide); }},
           {"diagonal: k is", [&] { rig::diagonal(a, wide); }},
           {"build: size is", [] { rig::build(wide, std::vector{0}, rig::dense<float>(1, 1)); }},
           {"rmat: scale is", [] { rig::generate::rmat(wide, 1); }},
           {"banded: half is", [] { rig::generate::banded(2, wide); }},
           {"threads is", [] { static_cast<void>(rig::descriptor{.threads = wide}); }}}) {
    CAPTURE(one.what);
    check_error(errc::range, {one.what, named, "int32", "pass one within"}, one.make);
  }
  check_error(errc::shape, {"vector: size is -3; give at least 0"},
              [] { rig::vector<float> none(-3); });
  check_error(errc::range, {"extract_row: row 34 is outside the 34 rows of A"},
              [&] { rig::extract_row(a, 34); });
  for (const double share : {-0.1, 2.0, std::nan("")})
    check_error(errc::range, {"grid with a share of", "between 0 and 1"},
                [&] { rig::generate::grid(10, 10, 0, share); });
  const rig::matrix<float> half(1'250'000'000, 1);
  check_error(errc::range, {"vstack: rows is 2500000000"}, [&] { rig::vstack({half, half}); });
  check_error(errc::range, {"hstack: columns is 2500000000"}, [&] {
    rig::hstack({rig::transpose(half), rig::transpose(half)});
  });
}

/// Every call that takes one number for elements of type T.
template <class T, class Number>
std::vector<attempt> calls_with(Number x) {
  static const std::vector<int> once{0};
  static const auto a = rig::generate::karate().with_value(T(1));
  static const auto v = rig::vector<T>::from_indices(2, once);
  return {
      {"dense: value", [=] { rig::dense<T>(1, 1, x); }},
      {"matrix: iso", [=] { rig::matrix<T>(a.shared_structure(), x); }},
      {"from_positions: iso", [=] { rig::matrix<T>::from_positions(1, 1, once, once, x); }},
      {"from_csr: iso",
       [=] {
         rig::matrix<T>::from_csr(1, 1, std::vector{0, 1}, once, rig::input::checked, x);
       }},
      {"from: without", [=] { rig::matrix<T>::from(rig::dense<T>(2, 2), x); }},
      {"with_value: iso", [=] { a.template with_value<T>(x); }},
      {"from_indices: iso", [=] { rig::vector<T>::from_indices(2, once, x); }},
      {"to_dense: absent", [=] { v.to_dense(x); }},
      {"to_dense: absent", [=] { rig::to_dense(a, x); }},
  };
}

template <class T, class Number>
void refuses(Number x, const std::string& words, const std::string& type) {
  for (const attempt& one : calls_with<T>(x)) {
    CAPTURE(one.what);
    check_error(errc::range, {std::string(one.what) + " is " + words, type}, one.make);
  }
}

TEST_CASE("a number that an integer type cannot hold") {
  refuses<int>(wide, "5000000000, outside -2147483648 … 2147483647", "int32");
  refuses<int>(~0ULL, "18446744073709551615", "int32");
  refuses<int>(2.5, "2.5", "int32 holds whole numbers");
  refuses<int>(-3e9f, "-3e+09", "int32");
  refuses<int>(std::numeric_limits<double>::quiet_NaN(), "nan", "int32");
  refuses<long>(~0ULL, "18446744073709551615", "int64");
  refuses<long>(0x1p63, "9223372036854775808, outside", "9223372036854775807 of int64");
  refuses<std::uint8_t>(300, "300, outside 0 … 255", "uint8");
  refuses<std::uint8_t>(-1, "-1", "uint8");
  check_error(errc::range, {"add_self_loops: value is 5000000000", "int32"},
              [] { rig::add_self_loops(rig::generate::karate().with_value(1), wide); });
}

TEST_CASE("a number to assign that an element cannot hold") {
  auto c = rig::dense<std::uint8_t>(1, 2, 7);
  const auto before = c;
  for (const attempt& one : std::vector<attempt>{
           {"300", [&] { rig::assign(c, rig::none, 300, rig::all, rig::all); }},
           {"-1", [&] { rig::assign(c, rig::none, -1, rig::all, rig::all); }},
           {"256", [&] { rig::assign(c, rig::none, 256.0, rig::all, rig::all); }}}) {
    check_error(errc::range, {"assign: the number is", one.what, "0 … 255 of uint8"}, one.make);
    CHECK(c == before);
  }
  rig::assign(c, rig::none, 255L, rig::all, rig::all);
  CHECK(c(0, 1) == 255);
}

TEST_CASE("a number that the type holds") {
  for (const attempt& one : calls_with<int>(7.0)) CHECK_NOTHROW(one.make());
  for (const attempt& one : calls_with<int>(std::numeric_limits<int>::min()))
    CHECK_NOTHROW(one.make());
  for (const attempt& one : calls_with<long>(-0x1p63)) CHECK_NOTHROW(one.make());
  for (const attempt& one : calls_with<float>(wide)) CHECK_NOTHROW(one.make());
  for (const attempt& one : calls_with<bool>(7)) CHECK_NOTHROW(one.make());
  CHECK(rig::dense<std::uint64_t>(1, 1, ~0UL)(0, 0) == ~0UL);
  CHECK(rig::dense<long>(1, 1, wide)(0, 0) == wide);
  CHECK(rig::dense<char>(1, 1, 'x')(0, 0) == 'x');
  CHECK(rig::dense<int>(1, 1, 'x')(0, 0) == 'x');
  CHECK(rig::dense<int>(1, 1, {})(0, 0) == 0);
  CHECK(rig::dense(1, 1, 2.5)(0, 0) == 2.5);
  CHECK(rig::matrix(rig::generate::karate().shared_structure(), 3).iso_value() == 3);
}

TEST_CASE("a fill that the result cannot hold") {
  const auto a = rig::generate::karate();
  const rig::dense<int> x(34, 2, 1), before = x;
  auto c = x;
  const auto refuses_fill = [&](rig::scalar fill, const std::string& words) {
    const rig::descriptor desc{.replace = true, .fill = fill};
    const auto places = rig::structure(c);
    const rig::plus_times<int> s;
    check_error(errc::range, {"mxm: fill is " + words, "int32"}, [&] { rig::mxm(a, x, s, desc); });
    check_error(errc::range, {"mxm: fill is " + words},
                [&] { rig::mxm(c, rig::none, a, x, s, places, desc); });
    check_error(errc::range, {"mxv: fill is " + words},
                [&] { rig::mxv(a, rig::dense<int>(34, 1), s, desc); });
    check_error(errc::range, {"apply: fill is " + words},
                [&] { rig::apply(c, rig::none, x, rig::unary::absolute, places, desc); });
    CHECK(c == before);
  };
  refuses_fill(wide, "5000000000");
  refuses_fill(0.5f, "0.5");
  refuses_fill(std::numeric_limits<float>::infinity(), "inf");
  CHECK(rig::mxm<float>(a, x, rig::plus_times<int>{}, {.fill = 0.5}).rows() == 34);
  CHECK(rig::mxm<long>(a, x, rig::plus_times<int>{}, {.fill = wide}).rows() == 34);
  CHECK(rig::mxm(a, x, rig::plus_times<int>{}, {.fill = -1.0}).rows() == 34);
}

template <class Integer>
void check_lists() {
  const auto a = rig::generate::random_values(rig::generate::rmat(4, 4, 3), 3);
  const auto x = rig::to_dense(a);
  const auto v = rig::extract_row(a, 1);
  const std::vector<Integer> of_type{3, 1, 0, 3};
  const std::vector<int> same{3, 1, 0, 3};
  CHECK(rig::extract(a, of_type, same) == rig::extract(a, same, of_type));
  CHECK(rig::extract(x, of_type, rig::all) == rig::extract(x, same, rig::all));
  CHECK(rig::extract(v, of_type) == rig::extract(v, same));
  auto c = a, d = a;
  rig::assign(c, rig::accumulator::plus, 2.5f, of_type, rig::all);
  rig::assign(d, rig::accumulator::plus, 2.5f, same, rig::all);
  CHECK(c == d);
  const rig::dense<float> values(4, 1, 1.5f);
  CHECK(rig::build(4, 4, of_type, of_type, values, rig::binary::plus) ==
        rig::build(4, 4, same, same, values, rig::binary::plus));
  const std::vector<Integer> order{2, 0, 1};
  CHECK(rig::permute(rig::dense<float>::from(3, 1, std::vector<float>{5, 6, 7}), order) ==
        rig::dense<float>::from(3, 1, std::vector<float>{6, 7, 5}));
  const rig::indices kept = of_type, copy = kept;  // a copy keeps the narrowed list
  CHECK(rig::extract(a, copy, rig::all) == rig::extract(a, same, rig::all));
}

TEST_CASE("lists of indices of any integer type") {
  check_lists<std::int64_t>();
  check_lists<long long>();
  check_lists<unsigned>();
  check_lists<std::size_t>();
  check_lists<short>();
  check_lists<std::uint8_t>();
}

TEST_CASE("a list of indices that names a number no index holds") {
  const auto a = rig::generate::karate();
  const std::vector<long> far{1, wide}, before_0{0, -1};
  const std::vector<std::uint64_t> greatest{~0UL};
  auto c = a;
  const rig::dense<float> values(2, 1);
  const auto refuses_list = [](std::initializer_list<std::string> words, const auto& work) {
    check_error(errc::range, words, work);
  };
  refuses_list({"extract: row 5000000000, number 1 of the list, is outside 0 … 33"},
               [&] { rig::extract(a, far, rig::all); });
  refuses_list({"extract: column -1, number 1 of the list"},
               [&] { rig::extract(a, rig::all, before_0); });
  refuses_list({"assign: row 18446744073709551615, number 0"},
               [&] { rig::assign(c, rig::none, 1, greatest, rig::all); });
  refuses_list({"build: column 5000000000, number 1"}, [&] {
    rig::build(4, 4, std::vector{0, 1}, far, values);
  });
  refuses_list({"permute: position 5000000000 of row 1"},
               [&] { rig::permute(rig::dense<float>(2, 1), far); });
  CHECK(c == a);
}

TEST_CASE("operations") {
  const auto a = rig::generate::karate();
  const rig::dense<float> x(3, 3);
  const auto v = rig::vector<float>::from_indices(3, std::vector{1});
  auto c = a;
  expect_refusals({
      {"maxk", [&] { rig::maxk(x, wide); }},
      {"extract_row", [&] { rig::extract_row(a, wide); }},
      {"range to extract",
       [&] {
         rig::extract(a, rig::range{0, wide}, rig::all);
       }},
      {"range to assign",
       [&] {
         rig::assign(c, rig::none, 1, rig::all, rig::range{wide, 5});
       }},
      {"step",
       [&] {
         rig::extract(a, rig::range{0, 3, wide}, rig::all);
       }},
      {"at", [&] { rig::at(a, wide, 0); }},
      {"at in a vector", [&] { rig::at(v, wide); }},
      {"diag", [&] { rig::diag(v, wide); }},
      {"diagonal", [&] { rig::diagonal(a, wide); }},
      {"build",
       [&] { rig::build(wide, 1, std::vector{0}, std::vector{0}, rig::dense<float>(1, 1)); }},
      {"build of a vector", [&] { rig::build(wide, std::vector{0}, rig::dense<float>(1, 1)); }},
      {"vstack",
       [] {
         const rig::matrix<float> half(2'500'000'000 / 2, 1);
         rig::vstack({half, half, half, half});
       }},
  });
  CHECK(c == a);
}

TEST_CASE("options") {
  rig::descriptor desc;
  rig::read_options options;
  rig::generate::community_shape shape;
  expect_refusals({
      {"width", [&] { desc.width = wide; }},
      {"k", [&] { desc = {.k = wide}; }},
      {"threads", [&] { desc.threads = wide; }},
      {"nodes", [&] { options.nodes = wide; }},
      {"n", [&] { shape.n = wide; }},
      {"blocks", [&] { shape.blocks = wide; }},
      {"rmat", [] { rig::generate::rmat(wide, 1); }},
      {"edge factor", [] { rig::generate::rmat(1, wide); }},
      {"uniform", [] { rig::generate::uniform(wide, 1); }},
      {"grid", [] { rig::generate::grid(1, wide); }},
      {"cliques", [] { rig::generate::cliques(wide, 2); }},
      {"banded", [] { rig::generate::banded(2, wide); }},
  });
}

TEST_CASE("every integer type serves, and keeps its value") {
  enum : short { two = 2 };
  const unsigned long three = 3;
  const rig::dense<float> x(two, three);
  CHECK(x.rows() == 2);
  CHECK(x.columns() == 3);
  CHECK(rig::matrix<int>(0, 0).rows() == 0);
  CHECK(rig::matrix<bool>(0L, 1u).columns() == 1);
  constexpr rig::checked_index greatest = 2147483647LL, least = -2147483648LL;
  CHECK(greatest == 2147483647);
  CHECK(least == -2147483647 - 1);
  check_error(errc::range, {"18446744073709551615"}, [] { rig::dense<int>(~0UL, 1); });
  check_error(errc::range, {"4294967295"}, [] { rig::dense<int>(1, ~0U); });
  check_error(errc::range, {"-2147483649"}, [] { rig::dense<int>(-2147483649L, 1); });
  check_error(errc::shape, {"-1x1"}, [] { rig::dense<int>(-1, 1); });
}

}  // namespace
