// expect: trivially copyable
// errors: 1
#include <string>

#include "rig/rig.hpp"

struct lengths {
  using left = float;
  using right = std::string;
  using accum = rig::int64;
  static rig::int64 zero() { return 0; }
  static rig::int64 add(rig::int64 x, rig::int64 y) { return x + y; }
  static rig::int64 multiply(float, const std::string& b) {
    return static_cast<rig::int64>(b.size());
  }
};

void product(const rig::matrix<float>& a, const rig::dense<std::string>& b) {
  auto c = rig::mxm(a, b, lengths{});
}
