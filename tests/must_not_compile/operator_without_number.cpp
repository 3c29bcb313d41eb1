// expect: this operator takes a number after it: rig::apply(A, rig::binary::plus, 0.5f)
// errors: 1
#include "rig/rig.hpp"

auto sum(const rig::matrix<float>& a) { return rig::apply(a, rig::binary::plus, {.threads = 1}); }
