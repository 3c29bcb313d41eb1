// expect: a product under the structure of a cbsr is a new cbsr
#include "rig/rig.hpp"

void product(rig::dense<float>& c, const rig::matrix<float>& a, const rig::dense<float>& b,
             const rig::cbsr<float>& y) {
  rig::mxm(c, rig::none, a, b, rig::plus_times<float>{}, rig::structure(y));
}
