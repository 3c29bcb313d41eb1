#pragma once

// Entries in another order: the transpose of a pattern.

#include "rig/pattern.hpp"

namespace rig {

/// The transpose of a pattern on the CPU; entry q of it is entry permutation[q] of the pattern.
std::shared_ptr<const pattern> transpose(const pattern& original, buffer& permutation);

}  // namespace rig
