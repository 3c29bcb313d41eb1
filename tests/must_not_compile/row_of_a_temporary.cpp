// expect: use of deleted function
// errors: 5
#include "rig/rig.hpp"

auto row(const rig::matrix<float>& a, const rig::dense<float>& b) {
  const auto s = rig::plus_times<float>{};
  const float fine = rig::mxm(a, b, s)(0, 0);
  static_cast<void>(rig::mxm(a, b, s).data() + rig::mxm(a, b, s).span().size());
  static_cast<void>(rig::mxm(a, b, s).begin() - rig::mxm(a, b, s).end());
  return rig::mxm(a, b, s).row(0).size() + static_cast<std::size_t>(fine);
}
