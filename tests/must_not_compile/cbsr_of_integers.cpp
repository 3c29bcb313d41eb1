// expect: constraints not satisfied
#include "rig/rig.hpp"

rig::cbsr<int> retained;
