#include <vector>

#include "rig/rig.hpp"

// A user's program with one builtin pair from the library and one other pair from the headers.
int main() {
  const std::vector<rig::index> from = {0, 1, 1}, to = {1, 0, 2};
  const auto graph = rig::matrix<float>::from_positions(2, 3, from, to);
  const rig::dense<float> features(3, 4, 2.0F);
  const auto sum = rig::mxm(graph, features, rig::plus_times<float>{});
  const auto most = rig::mxm(graph, features, rig::max_second<rig::int32>{});
  return sum(0, 3) == 2 && sum(1, 3) == 4 && most(1, 0) == 2 ? 0 : 1;
}
