#pragma once

#include <string>
#include <string_view>

#include "rig/kernels/list.hpp"

namespace rig {

/// Throws error(unknown_kernel) unless a kernel has this name, in whichever place. `source` names
/// it: "the descriptor".
void require_known_kernel(const char* operation, const char* source, std::string_view name);

/// What RIG_KERNEL held when this was first called; empty if it is not set. Only tests change it.
std::string& preferred_name();
/// The kernel that RIG_KERNEL names in the problem's place, or null. Throws error(unknown_kernel).
const kernel* preferred_kernel(const problem& p);

/// The kernel's answer, if it serves such operands; otherwise cannot.
answer answer_of(const kernel& k, const problem& p);

/// Whether the kernel runs only by name. On a cbsr `maxk` is exact.
bool is_approximate(const kernel& k, operands asked);

struct choice {
  const kernel* chosen;
  const char* reason;
};

/// The kernel that runs. Throws error(cannot) with the reasons if none can serve.
choice choose(problem& p);

/// The choice, and the answers of the kernels that serve any of these operands; `bytes` predicts
/// the traffic of one.
explanation explanation_of(problem& p, std::string words, operands any_of,
                           double (*bytes)(const kernel&, const problem&));

}  // namespace rig
