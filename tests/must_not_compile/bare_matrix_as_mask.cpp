// expect: a mask is rig::structure(M) or rig::values(M), not M itself
// errors: 1
#include "rig/rig.hpp"

void into(rig::matrix<float>& c, const rig::matrix<float>& a) {
  rig::ewise_add(c, rig::none, a, a, rig::binary::plus, a, {.replace = true});
}
