// expect: an operator of yours is an empty struct F with a static apply(x, i, j, y)
// errors: 1
#include "rig/rig.hpp"

struct twice {
  static float apply(float x) { return 2 * x; }
};

void twice_into(rig::matrix<float>& c, const rig::matrix<float>& a) {
  rig::apply(c, rig::none, a, twice(), 0);
}
