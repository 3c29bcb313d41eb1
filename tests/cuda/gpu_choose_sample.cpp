// `rig::choose_sample` on a GPU: the choices of the CPU.

#include <doctest/doctest.h>

#include <cmath>

#include "gpu.hpp"
#include "rig/choose_sample.hpp"
#include "rig/generate.hpp"
#include "rig/semirings.hpp"

TEST_CASE("both places choose alike") {
  const auto a = rig::generate::from_text("rmat:12:24");
  rig::dense<float> x(a.columns(), 32);
  for (rig::index i = 0; i < x.rows(); ++i)
    for (rig::index j = 0; j < 32; ++j) x(i, j) = 1 + std::sin(0.37f * i + 1.13f * j);
  const auto a_there = a.to(gpu);
  const auto x_there = x.to(gpu);
  const auto compare = [&](auto s) {
    for (const double tolerance : {0.3, 0.05, 0.01})
      for (const bool narrows : {false, true}) {
        const rig::choice_options how{tolerance, narrows, 300};
        const auto here = rig::choose_sample(a, x, s, how),
                   there = rig::choose_sample(a_there, x_there, s, how);
        CHECK(there.kernel == here.kernel);
        CHECK(there.width == here.width);
        CHECK(there.features == here.features);
        CHECK(there.cost == here.cost);
        CHECK(there.bound == doctest::Approx(here.bound).epsilon(1e-3));
      }
  };
  compare(rig::mean_second<float>{});
  compare(rig::plus_times<float>{});
  compare(rig::max_second<float>{});
}
