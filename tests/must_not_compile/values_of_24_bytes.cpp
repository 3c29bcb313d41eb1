// expect: a matrix's values have at most 16 bytes
#include "rig/rig.hpp"

struct three {
  double x, y, z;
};

struct add_up {
  using left = three;
  using right = three;
  using accum = three;
  static constexpr three zero() { return {0, 0, 0}; }
  static constexpr three add(three a, three b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  static constexpr three multiply(three a, three) { return a; }
};

rig::dense<three> product(const rig::matrix<three>& a, const rig::dense<three>& b) {
  return rig::mxm(a, b, add_up{});
}
