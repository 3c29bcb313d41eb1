#pragma once

// The rules of `hybrid`, for its answer, its launch, tests and the benchmark.

#include "cuda/analysis/windows.hpp"
#include "cuda/tuning/table.hpp"

namespace rig::on_cuda {

/// The selector that a row of section `hybrid` holds, in thousandths.
window_fit fit_of(const tuning_row& row);

/// The estimated time of `hybrid` over that of `row`: windows that run on Tensor cores count by
/// their density over the least density that the selector sends there, the others by the imbalance
/// of their rows.
double hybrid_over_row(const windows& of, const window_fit& fit, int64 nnz, double imbalance);

}  // namespace rig::on_cuda
