#pragma once

// CUDA graphs of one kernel each, kept for the launches of a stream.

#include "cuda/runtime/driver.hpp"

namespace rig::on_cuda {

/// Launches a kernel by the graph of its stream. Returns false, without a launch, if the stream has
/// no graph or its graph does not take this kernel.
bool launch_as_graph(int device, CUstream stream, const CUDA_KERNEL_NODE_PARAMS& what,
                     const char* name);

}  // namespace rig::on_cuda
