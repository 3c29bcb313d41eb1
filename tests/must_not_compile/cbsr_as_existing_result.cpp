// expect: a cbsr is immutable and cannot be an existing result
#include "rig/rig.hpp"

void product(rig::cbsr<float>& c, const rig::matrix<float>& a, const rig::dense<float>& b) {
  rig::mxm(c, rig::none, a, b, rig::plus_times<float>{});
}
