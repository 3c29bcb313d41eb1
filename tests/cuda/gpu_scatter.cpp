// scatter_add on a GPU.

#include "gpu.hpp"
#include "scatter_cases.hpp"

TEST_CASE("scatter_add") { scatter_cases::check_all(gpu); }

TEST_CASE("scatter_add: operands of two places") {
  auto y = rig::dense<float>(3, 2).to(gpu);
  const rig::dense<float> x(4, 2);
  check_error(rig::errc::place, {"X is on cpu", "Y is on cuda:0", ".to()"},
              [&] { rig::scatter_add(y, rig::none, x, rig::dense<rig::int32>(4, 2)); });
}

TEST_CASE("scatter_add: columns in several parts") {
  random_bits random(test_seed());
  const scatter_cases::sizes s{4 << 20, 5, 40};  // of 40 columns, 32 and 8
  const auto rows = scatter_cases::drawn_rows(s, random);
  const auto x = scatter_cases::drawn<float>(s.m, s.f, random, true);
  const auto y = rig::scatter_add(x.to(gpu), rows.to(gpu), s.r).to(rig::cpu());
  scatter_cases::check_sums(y, nullptr, x, rows, 0x1p-23);
}
