// expect: to_text prints elements of rig's number types and those with an operator<<
// errors: 1
#include "rig/rig.hpp"

struct pixel {
  float r, g;
};

auto words(const rig::matrix<pixel>& a) { return rig::to_text(a); }
