#include "rig/place.hpp"

#include "rig/error.hpp"
#include "rig/version.hpp"
#include "storage/backend.hpp"

namespace rig {

void check_place(place where) {
  if (where.where != place::kind::cpu && where.where != place::kind::cuda)
    fail(errc::place, {"a place of kind ", static_cast<int>(where.where),
                       " is neither rig::cpu() nor rig::cuda(device)"});
  if (where.where == place::kind::cpu && where.device != 0)
    fail(errc::place, {"the CPU is one place, and has no device ", where.device,
                       "; write rig::cpu(), or rig::cuda(", where.device, ") for a GPU"});
}

void refuse_absent(place where, const backend& by) {
  fail(errc::place, {to_string(where), " is not available: ", by.absent});
}

std::string to_string(place where) {
  return or_out_of_memory("to_string", [&]() -> std::string {
    if (where.where == place::kind::cpu) return "cpu";
    return "cuda:" + std::to_string(where.device);
  });
}

std::vector<device_info> devices() {
  return or_out_of_memory("devices", [&] {
    std::vector<device_info> all = on_cpu::list_devices();
    if (on_cuda::functions.absent == nullptr)
      for (device_info& device : on_cuda::functions.list_devices())
        all.push_back(std::move(device));
    return all;
  });
}

void synchronise(place where) {
  check_place(where);
  backend_of(where).synchronise(where.device);
}

const char* version() { return version_string; }

}  // namespace rig
