// expect: a mask is rig::structure(M) or rig::values(M), not M itself
// errors: 1
#include "rig/rig.hpp"

rig::dense<float> product(const rig::matrix<float>& a, const rig::dense<float>& b,
                          const rig::dense<bool>& m) {
  return rig::mxm(a, b, rig::plus_times<float>{}, m);
}
