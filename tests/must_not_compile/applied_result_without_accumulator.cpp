// expect: an accumulator follows an existing result
// errors: 1
#include "rig/rig.hpp"

void absolute(rig::matrix<float>& c, const rig::matrix<float>& a) {
  rig::apply(c, a, rig::unary::absolute);
}
