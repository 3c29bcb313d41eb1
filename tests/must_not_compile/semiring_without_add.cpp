// expect: public static add(x, y)
// errors: 1
#include "rig/rig.hpp"

struct without_add {
  using left = float;
  using right = float;
  using accum = float;
  static constexpr float zero() { return 0; }
  static constexpr float multiply(float a, float b) { return a * b; }
};

rig::dense<float> product(const rig::matrix<float>& a, const rig::dense<float>& b) {
  return rig::mxm(a, b, without_add{});
}
