// Compiled once for each line of builtin.def.

#include "rig/cpu/run.hpp"
#include "rig/semirings.hpp"

namespace rig::on_cpu {

template void run<RIG_BUILTIN_SEMIRING<RIG_BUILTIN_TYPE>>(int, const problem&);

}  // namespace rig::on_cpu
