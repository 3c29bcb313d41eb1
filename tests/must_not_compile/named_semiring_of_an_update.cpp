// expect: this product takes a semiring by its type
#include "rig/rig.hpp"

auto product(const rig::matrix<float>& a, const rig::dense<float>& x) {
  return rig::mxm_update(a, x, x, rig::named_semiring<float>("plus_times"));
}
