// expect: this function takes float, double, int32 or int64
// errors: 1
#include "rig/rig.hpp"

auto scaled(const rig::matrix<bool>& a, std::span<const bool> factors) {
  return rig::scale_rows(rig::scale_columns(a, factors), factors);
}
