// expect: use of deleted function
#include <vector>

#include "rig/vector.hpp"

auto view() {
  const std::vector<int> indices = {0};
  return rig::vector<float>::view(1, indices, std::vector<float>{2});
}
