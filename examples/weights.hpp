#pragma once

#include <string>

#include "options.hpp"
#include "rig/user_semiring.hpp"

// Weights for graphs without any: --weights synthetic.

namespace example {

/// A weight from 1 to `most` that both directions of an edge share.
RIG_OPERATOR(
    synthetic_weight,
    static constexpr rig::int64 apply(bool, rig::index i, rig::index j, rig::int64 most) {
      const rig::int64 low = i < j ? i : j, high = i < j ? j : i;
      return 1 + (31 * low + 17 * high) % most;
    });

inline rig::matrix<rig::int64> synthetic_weights(const rig::matrix<bool>& graph) {
  return rig::apply(graph, synthetic_weight(), rig::int64(64));
}

inline void check_weights(const std::string& weights) {
  require(weights == "file" || weights == "synthetic",
          "--weights is file or synthetic, not '" + weights + "'");
}

}  // namespace example
