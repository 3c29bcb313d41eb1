// expect: B's storage type does not convert to the semiring's right type
#include "rig/rig.hpp"

struct pair {
  float x, y;
};
struct pair_sums {
  using left = float;
  using right = pair;
  using accum = float;
  static constexpr float zero() { return 0; }
  static constexpr float add(float x, float y) { return x + y; }
  static constexpr float multiply(float a, pair b) { return a * b.x; }
};

rig::dense<float> product(const rig::matrix<float>& a, const rig::quantized& b) {
  return rig::mxm(a, b, pair_sums{});
}
