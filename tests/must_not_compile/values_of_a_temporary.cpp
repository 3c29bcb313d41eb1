// expect: use of deleted function
// errors: 6
#include "rig/rig.hpp"

void values(const rig::matrix<float>& a, const rig::dense<float>& b) {
  static_cast<void>(rig::transpose(a).values());
  static_cast<void>(rig::extract_row(a, 0).values());
  static_cast<void>(rig::extract_row(a, 0).indices());
  static_cast<void>(rig::maxk(b, 2).values());
  static_cast<void>(rig::maxk(b, 2).indices());
  static_cast<void>(rig::quantized::from(b).data());
}
