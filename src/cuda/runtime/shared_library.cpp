#include "cuda/runtime/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>

namespace rig::on_cuda {

shared_library::shared_library(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    opened_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened_ != nullptr) return;
    if (why_.empty()) why_ = dlerror();
  }
}

std::string shared_library::path() const {
  link_map* loaded = nullptr;
  return opened_ != nullptr && dlinfo(opened_, RTLD_DI_LINKMAP, &loaded) == 0 ? loaded->l_name : "";
}

void* shared_library::address_of(const char* name) const {
  if (opened_ == nullptr) fail(errc::cannot, {name, ": ", why_});
  void* const at = dlsym(opened_, name);
  if (at == nullptr) fail(errc::cannot, {path(), " has no function ", name});
  return at;
}

std::vector<std::string> toolkit_names(const std::string& plain, int version) {
  const std::string numbered = plain + "." + std::to_string(version);
  return {numbered, plain, "/usr/local/cuda/lib64/" + numbered,
          RIG_TOOLKIT_LIBRARIES "/" + numbered};
}

}  // namespace rig::on_cuda
