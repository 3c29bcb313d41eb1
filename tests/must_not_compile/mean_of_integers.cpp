// expect: this function takes float or double: convert with rig::apply<float>
// errors: 1
#include "rig/rig.hpp"

auto mean(const rig::matrix<int>& a) { return rig::mean_normalise(a); }
