// expect: A's storage type does not convert to the semiring's left type
#include "rig/rig.hpp"

rig::dense<float> product(const rig::matrix<const char*>& a, const rig::dense<float>& b) {
  return rig::mxm(a, b, rig::plus_times<float>{});
}
