// expect: const rig::integers&
#include <vector>

#include "rig/rig.hpp"

rig::matrix<float> from(const std::vector<int>& offsets, const std::vector<float>& columns) {
  return rig::matrix<float>::from_csr(1, 1, offsets, columns);
}
