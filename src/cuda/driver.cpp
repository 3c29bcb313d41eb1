#include "driver.hpp"

#include <type_traits>

namespace rig::on_cuda {

const driver_functions& driver() {
  static const driver_functions found = [] {
    driver_functions out = {};
    const auto find = [](const char* name, auto& function) {
      constexpr unsigned since = 12000;
      void* at = nullptr;
      cudaDriverEntryPointQueryResult result;
      check(cudaGetDriverEntryPointByVersion(name, &at, since, cudaEnableDefault, &result), name);
      if (at == nullptr) fail(errc::device, {"the driver has no ", name});
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(at);
    };
    find("cuLaunchKernel", out.launch);
    find("cuGraphCreate", out.create_graph);
    find("cuGraphDestroy", out.destroy_graph);
    find("cuGraphAddKernelNode", out.add_kernel);
    find("cuGraphInstantiateWithFlags", out.instantiate);
    find("cuGraphExecKernelNodeSetParams", out.set_kernel);
    find("cuGraphLaunch", out.launch_graph);
    find("cuEventRecord", out.record);
    find("cuStreamWaitEvent", out.wait);
    return out;
  }();
  return found;
}

}  // namespace rig::on_cuda
