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

/// Writes `value` at the entries of a vector.
template <class T, class V>
void write_at(dense<T>& to, const vector<V>& entries, T value, const descriptor& desc) {
  ewise_add(to, none, to, vector<T>(entries.as_row().with_value(value)), binary::second, desc);
}

}  // namespace

bfs_result bfs(const matrix<bool>& a, int64 source, const bfs_options& given,
               const descriptor& desc) {
  require_graph("bfs", a, desc);
  const std::vector<index> start = require_sources("bfs", std::span(&source, 1), a.rows());
  const index n = a.rows();
  const descriptor other = of_operations(desc), product = of_products(desc);
  if (given.both_directions && !has_many_levels(a)) a.prepare({.transpose_a = true});

  bfs_result found;
  found.levels = filled<int32>(n, 1, -1, a.where(), other);
  if (given.parents) found.parents = filled<int32>(n, 1, -1, a.where(), other);
  auto visited = filled<bool>(n, 1, false, a.where(), other);
  auto frontier = vector<bool>::from_indices(n, start).to(a.where());
  vector<int32> parents(frontier.as_row().with_value(start[0]));
  for (int level = 0; frontier.nnz() > 0; ++level) {
    write_at(found.levels, frontier, level, other);
    write_at(visited, frontier, true, other);
    if (given.parents)
      ewise_add(found.parents, none, found.parents, parents, binary::second, other);
    found.reached += frontier.nnz();
    found.max_level = level;
    if (given.progress) given.progress(level, frontier.nnz());
    if (given.parents) {
      parents = vxm(frontier, a, least_inner(), complement(values(visited)), product);
      frontier = vector<bool>(parents.as_row().with_value(true));
    } else {
      frontier = vxm(frontier, a, any_pair<bool>(), complement(values(visited)), product);
    }
  }
  return found;
}

}  // namespace rig
