// A debug build (-O0): semirings of the caller use no instruction sets that need an optimiser.

#include <doctest/doctest.h>

#include "rig/generate.hpp"
#include "rig/mxm.hpp"

#ifdef __OPTIMIZE__
#error "this file is to be compiled without optimisation"
#endif

namespace {

struct sum_of_products {
  using left = float;
  using right = float;
  using accum = float;
  static constexpr float zero() { return 0; }
  static constexpr float add(float x, float y) { return x + y; }
  static constexpr float multiply(float a, float b) { return a * b; }
};

template <int W>
bool is_baseline() {
  using namespace rig::on_cpu;
  const auto tile = W == 0 ? column_tile<sum_of_products>() : tile_for<sum_of_products>(W);
  return tile == tile_baseline<sum_of_products, W>;
}

TEST_CASE("without optimisation the tiles are the baseline's") {
  CHECK(is_baseline<0>());
  CHECK(is_baseline<1>());
  CHECK(is_baseline<4>());
  CHECK(is_baseline<2>());
}

TEST_CASE("a product of a debug build") {
  const auto a = rig::generate::grid(9, 9);
  for (const int features : {1, 2, 33, 200}) {
    const rig::dense<float> b(a.columns(), features, 0.5f);
    const auto c = rig::mxm(a, b, sum_of_products{});
    for (rig::index i = 0; i < a.rows(); ++i) {
      const auto length = a.structure().offset(i + 1) - a.structure().offset(i);
      for (rig::index j = 0; j < features; ++j) CHECK(c(i, j) == 0.5f * static_cast<float>(length));
    }
  }
}

}  // namespace
