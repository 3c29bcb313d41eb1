// expect: two containers join by rig::ewise_add(A, B, op)
// errors: 1
#include "rig/rig.hpp"

auto sum(const rig::matrix<float>& a, const rig::dense<float>& b) {
  return rig::apply(a, rig::binary::plus, b);
}
