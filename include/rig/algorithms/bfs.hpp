#pragma once

/// @file
/// Breadth-first search, from one node and from several.

#include <functional>

#include "rig/dense.hpp"
#include "rig/descriptor.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// What `bfs` computes, and how.
struct bfs_options {
  bool parents = false;  ///< also compute the parents
  /// Build the transpose of A, which A keeps, if A has enough entries per row. Then a level whose
  /// nodes have many arcs reads the arcs into the other nodes instead.
  bool both_directions = true;
  /// Called for each level with its number, from 0 on, and its nodes. `multi_source` counts a node
  /// once per source.
  std::function<void(int, int64)> progress = {};
};

/// What `bfs` finds.
struct bfs_result {
  dense<int32> levels;  ///< n×1, where the graph lies; −1: not reached
  dense<int32>
      parents;  ///< n×1: the source is its own parent; −1: not reached. 0×0 unless computed
  int64 reached = 0;  ///< the number of nodes reached, with the source
  int max_level = 0;  ///< the greatest level
};

/// The number of steps from a source to each node along the arcs.
///
///   level(source) = 0,  level(j) = 1 + min_i level(i) over arcs i → j
///
/// The parent of j is the least i with an arc i → j and level(i) = level(j) − 1. Shapes: A n×n;
/// entry (i, j) is an arc i → j, and its value is not read. Deterministic. A graph with few arcs
/// per node is searched by `closure`, on a device without the host. The descriptor's kernel (push,
/// pull, closure), threads and stream go to the products. Places: all. Cost: O(nnz + n). Throws
/// error: shape, range, cannot, unknown_kernel, out_of_memory. Source: Beamer et al., SC 2012.
/// @code
/// const auto found = rig::bfs(A, 0);
/// std::printf("%d levels, node 2: %d\n", found.max_level + 1, found.levels(2, 0));
/// @endcode
bfs_result bfs(const matrix<bool>& a, int64 source, const bfs_options& given = {},
               const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
bfs_result bfs(const matrix<T>& a, int64 source, const bfs_options& given = {},
               const descriptor& desc = {}) {
  return bfs(a.with_value(true), source, given, desc);
}

/// What `multi_source` finds.
struct multi_source_result {
  dense<int32> levels;  ///< n×K, where the graph lies; −1: not reached
  int64 reached = 0;    ///< the number of levels other than −1
  int max_level = 0;    ///< the greatest level
};

/// The number of steps from K sources to each node: column k holds the levels of sources[k], which
/// have any integer type.
///
/// A node has ⌈K / 64⌉ words, which have a bit per source. A level is one product of Aᵀ with these
/// words, so each row of A is read once for all sources. While few nodes have a bit, only their
/// arcs are read. The digits of the levels are words too, and one product per word makes the levels
/// at the end. Everything else is as for `bfs`, except: the descriptor's kernel is one of a dense
/// product, and then serves each level; parents and both_directions are not used. Cost: at most
/// O(⌈K / 64⌉·(nnz + n)) per level, O(K·n·log(levels)) at the end, and the transpose, which A
/// keeps. Source: Then et al., VLDB 2014.
/// @code
/// const auto both = rig::multi_source(A, std::vector{0, 1});
/// std::printf("node 2: %d and %d steps\n", both.levels(2, 0), both.levels(2, 1));
/// @endcode
multi_source_result multi_source(const matrix<bool>& a, const integers& sources,
                                 const bfs_options& given = {}, const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
multi_source_result multi_source(const matrix<T>& a, const integers& sources,
                                 const bfs_options& given = {}, const descriptor& desc = {}) {
  return multi_source(a.with_value(true), sources, given, desc);
}

}  // namespace rig
