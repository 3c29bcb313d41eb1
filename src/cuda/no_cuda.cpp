// The CUDA places of a build without CUDA.

#include "rig/kernels/optional_libraries.hpp"
#include "storage/backend.hpp"

namespace rig {

constinit const backend on_cuda::functions = {
    .absent = "this rig was built without CUDA; build it with `PRESET=cuda make build`"};

void set_device_allocator(device_allocator) {}
std::vector<optional_library> optional_libraries() { return {}; }

}  // namespace rig
