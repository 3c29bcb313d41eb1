// expect: trivially copyable
// errors: 1
#include <string>

#include "rig/rig.hpp"

struct joins {
  using left = float;
  using right = float;
  using accum = std::string;
  static std::string zero() { return {}; }
  static std::string add(std::string x, std::string y) { return x + y; }
  static std::string multiply(float a, float b) { return std::to_string(a * b); }
};

void product(const rig::matrix<float>& a, const rig::dense<float>& b) {
  auto c = rig::mxm(a, b, joins{});
}
