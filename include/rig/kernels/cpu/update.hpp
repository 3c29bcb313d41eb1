#pragma once

#include "rig/kernels/list.hpp"

namespace rig::on_cpu {

/// `update` on a CPU.
answer update_answer(const problem& p);
void update_run(const problem& p, workspace& work);

}  // namespace rig::on_cpu
