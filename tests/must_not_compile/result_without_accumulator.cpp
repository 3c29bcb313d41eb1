// expect: an accumulator follows an existing result: rig::mxm(C, rig::none, A, B, s)
// errors: 1
#include "rig/rig.hpp"

void product(rig::matrix<float>& c, const rig::matrix<float>& a) {
  rig::mxm(c, a, a, rig::plus_times<float>{}, {.transpose_a = true});
}
