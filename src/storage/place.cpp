#include "rig/place.hpp"

#include <unistd.h>

#include <thread>

#include "cuda/runtime/device.hpp"
#include "rig/error.hpp"
#include "rig/kernels/cpu/isa.hpp"
#include "rig/version.hpp"

namespace rig {

void check_place(place where) {
  if (where.where != place::kind::cpu && where.where != place::kind::cuda)
    fail(errc::place, {"a place of kind ", static_cast<int>(where.where),
                       " is neither rig::cpu() nor rig::cuda(device)"});
  if (where.where == place::kind::cpu && where.device != 0)
    fail(errc::place, {"the CPU is one place, and has no device ", where.device,
                       "; write rig::cpu(), or rig::cuda(", where.device, ") for a GPU"});
}

std::string to_string(place where) {
  return or_out_of_memory("to_string", [&]() -> std::string {
    if (where.where == place::kind::cpu) return "cpu";
    return "cuda:" + std::to_string(where.device);
  });
}

std::vector<device_info> devices() {
  return or_out_of_memory("devices", [&] {
    device_info host;
    host.where = cpu();
    host.name = on_cpu::to_string(on_cpu::instruction_set());
    host.threads = static_cast<int>(std::thread::hardware_concurrency());
    host.memory = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE);
    std::vector<device_info> all = {host};
    for (device_info& device : on_cuda::list_devices()) all.push_back(std::move(device));
    return all;
  });
}

void synchronise(place where) {
  check_place(where);
  if (where.where == place::kind::cuda) on_cuda::synchronise(where.device);
}

const char* version() { return version_string; }

}  // namespace rig
