// expect: use of deleted function
#include "rig/rig.hpp"

auto others(const rig::cbsr<float>& kept) { return rig::complement(rig::structure(kept)); }
