// expect: public types left, right and accum
// errors: 1
#include "rig/check_semiring.hpp"

const auto wrong = rig::check_semiring<float>();
