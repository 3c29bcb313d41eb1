// expect: a rig::unary takes no number
// errors: 1
#include "rig/rig.hpp"

auto absolute(const rig::matrix<float>& a) { return rig::apply(a, rig::unary::absolute, 1.0f); }
