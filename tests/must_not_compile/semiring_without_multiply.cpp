// expect: public static multiply(a, b)
// errors: 1
#include "rig/rig.hpp"

struct without_multiply {
  using left = float;
  using right = float;
  using accum = float;
  static constexpr float zero() { return 0; }
  static constexpr float add(float x, float y) { return x + y; }
};
static_assert(!rig::semiring<without_multiply>);

rig::dense<float> product(const rig::matrix<float>& a, const rig::dense<float>& b) {
  return rig::mxm(a, b, without_multiply{});
}
