// expect: C's storage type does not convert from the semiring's output type
#include "rig/rig.hpp"

struct pair {
  float x, y;
};

void product(rig::dense<pair>& c, const rig::matrix<float>& a, const rig::dense<float>& b) {
  rig::mxm(c, rig::none, a, b, rig::plus_times<float>{});
}
