// expect: replaces(sum, x)
// errors: 1
#include "rig/rig.hpp"

struct latest : rig::max_second<float> {
  static constexpr bool replaces(float x) { return x > 0; }
};

void product(const rig::matrix<float>& a, const rig::dense<float>& b) {
  auto c = rig::mxm(a, b, latest{});
}
