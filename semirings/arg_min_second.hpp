#pragma once

#include "rig/semirings/arg_max_second.hpp"

namespace rig {

/// `arg_second` that returns the least value.
template <class T>
using arg_min_second = arg_second<T, false>;

}  // namespace rig
