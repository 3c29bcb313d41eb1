#include "cuda/runtime/driver.hpp"

#include <cstring>

#include "cuda/runtime/shared_library.hpp"

namespace rig::on_cuda {
namespace {

driver_functions find_all() {
  // The driver's own look-up, because the runtime's makes a context on the thread's device.
  decltype(&cuGetProcAddress) look_up = nullptr;
  if (const char* const why = driver_library().why_absent(); why != nullptr)
    fail(errc::device, {why});
  driver_library().find("cuGetProcAddress_v2", look_up);
  driver_functions out = {};
  const auto find = [&](const char* name, auto& function) {
    constexpr int since = 12000;
    void* at = nullptr;
    CUdriverProcAddressQueryResult result;
    if (look_up(name, &at, since, CU_GET_PROC_ADDRESS_DEFAULT, &result) != CUDA_SUCCESS ||
        at == nullptr)
      fail(errc::device, {"the CUDA driver has no function ", name, "; install a newer driver"});
    std::memcpy(&function, &at, sizeof(at));
  };
  find("cuInit", out.start);
  find("cuDeviceGet", out.device);
  find("cuDevicePrimaryCtxRetain", out.retain_context);
  find("cuCtxGetCurrent", out.current_context);
  find("cuCtxSetCurrent", out.set_context);
  find("cuThreadExchangeStreamCaptureMode", out.exchange_mode);
  find("cuStreamIsCapturing", out.is_capturing);
  find("cuLaunchKernel", out.launch);
  find("cuLaunchCooperativeKernel", out.launch_together);
  find("cuGraphCreate", out.create_graph);
  find("cuGraphDestroy", out.destroy_graph);
  find("cuGraphAddKernelNode", out.add_kernel);
  find("cuGraphInstantiateWithFlags", out.instantiate);
  find("cuGraphExecKernelNodeSetParams", out.set_kernel);
  find("cuGraphLaunch", out.launch_graph);
  find("cuEventCreate", out.create_event);
  find("cuEventDestroy", out.destroy_event);
  find("cuEventRecord", out.record);
  find("cuStreamWaitEvent", out.wait);
  check(out.start(0), "cuInit");
  return out;
}

}  // namespace

const shared_library& driver_library() {
  static const auto& found = *new const shared_library({"libcuda.so.1"});
  return found;
}

const driver_functions& driver() {
  static const driver_functions found = find_all();
  return found;
}

}  // namespace rig::on_cuda
