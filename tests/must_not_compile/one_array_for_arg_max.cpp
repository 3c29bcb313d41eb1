// expect: this semiring yields two arrays: give an indexed_dense
#include "rig/rig.hpp"

void product(rig::dense<float>& c, const rig::matrix<float>& a, const rig::dense<float>& b) {
  rig::mxm(c, rig::none, a, b, rig::arg_max_second<float>{});
}
