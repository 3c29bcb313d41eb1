// expect: a call has one mask: join two with rig::ewise_mult
// errors: 1
#include "rig/rig.hpp"

void sum(rig::matrix<float>& c, const rig::matrix<float>& a) {
  rig::ewise_add(c, rig::none, a, a, rig::binary::plus, rig::structure(a), rig::values(a));
}
