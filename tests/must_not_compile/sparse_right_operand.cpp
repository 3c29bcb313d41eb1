// expect: no matching function for call to
#include "rig/rig.hpp"

rig::dense<float> product(const rig::matrix<float>& a, const rig::matrix<float>& b) {
  return rig::mxm(a, b, rig::plus_times<float>{});
}
