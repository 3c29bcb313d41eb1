#include <cstdio>

#include "rig/mxm.hpp"

struct longest {
  using left = float;
  using right = float;
  using accum = float;
  static constexpr const char* name = "longest";
  static constexpr float zero() { return rig::lowest<float>(); }
  static constexpr float add(float x, float y) { return rig::maximum(x, y); }
  static constexpr float multiply(float a, float b) { return a + b; }
};

int main() {
  const auto A = rig::matrix<float>::from_positions(2, 2, std::vector{0, 1}, std::vector{1, 0});
  std::printf("%g\n", rig::mxm(A, rig::dense<float>(2, 4, 1.0f), longest{})(0, 0));
}
