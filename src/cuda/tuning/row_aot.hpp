#pragma once

// The plans of `row` that are compiled ahead. The build reads them from the tuning table.

#include <cstddef>
#include <span>

#include "cuda/tuning/sum_kind.hpp"

namespace rig::on_cuda {

struct aot_plan {
  bool in_vectors;
  int tile_lanes, row_lanes, unroll, coarsening;
  bool plain;
  bool operator==(const aot_plan&) const = default;
};

#include "row_aot_plans.inc"

constexpr std::span<const aot_plan> aot_plans(sum_kind of) {
  return of == sum_kind::weighted     ? std::span<const aot_plan>(aot_weighted)
         : of == sum_kind::unweighted ? std::span<const aot_plan>(aot_unweighted)
                                      : std::span<const aot_plan>(aot_indexed);
}

/// A kernel costs a second or more of a build per builtin pair, and some 10 KB of the library.
constexpr std::size_t most_aot_plans = 32;
static_assert(aot_plans(sum_kind::weighted).size() <= most_aot_plans &&
              aot_plans(sum_kind::unweighted).size() <= most_aot_plans &&
              aot_plans(sum_kind::indexed).size() <= most_aot_plans);

}  // namespace rig::on_cuda
