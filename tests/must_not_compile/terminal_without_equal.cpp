// expect: sums are compared with terminal() by ==
// errors: 1
#include "rig/rig.hpp"

struct pair {
  float value;
};
struct greatest_pair {
  using left = float;
  using right = float;
  using accum = pair;
  static constexpr pair zero() { return {0}; }
  static constexpr pair add(pair x, pair y) { return x.value < y.value ? y : x; }
  static constexpr pair multiply(float, float b) { return {b}; }
  static constexpr pair terminal() { return {1}; }
};

int main() {
  const rig::matrix<float> a(3, 3);
  rig::mxm(a, a, greatest_pair());
}
