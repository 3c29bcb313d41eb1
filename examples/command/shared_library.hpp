#pragma once

#include <dlfcn.h>
#include <link.h>

#include <initializer_list>
#include <string>

namespace command {

/// A shared library of the machine, the first of some names that the loader finds.
class shared_library {
 public:
  explicit shared_library(std::initializer_list<const char*> names) {
    for (const char* const name : names)
      if ((opened_ = dlopen(name, RTLD_NOW | RTLD_LOCAL)) != nullptr) return;
  }
  /// Null if there is none.
  void* address_of(const std::string& name) const {
    return opened_ != nullptr ? dlsym(opened_, name.c_str()) : nullptr;
  }
  /// Empty if there is none.
  std::string path() const {
    link_map* loaded = nullptr;
    return opened_ != nullptr && dlinfo(opened_, RTLD_DI_LINKMAP, &loaded) == 0 ? loaded->l_name
                                                                                : "";
  }

 private:
  void* opened_ = nullptr;  // never closed: it may have threads
};

}  // namespace command
