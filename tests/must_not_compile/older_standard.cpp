// expect: compile with -std=c++20
// errors: 1
// flags: -std=c++17
#include "rig/rig.hpp"
