#pragma once

// RIG_KERNEL for one scope. A process reads the variable once, so tests set what it has read.

#include <string>

namespace rig {
std::string& preferred_name();
}

class preferred_kernel {
 public:
  explicit preferred_kernel(const char* name) : before_(rig::preferred_name()) {
    rig::preferred_name() = name;
  }
  ~preferred_kernel() { rig::preferred_name() = before_; }
  preferred_kernel(const preferred_kernel&) = delete;

 private:
  std::string before_;
};
