// expect: use of deleted function
#include "rig/rig.hpp"

auto others(const rig::cbsr<float>& retained) { return rig::complement(rig::structure(retained)); }
