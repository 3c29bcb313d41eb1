// expect: finish(x, n)
// errors: 1
#include "rig/rig.hpp"

struct halves : rig::plus_times<float> {
  float finish(float x, rig::int64) { return x / 2; }
};

void product(const rig::matrix<float>& a, const rig::dense<float>& b) {
  auto c = rig::mxm(a, b, halves{});
}
