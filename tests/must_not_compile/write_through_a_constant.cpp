// expect: invalid conversion from
#include "rig/rig.hpp"

float* first(const rig::dense<float>& c) { return c.data(); }
