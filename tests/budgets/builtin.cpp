#include <cstdio>

#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

int main() {
  const auto A = rig::matrix<float>::from_positions(2, 2, std::vector{0, 1}, std::vector{1, 0});
  const rig::dense<float> B(2, 4, 1.0f);
  const auto C = rig::mxm(A, B, rig::plus_times<float>{});
  std::printf("%g\n", C(0, 0));
}
