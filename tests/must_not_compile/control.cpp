// expect: success
#include "rig/rig.hpp"

rig::dense<float> product(const rig::matrix<float>& a, const rig::dense<float>& b) {
  return rig::mxm(a, b, rig::plus_times<float>{}, rig::structure(a));
}
