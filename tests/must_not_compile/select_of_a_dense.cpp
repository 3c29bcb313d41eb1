// expect: a dense has every element: make a matrix of it first
// errors: 1
#include "rig/rig.hpp"

auto positive(const rig::dense<float>& b) { return rig::select(b, rig::selection::greater, 0.0f); }
