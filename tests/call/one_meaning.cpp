// What sparse and dense results, and all places, have in common: how T joins C, logical sums, and
// comparisons with a number; and numbers that do not fit.

#include <doctest/doctest.h>

#include "meaning_cases.hpp"
#include "rig/generate.hpp"

namespace {

using rig::binary;
using rig::selection;

TEST_CASE("T joins C before it is rounded, sparse and dense alike") {
  meaning::check_joins(rig::cpu());
}

TEST_CASE("a number that is assigned joins C before it is rounded") {
  meaning::check_assigned_numbers(rig::cpu());
}

TEST_CASE("a logical sum is 0 or 1, of one element too") {
  meaning::check_logical_sums<int>(rig::cpu());
  meaning::check_logical_sums<rig::int64>(rig::cpu());
  meaning::check_logical_sums<float>(rig::cpu());
  meaning::check_logical_sums<double>(rig::cpu());
  meaning::check_logical_sums<bool>(rig::cpu());
}

TEST_CASE("comparisons with a number are of the numbers themselves") {
  meaning::check_comparisons(rig::cpu());
}

TEST_CASE("places are compared with any whole number") {
  std::vector<rig::index> i, j;
  for (rig::index r = 0; r < 5; ++r)
    for (rig::index c = 0; c < 5; ++c) {
      i.push_back(r);
      j.push_back(c);
    }
  const auto a = rig::matrix<float>::from_positions(5, 5, i, j);
  int wrong = 0;
  for (const double y :
       {-double(INFINITY), -1e300, -3.0, -1.0, 0.0, 2.0, 9.3e18, 1e300, double(INFINITY)}) {
    const auto check = [&](selection how, auto holds) {
      const auto kept = rig::select(a, how, y);
      for (rig::index r = 0; r < 5; ++r)
        for (rig::index c = 0; c < 5; ++c) wrong += rig::at(kept, r, c).has_value() != holds(r, c);
    };
    check(selection::lower, [&](int r, int c) { return c - r <= y; });
    check(selection::upper, [&](int r, int c) { return c - r >= y; });
    check(selection::diagonal, [&](int r, int c) { return c - r == y; });
    check(selection::off_diagonal, [&](int r, int c) { return c - r != y; });
    check(selection::row_at_most, [&](int r, int) { return r <= y; });
    check(selection::row_above, [&](int r, int) { return r > y; });
    check(selection::column_at_most, [&](int, int c) { return c <= y; });
    check(selection::column_above, [&](int, int c) { return c > y; });
  }
  CHECK(wrong == 0);
}

TEST_CASE("selections by place of many entries, by several threads") {
  // Rows of no entry, of few, and one that several threads share.
  std::vector<rig::index> i, j;
  const rig::index n = 70'000;
  for (rig::index r = 0; r < n; r += 2)
    for (rig::index c = r == 600 ? 0 : std::max(0, r - 1); c < (r == 600 ? n : std::min(n, r + 2));
         ++c) {
      i.push_back(r);
      j.push_back(c);
    }
  const auto a = rig::matrix<float>::from_positions(n, n, i, j);
  const auto check = [&](selection how, auto holds) {
    for (const int threads : {1, 3}) {
      const auto kept = rig::select(a, how, 1, {.threads = threads});
      rig::int64 p = 0, wrong = 0;
      for (std::size_t k = 0; k < i.size(); ++k) {
        if (!holds(i[k], j[k])) continue;
        const auto& found = kept.structure();
        wrong += p == kept.nnz() || found.column_indices()[p] != j[k] || found.offset(i[k]) > p ||
                 found.offset(i[k] + 1) <= p;
        ++p;
      }
      CHECK(wrong == 0);
      CHECK(kept.nnz() == p);
    }
  };
  check(selection::lower, [](int r, int c) { return c - r <= 1; });
  check(selection::upper, [](int r, int c) { return c - r >= 1; });
  check(selection::off_diagonal, [](int r, int c) { return c - r != 1; });
  check(selection::row_above, [](int r, int) { return r > 1; });
  check(selection::column_at_most, [](int, int c) { return c <= 1; });
}

TEST_CASE("places are not compared with a fraction or NaN") {
  const auto a = rig::generate::karate();
  const std::vector<std::pair<selection, const char*>> by_place{
      {selection::lower, "lower"},
      {selection::upper, "upper"},
      {selection::diagonal, "diagonal"},
      {selection::off_diagonal, "off_diagonal"},
      {selection::row_at_most, "row_at_most"},
      {selection::row_above, "row_above"},
      {selection::column_at_most, "column_at_most"},
      {selection::column_above, "column_above"}};
  for (const auto& [how, name] : by_place) {
    const std::string words = std::string("selection::") + name + " compares places";
    check_error(rig::errc::range, {"select: y is nan", words}, [&] { rig::select(a, how, NAN); });
    check_error(rig::errc::range, {"select: y is -0.5", words}, [&] { rig::select(a, how, -0.5); });
    check_error(rig::errc::range, {"select: y is 2.5"},
                [&] { rig::select(a, how, rig::half(2.5f)); });
  }
}

TEST_CASE("an entry alone beside a comparison is 0 or 1") {
  meaning::check_lone_entries(rig::cpu());
}

enum big : long { huge = 5000000000 };

TEST_CASE("assign refuses a number of any type that the elements cannot hold") {
  rig::dense<int> c(1, 1, 7);
  const auto refused = [&](const auto& number) {
    check_error(rig::errc::range, {"assign", "int32"},
                [&] { rig::assign(c, rig::none, number, rig::all, rig::all); });
  };
  refused(5000000000);
  refused(5e9);
  refused(5e9L);
  refused(huge);
  CHECK(c(0, 0) == 7);
}

TEST_CASE("an operator refuses a number beyond the range of its type") {
  const auto a = meaning::diagonal(1, 2, rig::cpu());
  check_error(rig::errc::range, {"apply", "5000000000", "int32", "apply<rig::int64>"},
              [&] { rig::apply(a, binary::plus, 5000000000L); });
  check_error(rig::errc::range, {"-5000000000"},
              [&] { rig::apply(-5000000000L, binary::minus, a); });
  // As the message says.
  const auto wide = rig::apply<rig::int64>(a, rig::unary::identity);
  CHECK(rig::apply(wide, binary::plus, 5000000000L).value(1) == 5000000002L);
  const auto x = meaning::diagonal(1.0f, 2.0f, rig::cpu());
  check_error(rig::errc::range, {"1e+300", "float", "apply<double>"},
              [&] { rig::apply(x, binary::times, 1e300); });
  CHECK(rig::apply(rig::apply<double>(x, rig::unary::identity), binary::times, 1e300).value(1) ==
        2e300);
  CHECK(std::isinf(rig::apply(x, binary::times, double(INFINITY)).value(0)));
  CHECK(rig::apply(x, binary::times, 0.1).value(0) == 0.1f);  // rounded, as numbers are
  const auto flags = meaning::diagonal(true, false, rig::cpu());
  CHECK(rig::apply(flags, binary::times, 5000000000L).value(0) == 5000000000L);
}

TEST_CASE("a number may have any integer type") {
  const auto a = meaning::diagonal<int>(1, 7, rig::cpu());
  CHECK(rig::select(a, selection::less, 5LL).nnz() == 1);
  CHECK(rig::select(a, selection::lower, std::size_t{0}).nnz() == 2);
  CHECK(meaning::entry(rig::apply(a, binary::plus, 3u), 1) == 10);
  CHECK(meaning::entry(rig::apply(3ULL, binary::minus, a), 1) == -4);
  check_error(rig::errc::range, {"select: y is 18446744073709551615", "int64"},
              [&] { rig::select(a, selection::less, ~0ULL); });
}

}  // namespace
