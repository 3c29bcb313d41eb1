// expect: this operator takes a number after it: rig::apply(A, rig::binary::plus, 0.5f)
// errors: 1
#include "rig/rig.hpp"

void part(rig::matrix<float>& c, const rig::matrix<float>& a) {
  rig::select(c, rig::none, a, rig::selection::lower, rig::structure(a));
}
