// Any argument may share memory with any other: the result is as if the inputs were copied first.

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "rig/mxm.hpp"
#include "rig/semirings.hpp"
#include "seed.hpp"

namespace {

using rig::dense;
using rig::index;

constexpr index n = 40, f = 40;

/// A random square graph; the caller owns its value array.
struct graph {
  std::vector<int> offsets{0}, columns;
  std::vector<float> weights;
  explicit graph(unsigned long seed) {
    random_bits random(seed);
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j)
        if (random.chance(0.2)) columns.push_back(j);
      offsets.push_back(static_cast<int>(columns.size()));
    }
    for (std::size_t p = 0; p < columns.size(); ++p)
      weights.push_back(static_cast<float>(random.below(9) - 4));
  }
  rig::matrix<float> over(const float* values) const {
    return rig::matrix<float>::view(n, n, std::span<const int>(offsets),
                                    std::span<const int>(columns),
                                    std::span<const float>(values, columns.size()));
  }
};

std::vector<float> random_floats(std::size_t count) {
  random_bits random(test_seed() + 7);
  std::vector<float> out(count);
  for (float& x : out) x = static_cast<float>(random.below(9) - 4);
  return out;
}

bool equal(const dense<float>& x, const dense<float>& y) {
  for (index i = 0; i < n; ++i)
    if (std::memcmp(x.row(i).data(), y.row(i).data(), f * sizeof(float)) != 0) return false;
  return true;
}

/// Checks that the product into `c`, a part of `memory`, equals the product of copies.
template <class Product>
void check_as_if_copied(std::vector<float>& memory, std::size_t c_at, Product product) {
  std::vector<float> apart = memory;
  auto into = dense<float>::view(memory.data() + c_at, n, f);
  dense<float> want = dense<float>::view(apart.data() + c_at, n, f);
  dense<float> separate = want;  // copies are deep
  product(separate, apart.data());
  product(into, memory.data());
  CHECK(equal(into, separate));
}

const std::vector<rig::descriptor>& descriptors() {
  static const std::vector<rig::descriptor> all = {
      {}, {.transpose_a = true}, {.transpose_b = true}, {.replace = true}, {.kernel = "split"}};
  return all;
}

TEST_CASE("C is B, and C overlaps B") {
  const graph g(test_seed());
  const rig::matrix<float> a = g.over(g.weights.data());
  for (const rig::descriptor& desc : descriptors())
    for (const std::size_t shift : {0, 1, 17, 40, 41, 800, 1599}) {
      std::vector<float> memory = random_floats(2 * n * f);
      check_as_if_copied(memory, shift, [&](dense<float>& c, float* base) {
        const auto b = dense<float>::view(static_cast<const float*>(base), n, f);
        rig::mxm(c, rig::accumulator::plus, a, b, rig::plus_times<float>{}, desc);
      });
    }
}

TEST_CASE("C is the mask") {
  const graph g(test_seed() + 1);
  const rig::matrix<float> a = g.over(g.weights.data());
  const dense<float> b = dense<float>::from(n, f, random_floats(n * f));
  for (const rig::descriptor& desc : descriptors())
    for (const std::size_t shift : {0, 1, 40}) {
      std::vector<float> memory = random_floats(2 * n * f);
      check_as_if_copied(memory, shift, [&](dense<float>& c, float* base) {
        const auto m = dense<float>::view(static_cast<const float*>(base), n, f);
        rig::mxm(c, rig::none, a, b, rig::plus_times<float>{}, rig::complement(rig::values(m)),
                 desc);
      });
    }
}

TEST_CASE("C lies over the values of A, or of a sparse mask") {
  const graph g(test_seed() + 2);
  const dense<float> b = dense<float>::from(n, f, random_floats(n * f));
  for (const rig::descriptor& desc : descriptors()) {
    std::vector<float> memory = random_floats(n * f + g.columns.size());
    check_as_if_copied(memory, 3, [&](dense<float>& c, float* base) {
      rig::mxm(c, rig::none, g.over(base), b, rig::plus_times<float>{}, desc);
    });
    const rig::matrix<float> a = g.over(g.weights.data());
    check_as_if_copied(memory, 0, [&](dense<float>& c, float* base) {
      rig::mxm(c, rig::none, a, b, rig::plus_times<float>{}, rig::values(g.over(base)), desc);
    });
  }
}

TEST_CASE("C, B, A's values and the mask are one piece of memory") {
  const graph g(test_seed() + 3);
  for (const rig::descriptor& desc : descriptors()) {
    std::vector<float> memory = random_floats(n * f);
    check_as_if_copied(memory, 0, [&](dense<float>& c, float* base) {
      const auto b = dense<float>::view(static_cast<const float*>(base), n, f);
      rig::mxm(c, rig::accumulator::own, g.over(base), b, rig::plus_times<float>{}, rig::values(b),
               desc);
    });
  }
}

TEST_CASE("arrays of an indexed result lie over B") {
  const graph g(test_seed() + 4);
  const rig::matrix<float> a = g.over(g.weights.data());
  std::vector<int> memory(n * f);
  random_bits random(test_seed());
  for (int& x : memory) x = random.below(50);
  const auto b = dense<int>::view(static_cast<const int*>(memory.data()), n, f);
  const auto want = rig::mxm(a, dense<int>(b), rig::arg_max_second<int>{});
  for (const bool over_values : {false, true}) {
    std::vector<int> kept = memory;
    rig::indexed_dense<int> c{dense<int>(n, f), dense<int>(n, f)};
    (over_values ? c.values : c.indices) = dense<int>::view(memory.data(), n, f);
    rig::mxm(c, rig::none, a, b, rig::arg_max_second<int>{});
    for (index i = 0; i < n; ++i)
      for (index j = 0; j < f; ++j) {
        REQUIRE(c.values(i, j) == want.values(i, j));
        REQUIRE(c.indices(i, j) == want.indices(i, j));
      }
    memory = kept;
  }
}

TEST_CASE("a strided C between the columns of B") {
  // B and C are the left and right halves of one array: extents overlap, elements do not.
  const graph g(test_seed() + 5);
  const rig::matrix<float> a = g.over(g.weights.data());
  std::vector<float> memory = random_floats(n * 2 * f);
  const auto b = dense<float>::view(memory.data(), n, f, 2 * f);
  auto c = dense<float>::view(memory.data() + f, n, f, 2 * f);
  const dense<float> b_copy = b;
  const dense<float> want = rig::mxm(a, b_copy, rig::plus_times<float>{});
  rig::mxm(c, rig::none, a, b, rig::plus_times<float>{});
  CHECK(equal(c, want));
  CHECK(equal(b, b_copy));
}

}  // namespace
