#include "rig/algorithms/bfs.hpp"

#include <vector>

#include "algorithms/preparation.hpp"
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
  return on_graph("bfs", a, desc, [&] { return search(to_prepare(a), source, given, desc); });
}

}  // namespace rig
