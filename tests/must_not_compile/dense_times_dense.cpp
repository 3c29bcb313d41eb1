// expect: mxm: dense times dense needs a mask of a matrix, rig::structure(M)
// errors: 1
#include "rig/rig.hpp"

auto product(const rig::dense<float>& d) { return rig::mxm(d, d, rig::plus_times<float>{}); }
