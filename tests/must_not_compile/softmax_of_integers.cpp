// expect: this function takes float, double, half or bfloat16
// errors: 1
#include "rig/rig.hpp"

auto attention(const rig::matrix<int>& a) { return rig::edge_softmax(a); }
