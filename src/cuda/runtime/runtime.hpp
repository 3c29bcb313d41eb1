#pragma once

// What the CUDA files share on the host: error checks, the current device, streams.

#include <cuda_runtime_api.h>

#include "cuda/runtime/device.hpp"
#include "rig/error.hpp"

namespace rig::on_cuda {

constexpr int most_devices = 64;  ///< that rig keeps something for; others are not listed

/// Throws error(device), or error(out_of_memory), with CUDA's own words; where a kernel is at
/// fault, with the name of rig's last one on the device.
[[noreturn]] void fail_by(cudaError_t status, const char* what);
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) fail_by(status, what);
}

/// Remembers a kernel that was launched, for faults that only show later. The name stays where it
/// is.
void launched(int device, const char* kernel);

/// That of the last one, or null. Without an order between threads.
const char* last_kernel(int device);

inline cudaStream_t stream_of(const problem& p) {
  return static_cast<cudaStream_t>(stream_for(p.a.where.device, p.desc->stream));
}

}  // namespace rig::on_cuda
