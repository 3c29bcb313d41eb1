#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "rig/error.hpp"

namespace rig::on_cuda {

/// A shared library that is opened at run time, so that programs start where it is absent. Never
/// closed, because a product may run while the process ends.
class shared_library {
 public:
  /// Opens the first of `names` that can be opened.
  explicit shared_library(const std::vector<std::string>& names);

  /// Why the library is absent; null if it is open.
  const char* why_absent() const { return opened_ != nullptr ? nullptr : why_.c_str(); }
  /// The file that was opened.
  std::string path() const;

  /// Sets a pointer to a function. Throws error(cannot) if the library is absent or has no function
  /// of that name.
  template <class Function>
  void find(const char* name, Function*& function) const {
    void* const at = address_of(name);
    std::memcpy(&function, &at, sizeof(at));
  }

 private:
  void* address_of(const char* name) const;

  void* opened_ = nullptr;
  std::string why_;
};

const shared_library& driver_library();
/// NVRTC, by the name $RIG_NVRTC if it is set.
const shared_library& compiler_library();

/// The names of a library of the CUDA toolkit: with its version, without it, in the usual folder of
/// toolkits, and in the folder of the build's toolkit.
std::vector<std::string> toolkit_names(const std::string& plain, int version);

}  // namespace rig::on_cuda
