#pragma once

// What the CUDA files share on the host: error checks, the current device, streams.

#include <cuda_runtime_api.h>

#include "device.hpp"
#include "rig/error.hpp"

namespace rig::on_cuda {

/// Throws error(device), or error(place) where there is no device, with CUDA's own words.
void check(cudaError_t status, const char* what);

/// Makes a device current for a scope.
class device_scope {
 public:
  explicit device_scope(int device);
  ~device_scope();
  device_scope(const device_scope&) = delete;

 private:
  int previous_ = 0, device_;
};

inline cudaStream_t stream_of(const problem& p) {
  return static_cast<cudaStream_t>(stream_for(p.a.where.device, p.desc->stream));
}

}  // namespace rig::on_cuda
