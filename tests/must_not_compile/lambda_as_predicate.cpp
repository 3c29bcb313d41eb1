// expect: an operator of yours is an empty struct F with a static apply(x, i, j, y)
// errors: 1
#include "rig/rig.hpp"

auto positive(const rig::matrix<float>& a) {
  return rig::select(a, [](float x) { return x > 0; });
}
