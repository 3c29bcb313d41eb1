#pragma once

// Host functions that the CUDA files share: error checks, streams.

#include <cuda_runtime_api.h>

#include <span>
#include <string>

#include "cuda/runtime/device.hpp"
#include "rig/error.hpp"

namespace rig::on_cuda {

constexpr int most_devices = 64;  ///< devices with state in rig; further devices are not listed

/// Throws error(device), or error(out_of_memory), with CUDA's own words. If a kernel is at fault,
/// the message names rig's last kernel on the device.
[[noreturn]] void fail_by(cudaError_t status, const char* what);
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) fail_by(status, what);
}

/// Multiprocessors of a device.
inline int processors_of(int device) {
  int out = 0;
  check(cudaDeviceGetAttribute(&out, cudaDevAttrMultiProcessorCount, device), "multiprocessors");
  return out;
}

/// Compute capabilities are numbers such as 86.
constexpr int least_capability = 80;
std::string capability_in_words(int capability);  ///< "8.6"
/// Throws error(place) if rig does not serve devices of this capability.
void require_capability(int device, int capability);

/// The architectures that kernels compiled ahead have machine code for, as nvcc writes them: 900.
std::span<const int> aot_architectures();
/// Returns whether a device runs machine code for one of these architectures: it has the
/// architecture's major number, and its minor number or a greater one.
bool has_machine_code(std::span<const int> architectures, int capability);
/// Returns null if the kernels that are compiled ahead run on a device. Otherwise returns the
/// reason why no kernel does if there is no run-time compiler.
const char* no_machine_code_because(int device);

/// Records a launched kernel, because some faults appear only later. `kernel` must stay valid.
void launched(int device, const char* kernel);

/// The name of the last launched kernel, or null. Threads are not ordered.
const char* last_kernel(int device);

inline cudaStream_t stream_of(const problem& p) {
  return static_cast<cudaStream_t>(stream_for(p.a.where.device, p.desc->stream));
}

}  // namespace rig::on_cuda
