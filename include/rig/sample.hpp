#pragma once

/// @file
/// Matrices with a part of the entries: `sample` of each row, and `neighbours` of some nodes.

#include <cstdint>
#include <span>
#include <vector>

#include "rig/rearrange.hpp"

namespace rig {

/// Options of `sample`.
/// @code
/// const rig::sampling_options how{.strategy = rig::sampling::fastrand, .width = 64, .seed = 7};
/// @endcode
struct sampling_options {
  sampling strategy = sampling::fastrand;  ///< which entries; `whole`: all of them
  checked_option<"width"> width = 0;       ///< entries per row, 1 … 4096
  std::uint64_t seed = 0;  ///< 0: the entries that the sampled kernels read; else others by seed
  bool rescale = false;    ///< each row's values are multiplied by its entries over those kept
};

/// A matrix with at most `width` entries of each row of A, and their values.
///
///   S(i,j) = A(i,j) · (rescale ? n_i / k_i : 1), for k_i of the n_i entries of row i
///
/// Seed 0 takes the entries that the sampled kernel of that name reads, each once: over a maximum,
/// or where the kernel reads no entry twice, mxm(sample(A), B, s) is its product. By other seeds
/// each entry of a row is as likely as any other. Shapes: as A. Rows not longer than `width` are
/// whole. Deterministic: all places draw the same entries. Cost: O(rows + entries of S · log
/// width). T: float, double, int32, int64, bool, half, bfloat16. Throws error: range (width),
/// cannot (rescale without floats), out_of_memory.
/// @code
/// const auto sampled = rig::sample(A, {.width = 64, .seed = 7});
/// const auto mean = rig::mxm(sampled, B, rig::mean_second<float>{});
/// @endcode
template <class T>
matrix<T> sample(const matrix<T>& a, const sampling_options& how);

}  // namespace rig
