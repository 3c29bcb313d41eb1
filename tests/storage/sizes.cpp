// Sizes and indices of every integer type: what does not fit 32 bits is refused, and named.

#include <doctest/doctest.h>

#include <array>
#include <functional>
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
