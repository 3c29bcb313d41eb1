// expect: a semiring is its type and holds no values
// errors: 1
#include "rig/rig.hpp"

struct decays : rig::plus_times<float> {
  static inline float rate = 0;
  explicit decays(float of) { rate = of; }
};

void product(const rig::matrix<float>& a, const rig::dense<float>& b) {
  auto c = rig::mxm(a, b, decays(0.5f));
}
