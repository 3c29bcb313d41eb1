// expect: an element is rig::at(A, 1, 2)
// errors: 1
#include "rig/rig.hpp"

auto element(const rig::matrix<float>& a) { return rig::extract(a, 1, 2); }
