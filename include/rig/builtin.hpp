#pragma once

#include "rig/cpu/run.hpp"
#include "rig/semirings.hpp"

// The CPU kernels of the builtin pairs live in the library: users' builds do not compile them
// again.

namespace rig::on_cpu {

#define RIG_BUILTIN(semiring, type) extern template void run<semiring<type>>(int, const problem&);
#include "rig/builtin.def"
#undef RIG_BUILTIN

}  // namespace rig::on_cpu
