#pragma once

#include <string_view>

#include "rig/kernels/list.hpp"

/// Whether a kernel of the CPU serves every product with a dense B, exactly. `sell` serves one
/// column alone; the table of kernels.cpp runs it.
inline bool serves_every_dense(const rig::kernel& k) {
  return k.where == rig::place::kind::cpu && !k.approximate && k.takes == rig::operands::dense &&
         k.name != std::string_view("sell");
}
