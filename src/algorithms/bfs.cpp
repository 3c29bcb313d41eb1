#include "rig/algorithms/bfs.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "algorithms/preparation.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"
#include "rig/user_semiring.hpp"
#include "storage/integers.hpp"

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

/// The sources as indices, after the checks.
std::vector<index> checked(const char* name, const matrix<bool>& a, const integers& sources,
                           const descriptor& desc) {
  require_graph(name, a, desc);
  std::vector<index> out;
  with_type(sources, [&](auto numbers) {
    for (std::size_t k = 0; k < numbers.size; ++k) {
      const auto source = numbers[k];
      if (std::cmp_less(source, 0) || std::cmp_greater_equal(source, a.rows()))
        fail(errc::range, {name, ": source is ", source, "; give one of the ", a.rows(),
                           " nodes, which are counted from 0"});
      out.push_back(static_cast<index>(source));
    }
  });
  return out;
}

/// Writes `value` at the entries of a vector.
template <class T, class V>
void write_at(dense<T>& to, const vector<V>& entries, T value, const descriptor& desc) {
  ewise_add(to, none, to, vector<T>(entries.as_row().with_value(value)), binary::second, desc);
}

int64 count_true(const dense<bool>& of, const descriptor& desc) {
  return reduce(apply<int64>(of, unary::identity, desc), binary::plus, desc);
}

/// Below so many arcs per node a search has many levels, which are hardly ever wide.
constexpr int64 arcs_per_node = 4;

}  // namespace

bfs_result bfs(const matrix<bool>& a, index source, const bfs_options& given,
               const descriptor& desc) {
  checked("bfs", a, std::span(&source, 1), desc);
  const index n = a.rows();
  const descriptor other = of_operations(desc), product = of_products(desc);
  if (given.both_directions && a.nnz() >= arcs_per_node * n) a.prepare({.transpose_a = true});

  bfs_result found;
  found.levels = filled<int32>(n, 1, -1, a.where(), other);
  if (given.parents) found.parents = filled<int32>(n, 1, -1, a.where(), other);
  auto visited = filled<bool>(n, 1, false, a.where(), other);
  auto frontier = vector<bool>::from_indices(n, std::span(&source, 1)).to(a.where());
  vector<int32> parents(frontier.as_row().with_value(source));
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

namespace {

/// A level per product of n×K frontiers.
multi_source_result all_at_once(const matrix<bool>& a, std::span<const index> sources,
                                const bfs_options& given, const descriptor& desc) {
  const index n = a.rows(), width = static_cast<index>(sources.size());
  const descriptor other = of_operations(desc);
  descriptor product = other;
  product.transpose_a = true;
  product.replace = true;
  product.kernel = desc.kernel;

  std::vector<index> columns(sources.size());
  std::iota(columns.begin(), columns.end(), 0);
  const auto start = matrix<bool>::from_positions(n, width, sources, columns, true).to(a.where());
  auto frontier = filled<bool>(n, width, false, a.where(), other);
  ewise_add(frontier, none, frontier, start, binary::second, other);
  auto visited = frontier, next = frontier;
  multi_source_result found;
  found.levels = filled<int32>(n, width, -1, a.where(), other);
  for (int level = 0; reduce(frontier, binary::logical_or, other); ++level) {
    apply(found.levels, none, found.levels, binary::second, level, values(frontier), other);
    found.max_level = level;
    if (given.progress) given.progress(level, count_true(frontier, other));
    mxm(next, none, a, frontier, lor_land<bool>(), complement(values(visited)), product);
    ewise_add(visited, none, visited, next, binary::logical_or, other);
    std::swap(frontier, next);
  }
  found.reached = count_true(visited, other);
  return found;
}

/// A search per source.
multi_source_result one_by_one(const matrix<bool>& a, std::span<const index> sources,
                               const bfs_options& given, const descriptor& desc) {
  multi_source_result found;
  found.levels =
      dense<int32>::uninitialised(a.rows(), static_cast<index>(sources.size()), a.where());
  std::vector<int64> nodes;
  bfs_options my;
  my.progress = [&](int level, int64 count) {
    const auto at = static_cast<std::size_t>(level);
    if (at == nodes.size()) nodes.push_back(0);
    nodes[at] += count;
  };
  index column = 0;
  for (const index source : sources) {
    const auto one = bfs(a, source, my, desc);
    assign(found.levels, none, one.levels, all, range{column, column + 1}, desc);
    found.reached += one.reached;
    found.max_level = std::max(found.max_level, one.max_level);
    ++column;
  }
  for (std::size_t level = 0; given.progress && level < nodes.size(); ++level)
    given.progress(static_cast<int>(level), nodes[level]);
  return found;
}

}  // namespace

multi_source_result multi_source(const matrix<bool>& a, const integers& from,
                                 const bfs_options& given, const descriptor& desc) {
  const std::vector<index> sources = checked("multi_source", a, from, desc);
  // Graphs of few arcs per node have many levels, each of which costs a product with all of A.
  const bool has_many_levels = a.nnz() < arcs_per_node * a.rows();
  if (has_many_levels && a.where() == cpu() && desc.kernel.empty())
    return one_by_one(a, sources, given, {.threads = desc.threads, .stream = desc.stream});
  return all_at_once(a, sources, given, desc);
}

}  // namespace rig
