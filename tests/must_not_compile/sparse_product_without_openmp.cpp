// expect: compile with -fopenmp
// errors: 1
// flags: -fno-openmp
#include "rig/rig.hpp"

struct own : rig::plus_times<float> {};

void product(const rig::matrix<float>& a, const rig::matrix<float>& b) {
  auto c = rig::mxm(a, b, own{});
}
