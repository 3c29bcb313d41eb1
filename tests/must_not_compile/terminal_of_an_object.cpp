// expect: terminal()
// errors: 1
#include "rig/rig.hpp"

struct stops : rig::max_second<float> {
  float terminal() { return rig::highest<float>(); }
};

void product(const rig::matrix<float>& a, const rig::dense<float>& b) {
  auto c = rig::mxm(a, b, stops{});
}
