// expect: a call has one mask: join two with rig::ewise_mult
// errors: 1
#include "rig/rig.hpp"

auto product(const rig::matrix<float>& a, const rig::dense<float>& b) {
  return rig::mxm(a, b, rig::plus_times<float>{}, rig::structure(a), rig::structure(a));
}
