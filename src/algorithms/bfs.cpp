#include "rig/algorithms/bfs.hpp"

#include <vector>

#include "algorithms/columns.hpp"
#include "algorithms/preparation.hpp"
#include "rig/closure.hpp"
#include "rig/distributed_algorithms.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"
#include "rig/user_semiring.hpp"

namespace rig {
namespace {

/// The least index of a node of the frontier with an arc to the place.
RIG_SEMIRING(
    least_inner, using left = bool; using right = bool; using accum = rig::int32;
    static constexpr bool ignores_left = true; static constexpr bool ignores_right = true;
    static constexpr bool keeps_first = true; static constexpr rig::int32 zero() {
      return rig::highest<rig::int32>();
    } static constexpr rig::int32 add(rig::int32 x, rig::int32 y) {
      return rig::minimum(x, y);
    } static constexpr rig::int32 multiply(bool, bool, rig::position at) { return at.inner; });

/// The level after a level.
RIG_SEMIRING(
    next_level, using left = rig::int32; using right = bool; using accum = rig::int32;
    static constexpr bool ignores_right = true; static constexpr rig::int32 zero() {
      return rig::highest<rig::int32>();
    } static constexpr rig::int32 add(rig::int32 x, rig::int32 y) {
      return rig::minimum(x, y);
    } static constexpr rig::int32 multiply(rig::int32 level, bool) { return level + 1; });
/// The same with the least parent: 2³² · level + parent.
RIG_SEMIRING(
    next_level_and_parent, using left = rig::int64; using right = bool; using accum = rig::int64;
    static constexpr bool ignores_right = true; static constexpr rig::int64 zero() {
      return rig::highest<rig::int64>();
    } static constexpr rig::int64 add(rig::int64 x, rig::int64 y) {
      return rig::minimum(x, y);
    } static constexpr rig::int64 multiply(rig::int64 x, bool, rig::position at) {
      return (x / 4294967296 + 1) * 4294967296 + at.inner;
    });
/// Parts of such a number; −1: not reached.
RIG_OPERATOR(
    level_of,
    static constexpr rig::int64 apply(rig::int64 x, rig::index, rig::index, rig::int64 none) {
      return x == none ? -1 : x / 4294967296;
    });
RIG_OPERATOR(
    parent_of,
    static constexpr rig::int64 apply(rig::int64 x, rig::index, rig::index, rig::int64 none) {
      return x == none ? -1 : x % 4294967296;
    });
RIG_OPERATOR(
    unless_none, static constexpr rig::int32 apply(rig::int32 x, rig::index, rig::index,
                                                   rig::int32 none) { return x == none ? -1 : x; });

/// The closure over S from a first value of the source: a round makes a level.
template <class S, class Graph>
auto levels_by_closure(const Graph& a, index start, typename S::accum first, int& max_level,
                       const bfs_options& given, const descriptor& desc) {
  auto out = start_column("bfs", a, start, first, S::zero(), of_operations(desc));
  locally("bfs", a, [&] {
    if (given.progress) given.progress(0, 1);
  });
  closure_options my;
  if (given.progress)
    my.progress = [&](int level, int64 nodes) {
      if (nodes > 0) given.progress(level, nodes);
    };
  max_level = static_cast<int>(close_into("bfs", out, a, S(), my, desc)) - 1;
  return out;
}
/// The levels without parents; −1: not reached.
template <class Graph>
auto search_levels(const Graph& a, index start, int& max_level, const bfs_options& given,
                   const descriptor& desc) {
  return map<int32>("bfs", levels_by_closure<next_level>(a, start, 0, max_level, given, desc),
                    unless_none(), highest<int32>(), of_operations(desc));
}

bfs_result search_by_closure(const matrix<bool>& a, int64 source, const bfs_options& given,
                             const descriptor& desc) {
  const index start = require_sources("bfs", std::span(&source, 1), a.rows())[0];
  const descriptor other = of_operations(desc), product = of_products(desc);
  bfs_result found;
  if (given.parents) {
    const auto both =
        levels_by_closure<next_level_and_parent>(a, start, start, found.max_level, given, product);
    found.levels = apply<int32>(both, level_of(), highest<int64>(), other);
    found.parents = apply<int32>(both, parent_of(), highest<int64>(), other);
  } else {
    found.levels = search_levels(a, start, found.max_level, given, product);
  }
  found.reached = count_of("bfs", found.levels, binary::greater_equal, 0, other);
  return found;
}

bfs_result search(const matrix<bool>& a, int64 source, const bfs_options& given,
                  const descriptor& desc) {
  const std::vector<index> start = require_sources("bfs", std::span(&source, 1), a.rows());
  const index n = a.rows();
  const descriptor other = of_operations(desc), product = of_products(desc);
  if (given.both_directions && !has_many_levels(a)) a.prepare({.transpose_a = true});

  bfs_result found;
  // 1 + level during the search, so that they are also the mask of the nodes that are reached.
  found.levels = filled<int32>(n, 1, 0, a.where(), other);
  if (given.parents) found.parents = filled<int32>(n, 1, -1, a.where(), other);
  const auto unreached = complement(values(found.levels));
  auto frontier = vector<bool>::from_indices(n, start).to(a.where());
  vector<int32> parents(frontier.as_row().with_value(start[0]));
  for (int level = 0; frontier.nnz() > 0; ++level) {
    const vector<int32> next(frontier.as_row().with_value(level + 1));
    ewise_add(found.levels, none, found.levels, next, binary::second, other);
    if (given.parents)
      ewise_add(found.parents, none, found.parents, parents, binary::second, other);
    found.reached += frontier.nnz();
    found.max_level = level;
    if (given.progress) given.progress(level, frontier.nnz());
    if (given.parents) {
      parents = vxm(frontier, a, least_inner(), unreached, product);
      frontier = vector<bool>(parents.as_row().with_value(true));
    } else {
      frontier = vxm(frontier, a, any_pair<bool>(), unreached, product);
    }
  }
  apply(found.levels, none, found.levels, binary::minus, 1, other);
  return found;
}

}  // namespace

bfs_result bfs(const matrix<bool>& a, int64 source, const bfs_options& given,
               const descriptor& desc) {
  return on_graph("bfs", a, desc, [&] {
    // Levels of few nodes cost little more than their arcs there.
    const bool closes = desc.kernel.empty() ? has_many_levels(a) : desc.kernel == "closure";
    return closes ? search_by_closure(a, source, given, desc)
                  : search(to_prepare(a), source, given, desc);
  });
}

distributed<bfs_result> bfs(const distributed<matrix<bool>>& a, int64 source,
                            const bfs_options& given, const descriptor& desc) {
  index start = 0;
  require_graph("bfs", a, desc, [&] {
    start = require_sources("bfs", std::span(&source, 1), a.rows())[0];
    if (given.parents)
      fail(errc::cannot, {"bfs: parents are not computed over ranks; leave parents unset"});
  });
  over_ranks::require_equal(a.communicator(), "bfs", "the source", source);
  int max_level = 0;
  auto levels = search_levels(a, start, max_level, given, of_products(desc));
  const int64 reached = count_of("bfs", levels, binary::greater_equal, 0, of_operations(desc));
  return {std::move(levels), reached, max_level};
}

}  // namespace rig
