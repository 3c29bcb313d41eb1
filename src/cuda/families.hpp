#pragma once

// The two doors of each CUDA kernel family.

#include "arguments.cuh"
#include "rig/kernels.hpp"

namespace rig::on_cuda {

answer row_answer(const problem& p);
void row_run(const problem& p);

/// Kernels of the family that are compiled ahead: each costs build time and bytes.
std::size_t row_entries();

answer split_answer(const problem& p);
void split_run(const problem& p);

answer vendor_answer(const problem& p);
void vendor_run(const problem& p);

/// `row`'s kernel with the lists in `args`, then `combine` for the rows that were cut.
void launch_row(const problem& p, arguments args, index cut_rows);

}  // namespace rig::on_cuda
