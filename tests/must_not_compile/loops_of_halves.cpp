// expect: this function takes float, double, int32, int64 or bool
// errors: 1
#include "rig/rig.hpp"

auto with_loops(const rig::matrix<rig::half>& a) { return rig::add_self_loops(rig::symmetrise(a)); }
