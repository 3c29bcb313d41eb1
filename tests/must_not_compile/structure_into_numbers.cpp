// expect: C's storage type does not convert from the semiring's output type
#include "rig/rig.hpp"

struct pair {
  float x, y;
};
struct pair_sums {
  using left = float;
  using right = float;
  using accum = pair;
  static constexpr pair zero() { return {0, 0}; }
  static constexpr pair add(pair a, pair b) { return {a.x + b.x, a.y + b.y}; }
  static constexpr pair multiply(float a, float b) { return {a, b}; }
};

void product(rig::dense<float>& c, const rig::matrix<float>& a, const rig::dense<float>& b) {
  rig::mxm(c, rig::accumulator::own, a, b, pair_sums{});
}
