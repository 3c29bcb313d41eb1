#pragma once

// The CPU kernels of the builtin pairs live in the library: users' builds do not compile them
// again. Included by rig/semirings.hpp, after the semirings.

namespace rig {

struct problem;

namespace on_cpu {

template <class S>
void run(int which, const problem& p);

#define RIG_BUILTIN(semiring, type) extern template void run<semiring<type>>(int, const problem&);
#include "rig/builtin.def"
#undef RIG_BUILTIN

}  // namespace on_cpu
}  // namespace rig
