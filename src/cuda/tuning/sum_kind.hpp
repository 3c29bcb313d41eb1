#pragma once

namespace rig::on_cuda {

/// The operands of a sum: A's values and B, B alone, or B with indices.
enum class sum_kind { weighted, unweighted, indexed };

}  // namespace rig::on_cuda
