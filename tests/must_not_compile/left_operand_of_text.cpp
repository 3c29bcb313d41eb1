// expect: A's storage type does not convert to the semiring's left type
#include <string>

#include "rig/rig.hpp"

rig::dense<float> product(const rig::matrix<std::string>& a, const rig::dense<float>& b) {
  return rig::mxm(a, b, rig::plus_times<float>{});
}
