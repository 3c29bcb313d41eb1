// scatter_add on the CPU.

#include "scatter_cases.hpp"

TEST_CASE("scatter_add") { scatter_cases::check_all(rig::cpu()); }

TEST_CASE("scatter_add: any number of threads gives the bits of one") {
  random_bits random(test_seed());
  for (const rig::index f : {1, 16, 40, 100}) {
    const scatter_cases::sizes s{5000, 300, f};
    const auto rows = scatter_cases::drawn_rows(s, random);
    const auto x = scatter_cases::drawn<float>(s.m, s.f, random, false);
    const auto one = rig::scatter_add(x, rows, s.r, {.threads = 1});
    for (const int threads : {2, 3, 7}) {
      const auto more = rig::scatter_add(x, rows, s.r, {.threads = threads});
      CHECK(std::memcmp(one.data(), more.data(), sizeof(float) * s.r * s.f) == 0);
    }
  }
}
