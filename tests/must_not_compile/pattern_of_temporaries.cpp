// expect: use of deleted function
#include <vector>

#include "rig/pattern.hpp"

auto view() {
  return rig::pattern_view(1, 1, std::vector<int>{0, 1}, std::vector<int>{0}, rig::input::checked);
}
