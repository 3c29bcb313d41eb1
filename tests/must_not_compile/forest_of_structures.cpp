// expect: weights are float, double, int32, int64, bool, half or bfloat16
// errors: 1
#include "rig/rig.hpp"

struct pixel {
  float r, g;
};

auto forest(const rig::matrix<pixel>& a) { return rig::msf(a); }
