// expect: what sums is a rig::binary, such as rig::binary::plus, or a monoid
// errors: 1
#include "rig/rig.hpp"

auto sums(const rig::matrix<float>& a) {
  return rig::reduce_rows(a, [](float x, float y) { return x + y; });
}
