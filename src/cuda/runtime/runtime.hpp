#pragma once

// Host functions that the CUDA files share: error checks, streams.

#include <cuda_runtime_api.h>

#include <span>
#include <string>
#include <type_traits>

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

/// A number of a device, such as its multiprocessors.
inline int attribute_of(int device, cudaDeviceAttr what) {
  int out = 0;
  check(cudaDeviceGetAttribute(&out, what, device), "cudaDeviceGetAttribute");
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

/// Returns whether a grid has no blocks. CUDA refuses to launch it, so rig launches nothing.
inline bool is_empty(dim3 grid) { return grid.x == 0 || grid.y == 0 || grid.z == 0; }

/// Launches a kernel that nvcc compiled, on the current device, unless the grid is empty.
void launch_kernel(const void* kernel, const char* name, int device, cudaStream_t stream, dim3 grid,
                   dim3 threads, void** parameters);

template <class... Parameters>
void launch_kernel(void (*kernel)(Parameters...), const char* name, int device, cudaStream_t stream,
                   dim3 grid, dim3 threads, std::type_identity_t<Parameters>... given) {
  void* parameters[] = {&given...};
  launch_kernel(reinterpret_cast<const void*>(kernel), name, device, stream, grid, threads,
                parameters);
}

/// Zeroes `bytes` of each of `rows` rows, which begin `stride` bytes apart.
void clear_rows(void* to, std::size_t stride, std::size_t bytes, std::size_t rows,
                cudaStream_t stream, const char* what);

}  // namespace rig::on_cuda
