// expect: mxm: B is a vector; call rig::mxv(A, v, s)
// errors: 1
#include "rig/rig.hpp"

auto product(const rig::matrix<float>& a, const rig::vector<float>& v) {
  return rig::mxm(a, v, rig::plus_times<float>{});
}
