#pragma once

/// @file
/// Graph algorithms over ranks: `bfs`, `sssp`, `components`, `pagerank`.
///
/// A is square, its parts are on the CPU. Results are columns in A's layout. Options are the same
/// on all ranks, but for progress, which a rank may have alone. All calls are collective, and throw
/// on all ranks what they throw on one.

#include <optional>
#include <type_traits>
#include <utility>

#include "rig/algorithms/bfs.hpp"
#include "rig/algorithms/components.hpp"
#include "rig/algorithms/pagerank.hpp"
#include "rig/algorithms/sssp.hpp"
#include "rig/distributed_dense.hpp"
#include "rig/distributed_matrix.hpp"

namespace rig {

/// @cond internal
namespace over_ranks {

/// A without its values. Collective.
template <class T>
distributed<matrix<bool>> pattern_of(const char* name, const distributed<matrix<T>>& a) {
  std::optional<distributed<matrix<bool>>> made;
  agree(a.communicator(), name, [&] { made.emplace(a.with_value(true)); });
  return *std::move(made);
}

}  // namespace over_ranks
/// @endcond

/// What `bfs` finds over ranks.
template <>
class distributed<bfs_result> {
 public:
  distributed<dense<int32>> levels;  ///< n×1; −1: not reached
  int64 reached;                     ///< the number of nodes reached, with the source
  int max_level;                     ///< the greatest level

  /// Of a search that is done.
  distributed(distributed<dense<int32>> levels_of, int64 nodes, int level)
      : levels(std::move(levels_of)), reached(nodes), max_level(level) {}
};
/// What `sssp` finds over ranks.
template <class T>
class distributed<sssp_result<T>> {
 public:
  distributed<dense<T>> distances;  ///< n×1; the greatest int64, or ∞: not reached
  int64 reached;                    ///< the number of nodes reached, with the source
  int steps;                        ///< how many rounds were made

  /// Of a search that is done.
  distributed(distributed<dense<T>> distances_of, int64 nodes, int rounds)
      : distances(std::move(distances_of)), reached(nodes), steps(rounds) {}
};
/// What `components` finds over ranks.
template <>
class distributed<components_result> {
 public:
  distributed<dense<int32>> labels;  ///< n×1: the smallest node of the component
  int64 count;                       ///< the number of components

  /// Of a search that is done.
  distributed(distributed<dense<int32>> labels_of, int64 number)
      : labels(std::move(labels_of)), count(number) {}
};
/// What `pagerank` finds over ranks.
template <>
class distributed<pagerank_result> {
 public:
  distributed<dense<double>> ranks;  ///< n×1; their sum is 1, unless n is 0
  int iterations;                    ///< how many were made
  double change;                     ///< Σ |r − r_before| of the last one

  /// Of an iteration that is done.
  distributed(distributed<dense<double>> ranks_of, int number, double last)
      : ranks(std::move(ranks_of)), iterations(number), change(last) {}
};

/// `bfs` over ranks, without parents: the levels of one rank. It is `closure` over ranks: a product
/// per level. Throws error: as `bfs` and `closure`; cannot, for parents or a kernel's name.
/// @code
/// const auto found = rig::bfs(parts_of_A, 0);
/// std::printf("%ld nodes reached\n", long(found.reached));
/// @endcode
distributed<bfs_result> bfs(const distributed<matrix<bool>>& a, int64 source,
                            const bfs_options& given = {}, const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
distributed<bfs_result> bfs(const distributed<matrix<T>>& a, int64 source,
                            const bfs_options& given = {}, const descriptor& desc = {}) {
  return bfs(over_ranks::pattern_of("bfs", a), source, given, desc);
}

/// `sssp` over ranks: the distances of one rank. It is `closure` over ranks; delta has no effect.
/// Throws error: as `sssp` and `closure`; cannot, for a kernel's name.
/// @code
/// const auto found = rig::sssp(parts_of_A, 0);
/// std::printf("%ld nodes reached\n", long(found.reached));
/// @endcode
distributed<sssp_result<double>> sssp(const distributed<matrix<double>>& a, int64 source,
                                      const sssp_options& given = {}, const descriptor& desc = {});
/// The same for integers.
distributed<sssp_result<int64>> sssp(const distributed<matrix<int64>>& a, int64 source,
                                     const sssp_options& given = {}, const descriptor& desc = {});
/// The same for weights of rig's other types, which are converted to int64 or double.
template <class T>
auto sssp(const distributed<matrix<T>>& a, int64 source, const sssp_options& given = {},
          const descriptor& desc = {}) {
  using weight = std::conditional_t<std::is_integral_v<T>, int64, double>;
  static_assert(require_weights<T>());
  std::optional<distributed<matrix<weight>>> weights;
  over_ranks::agree(a.communicator(), "sssp", [&] {
    weights.emplace(a,
                    apply<weight>(a.local(), unary::identity, descriptor{.threads = desc.threads}));
  });
  return sssp(*weights, source, given, desc);
}

/// `components` over ranks: the labels of one rank. Each rank joins its arcs; then the trees of all
/// ranks, which have less than n arcs each, are joined on every rank. Cost: O(nnz / ranks + n ·
/// ranks). Throws error: as `components`.
/// @code
/// const auto found = rig::components(parts_of_A);
/// std::printf("%ld components\n", long(found.count));
/// @endcode
distributed<components_result> components(const distributed<matrix<bool>>& a,
                                          const components_options& given = {},
                                          const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
distributed<components_result> components(const distributed<matrix<T>>& a,
                                          const components_options& given = {},
                                          const descriptor& desc = {}) {
  return components(over_ranks::pattern_of("components", a), given, desc);
}

/// `pagerank` over ranks; `personalised` is the whole column, the same on all ranks.
///
/// The same bits on any number of ranks: sums over nodes are made of whole multiples of 2⁻⁶⁰, in
/// which no order matters. `pagerank` of one place adds floating-point numbers instead, so its last
/// digits differ. An iteration is a product of the transpose, which A keeps, and one sum. Throws
/// error: as `pagerank`; cannot, for a kernel's name.
/// @code
/// const auto found = rig::pagerank(parts_of_A);
/// std::printf("%d iterations\n", found.iterations);
/// @endcode
distributed<pagerank_result> pagerank(const distributed<matrix<bool>>& a,
                                      const pagerank_options& given = {},
                                      const descriptor& desc = {});
/// The same for other values, which are not read.
template <class T>
distributed<pagerank_result> pagerank(const distributed<matrix<T>>& a,
                                      const pagerank_options& given = {},
                                      const descriptor& desc = {}) {
  return pagerank(over_ranks::pattern_of("pagerank", a), given, desc);
}

}  // namespace rig
