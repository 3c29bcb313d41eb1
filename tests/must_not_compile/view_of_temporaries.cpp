// expect: use of deleted function
#include <vector>

#include "rig/matrix.hpp"

auto view() {
  const std::vector<int> offsets = {0, 1}, columns = {0};
  return rig::matrix<float>::view(1, 1, offsets, columns, std::vector<float>{2});
}
