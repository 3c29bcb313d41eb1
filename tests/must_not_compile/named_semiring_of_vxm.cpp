// expect: a named_semiring serves mxm, and mxv of a dense
// errors: 1
#include "rig/rig.hpp"

auto product(const rig::matrix<float>& a, const rig::dense<float>& u) {
  return rig::vxm(u, a, rig::named_semiring<float>("min_plus"));
}
