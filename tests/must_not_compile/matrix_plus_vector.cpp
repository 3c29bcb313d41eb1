// expect: pass a vector v as the 1xn matrix v.as_row()
// errors: 1
#include "rig/rig.hpp"

auto sum(const rig::matrix<float>& a, const rig::vector<float>& v) {
  return rig::ewise_add(a, v, rig::binary::plus, {.threads = 1});
}
