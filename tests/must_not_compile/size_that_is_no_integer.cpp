// expect: to ‘rig::checked_index’
#include "rig/rig.hpp"

auto zeros(double n) { return rig::dense<float>(n, 1); }
