// expect: vxm takes the column first, rig::vxm(u, A, s)
// errors: 1
#include "rig/rig.hpp"

auto product(const rig::matrix<float>& a, const rig::dense<float>& u) {
  return rig::vxm(a, u, rig::plus_times<float>{}, {.threads = 1});
}
