// expect: at most 8192 bytes
// errors: 1
#include "rig/rig.hpp"

struct sums {
  float of[2500];
};

struct adds_up {
  using left = float;
  using right = float;
  using accum = sums;
  static constexpr sums zero() { return {}; }
  static constexpr sums add(const sums& x, const sums&) { return x; }
  static constexpr sums multiply(float, float) { return {}; }
};

void product(const rig::matrix<float>& a, const rig::dense<float>& b) {
  auto c = rig::mxm(a, b, adds_up{});
}
