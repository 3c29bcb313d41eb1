// expect: public static add(x, y)
// errors: 1
#include "rig/rig.hpp"

class hidden : public rig::plus_times<float> {
  static constexpr float add(float x, float y) { return x + y; }
};

void product(const rig::matrix<float>& a, const rig::dense<float>& b) {
  auto e = rig::explain(a, b, hidden{});
}
