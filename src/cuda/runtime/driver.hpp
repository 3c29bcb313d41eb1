#pragma once

// Functions of the driver that the runtime has not, or not without a look-up of the thread's state
// or a context made on the thread's device.

#include <cuda.h>

#include "cuda/runtime/runtime.hpp"

namespace rig::on_cuda {

/// Found at run time: the library does not link to the driver, so it loads where there is none.
struct driver_functions {
  decltype(&cuInit) start;
  decltype(&cuDeviceGet) device;
  decltype(&cuDevicePrimaryCtxRetain) retain_context;
  decltype(&cuCtxGetCurrent) current_context;
  decltype(&cuCtxSetCurrent) set_context;
  decltype(&cuThreadExchangeStreamCaptureMode) exchange_mode;
  decltype(&cuStreamIsCapturing) is_capturing;
  decltype(&cuLaunchKernel) launch;
  decltype(&cuGraphCreate) create_graph;
  decltype(&cuGraphDestroy) destroy_graph;
  decltype(&cuGraphAddKernelNode) add_kernel;
  decltype(&cuGraphInstantiateWithFlags) instantiate;
  decltype(&cuGraphExecKernelNodeSetParams) set_kernel;
  decltype(&cuGraphLaunch) launch_graph;
  decltype(&cuEventCreate) create_event;
  decltype(&cuEventDestroy) destroy_event;
  decltype(&cuEventRecord) record;
  decltype(&cuStreamWaitEvent) wait;
};
const driver_functions& driver();

/// The driver numbers its errors as the runtime does.
inline void check(CUresult status, const char* what) {
  check(static_cast<cudaError_t>(status), what);
}

}  // namespace rig::on_cuda
