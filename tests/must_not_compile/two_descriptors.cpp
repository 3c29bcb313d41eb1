// expect: no matching function for call to
#include "rig/rig.hpp"

auto product(const rig::matrix<float>& a) {
  return rig::mxm(a, a, rig::plus_times<float>{}, {}, {.transpose_a = true});
}
