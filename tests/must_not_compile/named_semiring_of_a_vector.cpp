// expect: a named_semiring serves mxm, and mxv of a dense
// errors: 1
#include "rig/rig.hpp"

auto product(const rig::matrix<float>& a, const rig::vector<float>& v) {
  return rig::mxv(a, v, rig::named_semiring<float>("min_plus"));
}
