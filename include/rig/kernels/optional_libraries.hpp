#pragma once

#include <string>
#include <vector>

// The libraries that this one loads by name when a call needs them.

namespace rig {

struct optional_library {
  const char* name;    ///< such as "libcusparse"
  const char* serves;  ///< what needs it
  std::string path;    ///< the file; empty: the machine has none
};
/// Loads each. A build without CUDA has none.
std::vector<optional_library> optional_libraries();

}  // namespace rig
