// expect: the operator is a rig::binary, such as rig::binary::plus, or a semiring
// errors: 1
#include "rig/rig.hpp"

auto sum(const rig::matrix<float>& a) {
  return rig::ewise_add(a, a, [](float x, float y) { return x + y; });
}
