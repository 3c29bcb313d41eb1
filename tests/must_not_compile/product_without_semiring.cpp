// expect: a semiring follows the operands of a product
// errors: 1
#include "rig/rig.hpp"

auto product(const rig::matrix<float>& a, const rig::vector<float>& v) { return rig::vxm(v, a); }
