#pragma once

// Functions of the driver that the runtime lacks. The runtime offers some of them only with a
// look-up of the thread's state, or with a new context on the thread's device.

#include <cuda.h>

#include "cuda/runtime/runtime.hpp"

namespace rig::on_cuda {

/// Found at run time, not linked, so that the library loads on machines without a driver.
struct driver_functions {
  decltype(&cuInit) start;
  decltype(&cuDeviceGet) device;
  decltype(&cuDevicePrimaryCtxRetain) retain_context;
  decltype(&cuCtxGetCurrent) current_context;
  decltype(&cuCtxSetCurrent) set_context;
  decltype(&cuThreadExchangeStreamCaptureMode) exchange_mode;
  decltype(&cuStreamIsCapturing) is_capturing;
  decltype(&cuLaunchKernel) launch;
  decltype(&cuLaunchCooperativeKernel) launch_together;
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
