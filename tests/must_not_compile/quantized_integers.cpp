// expect: no matching function for call to
#include "rig/rig.hpp"

rig::quantized codes(const rig::dense<int>& x) { return rig::quantized::from(x); }
