#include "cuda/runtime/launch.hpp"

#include "cuda/runtime/graphs.hpp"

namespace rig::on_cuda {

void launch_kernel(const void* kernel, const char* name, int device, cudaStream_t stream, dim3 grid,
                   dim3 threads, void** parameters) {
  if (is_empty(grid)) return;
  check(cudaLaunchKernel(kernel, grid, threads, parameters, 0, stream), name);
  launched(device, name);
}

void launch(const launch_stream& on, const device_kernel& kernel, dim3 grid, unsigned threads,
            const void* arguments, std::size_t shared) {
  if (is_empty(grid)) return;
  void* parameters[] = {const_cast<void*>(arguments)};
  void* const handle = const_cast<void*>(kernel.handle);
  CUDA_KERNEL_NODE_PARAMS what = {};
  what.kern = static_cast<CUkernel>(handle);
  what.gridDimX = grid.x;
  what.gridDimY = grid.y;
  what.gridDimZ = grid.z;
  what.blockDimX = threads;
  what.blockDimY = what.blockDimZ = 1;
  what.sharedMemBytes = static_cast<unsigned>(shared);
  what.kernelParams = parameters;
  if (!on.keeps_state() || !launch_as_graph(on.device, on.stream, what, kernel.name))
    // The driver accepts a kernel's handle as a function.
    check(driver().launch(static_cast<CUfunction>(handle), grid.x, grid.y, grid.z, threads, 1, 1,
                          what.sharedMemBytes, on.stream, parameters, nullptr),
          kernel.name);
  launched(on.device, kernel.name);
}

void launch_together(const launch_stream& on, const device_kernel& kernel, unsigned blocks,
                     unsigned threads, const void* arguments) {
  void* parameters[] = {const_cast<void*>(arguments)};
  void* const handle = const_cast<void*>(kernel.handle);
  check(driver().launch_together(static_cast<CUfunction>(handle), blocks, 1, 1, threads, 1, 1, 0,
                                 on.stream, parameters),
        kernel.name);
  launched(on.device, kernel.name);
}

}  // namespace rig::on_cuda
