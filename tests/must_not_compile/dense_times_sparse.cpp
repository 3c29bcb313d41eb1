// expect: the transpose of dense D times matrix A is rig::mxm(A, D, s, {.transpose_a = true
// errors: 1
#include "rig/rig.hpp"

auto product(const rig::dense<float>& d, const rig::matrix<float>& a) {
  return rig::mxm(d, a, rig::plus_times<float>{}, {.threads = 1});
}
