// expect: an operator of yours is an empty struct F with a static apply(x, i, j, y)
// errors: 1
#include "rig/rig.hpp"

auto twice(const rig::matrix<float>& a) {
  return rig::apply(a, [](float x) { return 2 * x; });
}
