#pragma once

// Launches a kernel that `kernel_for` found.

#include "cuda/runtime/kernels.hpp"

namespace rig::on_cuda {

/// Where a call launches its kernels.
struct launch_stream {
  int device;
  cudaStream_t stream;
  bool captured;  ///< a CUDA graph records the call

  /// Returns whether a launch may use what is kept for the stream. Graphs may replay at the same
  /// time, and cudaStreamPerThread names another stream in each thread.
  bool keeps_state() const { return !captured && stream != cudaStreamPerThread; }
};

/// Launches a kernel with `shared` bytes of dynamic shared memory: at most 48 KB, or `most_shared`
/// of its request. An empty grid launches nothing.
void launch(const launch_stream& on, const device_kernel& kernel, dim3 grid, unsigned threads,
            const void* arguments, std::size_t shared = 0);

/// Launches a kernel whose blocks wait for each other: all of them run at once. Throws
/// error(device) if the device has no room for them.
void launch_together(const launch_stream& on, const device_kernel& kernel, unsigned blocks,
                     unsigned threads, const void* arguments);

/// Returns whether a CUDA graph is kept for launches on the stream.
bool has_launch_graph(int device, void* stream);

}  // namespace rig::on_cuda
