// Containers that end before what is made of them: masks, entries and patterns of temporaries.

#include <doctest/doctest.h>

#include <complex>
#include <optional>
#include <vector>

#include "provoked.hpp"
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

TEST_CASE("indices own a temporary list") {
  const auto a = rig::generate::karate();
  const auto expected = rig::extract(a, std::vector{5, 0, 33}, rig::all);
  const auto rows_of = [&](auto make) {
    const rig::indices rows = make();
    reuse_memory();
    return rig::extract(a, rows, rig::all);
  };
  CHECK(rows_of([] { return rig::indices(std::vector{5, 0, 33}); }) == expected);
  CHECK(rows_of([] { return rig::indices(std::vector<long>{5, 0, 33}); }) == expected);
  CHECK(rows_of([] {
          return rig::indices(rig::dense<int>::from(3, 1, std::vector{5, 0, 33}));
        }) == expected);
  const rig::indices outside(std::vector<long>{5'000'000'000});
  reuse_memory();
  check_error(rig::errc::range, {"row 5000000000, number 0 of the list"},
              [&] { rig::extract(a, outside, rig::all); });
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

TEST_CASE("a mask is assigned in a loop: a search by levels") {
  const auto a = rig::generate::karate().with_value(true);
  const rig::any_pair<bool> reached;
  const auto levels = rig::bfs(a, 0).levels;
  rig::vector<bool> frontier = rig::vector<bool>::from_indices(34, std::vector<int>{0}),
                    seen = frontier;
  auto unseen = rig::complement(rig::structure(seen));
  int level = 0;
  for (; frontier.nnz() > 0; ++level) {
    for (const auto& [node, is_new] : frontier.entries()) CHECK(levels(node, 0) == level);
    frontier = rig::vxm(frontier, a, reached, unseen);
    seen = rig::ewise_add(seen, frontier, rig::binary::logical_or);
    unseen = rig::complement(rig::structure(rig::vector<bool>(seen)));
    reuse_memory();
  }
  CHECK(level == 4);
  CHECK(seen.nnz() == 34);
}

TEST_CASE("an assigned mask: by copy and by move, of each container") {
  const auto a = rig::generate::karate();
  const rig::dense<float> b(34, 34, 1);
  const auto under_mask = [&](const auto& mask) {
    return rig::mxm(a, b, plus_times{}, mask, {.fill = 3});
  };
  const auto each = [&](const auto& first, const auto& second) {
    auto mask = rig::structure(first);
    const auto other = rig::complement(rig::values(second));
    mask = other;
    CHECK(under_mask(mask) == under_mask(other));
    const auto& itself = mask;
    mask = itself;
    CHECK(under_mask(mask) == under_mask(other));
    mask = rig::values(std::decay_t<decltype(first)>(first));  // of a temporary
    reuse_memory();
    CHECK(under_mask(mask) == under_mask(rig::values(first)));
    auto taken = std::move(mask);
    CHECK(under_mask(taken) == under_mask(rig::values(first)));
    taken = std::move(mask = other);
    CHECK(under_mask(taken) == under_mask(other));
  };
  const auto lower = rig::select(a, rig::selection::lower, -1);
  each(a, lower);
  rig::dense<float> full = rig::to_dense(lower);
  const rig::dense<float> before = full;
  each(full, rig::to_dense(a));
  CHECK(full == before);
  // The mask sees later writes to the dense that it is assigned from.
  auto mask = rig::values(rig::dense<float>(34, 34, 1));
  mask = rig::values(full);
  full(5, 5) = 1;
  CHECK(under_mask(mask) == under_mask(rig::values(full)));
  auto kept = rig::structure(rig::maxk(b, 3));
  const rig::dense<float> x = rig::to_dense(a);
  kept = rig::structure(rig::maxk(x, 5));
  reuse_memory();
  CHECK(rig::to_dense(rig::mxm(a, b, plus_times{}, kept)) ==
        rig::to_dense(rig::mxm(a, b, plus_times{}, rig::structure(rig::maxk(x, 5)))));
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
