#pragma once

// Shared by the tests of the CUDA side. Without a GPU they end at once, with a notice and the exit
// code that ctest reports as skipped.

#include <cstdio>
#include <cstdlib>

#include "rig/place.hpp"

inline const rig::place gpu = [] {
  if (rig::devices().size() < 2) {
    std::puts("SKIPPED: no CUDA device here");
    std::exit(77);
  }
  return rig::cuda(0);
}();
