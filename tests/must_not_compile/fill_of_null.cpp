// expect: a fill is a number
// errors: 1
#include "rig/rig.hpp"

void product(const rig::matrix<float>& a, const rig::dense<float>& b) {
  auto c = rig::mxm(a, b, rig::plus_times<float>{}, {.fill = nullptr});
}
