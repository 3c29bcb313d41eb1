// expect: public static multiply(a, b)
// errors: 1
#include "rig/rig.hpp"

struct scales : rig::plus_times<float> {
  float multiply(float a, float b) { return a * b; }
};

void product(const rig::matrix<float>& a, const rig::dense<float>& b) {
  auto c = rig::mxm(a, b, scales{}, rig::structure(a), {.fill = 0});
}
