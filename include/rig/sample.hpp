#pragma once

/// @file
/// Matrices with a part of the entries: `sample` of each row, and `neighbours` of some nodes.

#include <cstdint>
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
/// or where the kernel reads no entry twice, mxm(sample(A), B, s) is its product, but for
/// rounding. By other seeds each entry of a row is as likely as any other. Shapes: as A. Rows not
/// longer than `width` are whole. Deterministic: all places draw the same entries. Cost: O(rows +
/// entries of S · log width). T: float, double, int32, int64, bool, half, bfloat16. Throws error:
/// range (width), cannot (rescale without floats), out_of_memory.
/// @code
/// const auto sampled = rig::sample(A, {.width = 64, .seed = 7});
/// const auto mean = rig::mxm(sampled, B, rig::mean_second<float>{});
/// @endcode
template <class T>
matrix<T> sample(const matrix<T>& a, const sampling_options& how);

/// The graph of a mini-batch: `neighbours` makes it.
/// @code
/// const auto batch = rig::neighbours(A, std::vector{2, 0}, {10, 5}, 1);
/// const auto X_of_batch = rig::extract(X, batch.nodes, rig::all);
/// @endcode
template <class T>
struct neighbourhood {
  /// One per layer: blocks[l] gathers what layer l gives to its rows. Its rows are the columns of
  /// blocks[l + 1], and the seeds in the last one.
  std::vector<matrix<T>> blocks;
  /// The nodes that the columns of blocks[0] stand for, one below the other: first the seeds, in
  /// their order. The columns of blocks[l] are the first blocks[l].columns() of them.
  dense<index> nodes;
};

/// Sampled neighbours of some nodes, their neighbours, and so on: a block for each layer of a
/// network, with numbers of its own.
///
///   B(i,j) = A(nodes[i], nodes[j]), for at most fan_outs[h] of the entries of row nodes[i]
///
/// `fan_outs` has 1 … 4096 for each hop from the seeds, or −1 for every entry; blocks have the
/// reverse order, as layers do. Each entry of a row is as likely as any other, and a hop draws for
/// all nodes so far. Shapes: A n×n; the seeds differ. Deterministic: all places draw the same.
/// Places: all; a device is waited for. Cost per hop: O(entries drawn), and O(n) on a device. T: as
/// for `sample`. Throws error: shape, range, duplicate, out_of_memory. Source: GraphSAGE.
/// @code
/// const auto batch = rig::neighbours(A, std::vector{2, 0}, {10, 5}, 1);
/// const auto mean = rig::mxm(batch.blocks[0], rig::extract(X, batch.nodes, rig::all),
///                            rig::mean_second<float>{});
/// @endcode
template <class T>
neighbourhood<T> neighbours(const matrix<T>& a, const indices& seeds,
                            const std::vector<index>& fan_outs, std::uint64_t seed);

}  // namespace rig
