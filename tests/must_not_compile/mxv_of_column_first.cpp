// expect: mxv takes the matrix first, rig::mxv(A, u, s)
// errors: 1
#include "rig/rig.hpp"

auto product(const rig::matrix<float>& a, const rig::vector<float>& u) {
  return rig::mxv(u, a, rig::plus_times<float>{}, rig::structure(u));
}
