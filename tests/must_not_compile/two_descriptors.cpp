// expect: a call has one descriptor: write all options in it
// errors: 1
#include "rig/rig.hpp"

auto product(const rig::matrix<float>& a) {
  return rig::mxm(a, a, rig::plus_times<float>{}, {}, {.transpose_a = true});
}
