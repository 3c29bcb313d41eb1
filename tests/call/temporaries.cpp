// Containers that end before what is made of them: masks, entries and patterns of temporaries.

#include <doctest/doctest.h>

#include <complex>
#include <optional>
#include <vector>

#include "rig/generate.hpp"
#include "rig/rig.hpp"

namespace {

using plus_times = rig::plus_times<float>;

/// Memory that a dangling mask would read, overwritten.
void reuse_memory() {
  std::vector<std::vector<char>> blocks;
  for (std::size_t bytes = 16; bytes < (std::size_t(1) << 14); bytes *= 2)
    for (int k = 0; k < 8; ++k) blocks.emplace_back(bytes, char(0x55));
}

/// The product under the mask that `make` returns, whose operand has ended.
template <class Make>
auto under(Make make, const rig::matrix<float>& a, const rig::dense<float>& b) {
  const auto mask = make();
  reuse_memory();
  const rig::dense<float> more(34, 5, 3);  // the stack and the heap, used again
  return rig::mxm(a, b, plus_times{}, mask, {.fill = more(0, 0)});
}

TEST_CASE("a mask of a temporary owns its operand") {
  const auto a = rig::generate::karate();
  const rig::dense<float> b(34, 34, 1);
  const auto below = rig::select(a, rig::selection::lower, -1);
  const rig::dense<float> full = rig::to_dense(below);
  const auto expected = rig::mxm(a, b, plus_times{}, rig::structure(below), {.fill = 3});
  const auto others =
      rig::mxm(a, b, plus_times{}, rig::complement(rig::structure(below)), {.fill = 3});
  const auto select = [&] { return rig::select(a, rig::selection::lower, -1); };
  CHECK(under([&] { return rig::values(select()); }, a, b) == expected);
  CHECK(under([&] { return rig::structure(select()); }, a, b) == expected);
  CHECK(under([&] { return rig::complement(rig::values(select())); }, a, b) == others);
  CHECK(under([&] { return rig::values(rig::to_dense(below)); }, a, b) == expected);
  CHECK(under([&] { return rig::complement(rig::values(rig::to_dense(below))); }, a, b) == others);
  CHECK(under([&] { return rig::values(std::as_const(full)); }, a, b) == expected);
  // Inside one expression, as ever.
  CHECK(rig::mxm(a, b, plus_times{}, rig::values(select()), {.fill = 3}) == expected);
}

TEST_CASE("masks of temporaries: a vector and a cbsr") {
  const auto a = rig::generate::karate();
  const rig::dense<float> u(34, 1, 1), b(34, 8, 1);
  const auto row = rig::extract_row(a, 0);
  const auto in_row = [&] { return rig::structure(rig::extract_row(a, 0)); };
  const auto mask = in_row();
  reuse_memory();
  CHECK(rig::mxv(a, u, plus_times{}, mask, {.fill = 0}) ==
        rig::mxv(a, u, plus_times{}, rig::structure(row), {.fill = 0}));
  const rig::dense<float> x(34, 8, 2);
  const auto kept = rig::structure(rig::maxk(x, 3));
  reuse_memory();
  CHECK(rig::to_dense(rig::mxm(a, b, plus_times{}, kept)) ==
        rig::to_dense(rig::mxm(a, b, plus_times{}, rig::structure(rig::maxk(x, 3)))));
}

TEST_CASE("a mask of a dense sees later writes, and outlives the dense") {
  const auto a = rig::generate::karate();
  const rig::dense<float> b(34, 2, 1);
  std::optional<rig::dense<float>> allowed(rig::dense<float>(34, 2, 0));
  const auto mask = rig::values(*allowed);
  (*allowed)(3, 1) = 1;
  auto c = rig::mxm(a, b, plus_times{}, mask, {.fill = 0});
  CHECK(c(3, 1) == 6);
  CHECK(c(3, 0) == 0);
  allowed.reset();
  reuse_memory();
  CHECK(rig::mxm(a, b, plus_times{}, mask, {.fill = 0}) == c);
}

TEST_CASE("what temporaries return by value") {
  const auto a = rig::generate::karate();
  const rig::dense<float> b(34, 2, 1);
  const float& degree = rig::mxm(a, b, plus_times{})(0, 0);
  const auto& pattern = rig::transpose(a).shared_structure();
  const auto& row = rig::extract_row(a, 0).as_row();
  const auto& kept = rig::maxk(b, 1).structure();
  reuse_memory();
  CHECK(degree == 16);
  CHECK(pattern->nnz() == 156);
  CHECK(row.nnz() == 16);
  CHECK(kept.column(33, 0) == 0);
  int count = 0;
  for (const auto& [i, j, x] : rig::transpose(a).entries()) count += i < 34 && j < 34 && x == 1;
  CHECK(count == 156);
}

}  // namespace
