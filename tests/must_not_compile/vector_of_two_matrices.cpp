// expect: C is of the operands' kind: matrix, vector or dense
// errors: 1
#include "rig/rig.hpp"

void product(rig::vector<float>& c, const rig::matrix<float>& a) {
  rig::ewise_mult(c, rig::none, a, a, rig::binary::times);
}
