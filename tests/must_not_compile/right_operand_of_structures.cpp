// expect: B's storage type does not convert to the semiring's right type
#include "rig/rig.hpp"

struct pair {
  float x, y;
};

rig::dense<float> product(const rig::matrix<float>& a, const rig::dense<pair>& b) {
  return rig::mxm(a, b, rig::plus_times<float>{});
}
