#pragma once

// The two doors of each CUDA kernel family.

#include "rig/kernels.hpp"

namespace rig::on_cuda {

answer row_answer(const problem& p);
void row_run(const problem& p);

}  // namespace rig::on_cuda
