// expect: a cbsr holds float, double, half or bfloat16
#include "rig/rig.hpp"

auto product(const rig::matrix<int>& a, const rig::dense<int>& b,
             const rig::cbsr<float>& retained) {
  return rig::mxm(a, b, rig::plus_times<int>{}, rig::structure(retained));
}
