// expect: this semiring yields one array: give a dense
#include "rig/rig.hpp"

void product(rig::indexed_dense<float>& c, const rig::matrix<float>& a,
             const rig::dense<float>& b) {
  rig::mxm(c, rig::none, a, b, rig::plus_times<float>{});
}
