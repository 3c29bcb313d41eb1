// expect: this function takes float or double: convert with rig::apply<float>
// errors: 1
#include "rig/rig.hpp"

auto convolution(const rig::matrix<bool>& a) { return rig::gcn_normalise(a); }
