// expect: no matching function for call to
#include <vector>

#include "rig/rig.hpp"

rig::matrix<float> build(const std::vector<int>& i, const std::vector<float>& v) {
  return rig::matrix<float>::from_tuples(2, 2, i, i, v, [](float x) { return x; });
}
