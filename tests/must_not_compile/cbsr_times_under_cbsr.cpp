// expect: under the structure of a cbsr, B must be a dense
#include "rig/rig.hpp"

auto product(const rig::matrix<float>& a, const rig::cbsr<float>& b) {
  return rig::mxm(a, b, rig::plus_times<float>{}, rig::structure(b));
}
