#include "rig/algorithms/betweenness.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "algorithms/columns.hpp"
#include "algorithms/measured.hpp"
#include "algorithms/preparation.hpp"
#include "rig/algorithms/bfs.hpp"
#include "rig/kernels/list.hpp"
#include "rig/mxm.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"
#include "storage/backend.hpp"

namespace rig {
namespace {

/// The nodes of each level of a search from each source, with the number of shortest paths to them:
/// a row per source. `paths` receives all numbers.
std::vector<matrix<double>> search(const matrix<bool>& a, std::span<const index> sources,
                                   dense<double>& paths, const descriptor& other,
                                   const descriptor& product) {
  const auto width = static_cast<index>(sources.size());
  std::vector<index> rows(sources.size());
  std::iota(rows.begin(), rows.end(), 0);
  auto visited = filled<bool>(width, a.rows(), false, a.where(), other);
  std::vector<matrix<double>> levels{
      matrix<double>::from_positions(width, a.rows(), rows, sources, 1.0).to(a.where())};
  while (levels.back().nnz() > 0) {
    const matrix<double>& last = levels.back();
    ewise_add(paths, none, paths, last, binary::second, other);
    ewise_add(visited, none, visited, last.with_value(true), binary::second, other);
    levels.push_back(mxm(last, a, plus_first<double>(), complement(values(visited)), product));
  }
  levels.pop_back();
  return levels;
}

/// The number of shortest paths from each source to each node, and the node's level, n×k. Each
/// level is a product with all of A.
struct dense_search {
  dense<double> paths;
  dense<int32> levels;
  int depth = 0;

  dense_search(const matrix<bool>& a, std::span<const index> sources, const descriptor& other,
               descriptor product)
      : paths(filled<double>(a.rows(), static_cast<index>(sources.size()), 0, a.where(), other)),
        levels(filled<int32>(a.rows(), paths.columns(), -1, a.where(), other)) {
    product.transpose_a = true;
    std::vector<index> columns(sources.size());
    std::iota(columns.begin(), columns.end(), 0);
    const auto start =
        matrix<double>::from_positions(a.rows(), paths.columns(), sources, columns, 1.0);
    auto frontier = ewise_add(paths, start.to(a.where()), binary::second, other);
    for (; depth <= measured::most_levels && reduce(frontier, binary::maximum, other) > 0;
         ++depth) {
      ewise_add(paths, none, paths, frontier, binary::plus, other);
      assign(levels, none, depth, all, all, values(frontier), other);
      frontier = mxm(a, frontier, plus_second<double>(), complement(values(paths)), product);
    }
  }
  dense<bool> are_at(int level, const descriptor& desc) const {
    return apply<bool>(levels, binary::equal, level, desc);
  }
};

/// Adds the shares of the paths from these sources to `sums`, by dense products. Returns false,
/// and adds nothing, if there are too many levels for products that read all arcs.
bool add_batch_by_dense(const matrix<bool>& a, std::span<const index> sources, dense<double>& sums,
                        const descriptor& other, const descriptor& product) {
  const dense_search found(a, sources, other, product);
  if (found.depth > measured::most_levels) return false;
  // 1 + what a node passes on: a path ends there, and others lead through.
  auto shares = filled<double>(a.rows(), found.paths.columns(), 1, a.where(), other);
  for (int level = found.depth - 1; level > 1; --level) {
    const auto here = found.are_at(level, other), before = found.are_at(level - 1, other);
    const auto by_path = ewise_mult(shares, found.paths, binary::divide, values(here), other);
    auto received = mxm(a, by_path, plus_second<double>(), values(before), product);
    ewise_mult(received, none, received, found.paths, binary::times, values(before), other);
    ewise_add(shares, none, shares, received, binary::plus, other);
  }
  reduce_rows(sums, accumulator::plus, shares, binary::plus, other);
  apply(sums, none, sums, binary::minus, static_cast<double>(sources.size()), other);
  return true;
}

/// A device reads all of A faster than it finds the arcs of a frontier, unless there are many
/// levels. A kernel that is named decides.
bool takes_dense_products(const matrix<bool>& a, const descriptor& desc) {
  if (desc.kernel.empty()) return a.where() != cpu() && !has_many_levels(a);
  const auto all = kernels();
  return std::any_of(all.begin(), all.end(), [&](const kernel& k) {
    return k.name == desc.kernel && k.takes == operands::dense;
  });
}

/// Adds the shares of the paths from these sources to `sums`, by sparse products.
void add_batch(const matrix<bool>& a, std::span<const index> sources, dense<double>& sums,
               const descriptor& other, const descriptor& product) {
  const auto width = static_cast<index>(sources.size());
  auto paths = filled<double>(width, a.rows(), 0, a.where(), other);
  const auto levels = search(a, sources, paths, other, product);
  // 1 + what a node passes on: a path ends there, and others lead through.
  auto shares = filled<double>(width, a.rows(), 1, a.where(), other);
  descriptor backwards = product;
  backwards.transpose_b = true;
  for (std::size_t level = levels.size(); level-- > 2;) {
    const auto by_path = ewise_mult(shares, levels[level], binary::divide, other);
    const auto received =
        mxm(by_path, a, plus_first<double>(), structure(levels[level - 1]), backwards);
    ewise_add(shares, none, shares, ewise_mult(received, paths, binary::times, other), binary::plus,
              other);
  }
  reduce_columns(sums, accumulator::plus, shares, binary::plus, other);
  apply(sums, none, sums, binary::minus, static_cast<double>(width), other);
}

/// The nodes of each level of a search as a row, and how to sum along the arcs between levels.
class level_order {
 public:
  /// `levels` has -1 at nodes that are not reached; their row comes after the last level.
  level_order(const matrix<bool>& a, dense<int32> levels, index depth, const descriptor& other)
      : a_(a), levels_(std::move(levels)), depth_(depth), other_(other) {
    const auto is_missed = apply<bool>(levels_, binary::less, 0, other);
    assign(levels_, none, depth, all, all, values(is_missed), other);
    const auto starts = ascending(a.rows() + 1, a.where(), other);
    nodes_ = transpose(one_per_row(starts, levels_), other);
  }
  /// Level by level, sums(i) += the sums of nodes with an arc to i; backwards, of those that i has
  /// an arc to.
  void sum(dense<double>& sums, bool backwards) const {
    sparse_operand arcs = view(a_.structure());
    const auto turned = backwards ? nullptr : turn(arcs, a_.structure());
    dense_operand levels, to;
    fill_in(levels, levels_);
    fill_in(to, sums);
    const stream_order order(
        a_.where(), other_.stream, "betweenness",
        {arcs.stream, nodes_.structure().stream(), levels_.stream(), sums.stream()});
    backend_of(a_.where())
        .sum_by_levels(arcs, view(nodes_.structure()), depth_, backwards, levels, to, other_);
  }

 private:
  const matrix<bool>& a_;
  dense<int32> levels_;
  index depth_;
  matrix<bool> nodes_;
  descriptor other_;
};

/// Adds the shares of the paths from one source to `sums`: one sweep over the levels of a search,
/// and one back.
void add_source(const matrix<bool>& a, index source, dense<double>& sums, const descriptor& other,
                const descriptor& search) {
  bfs_result found = bfs(a, source, {}, search);
  const level_order order(a, std::move(found.levels), found.max_level + 1, other);
  auto paths = start_column("betweenness", a, source, 1.0, 0.0, other);
  order.sum(paths, false);
  // What a node passes on per path: its own end, and what comes back to it.
  const auto own = ewise_mult(filled<double>(a.rows(), 1, 1, a.where(), other), paths,
                              binary::divide, values(paths), other);
  auto shares = own;
  order.sum(shares, true);
  ewise_add(shares, none, shares, own, binary::minus, other);
  ewise_mult(shares, none, shares, paths, binary::times, other);
  assign(shares, none, 0.0, std::span(&source, 1), all, other);
  ewise_add(sums, none, sums, shares, binary::plus, other);
}

dense<double> search_in_batches(const matrix<bool>& a, const integers& from,
                                const betweenness_options& given, const descriptor& desc) {
  if (given.batch < 1)
    fail(errc::range, {"betweenness: batch is ", given.batch, "; set at least 1"});
  const std::vector<index> sources = require_sources("betweenness", from, a.rows());
  const descriptor other = of_operations(desc), product = of_products(desc);
  a.prepare({.transpose_a = true});
  auto sums = filled<double>(a.rows(), 1, 0, a.where(), other);
  bool is_dense = takes_dense_products(a, desc);
  const bool sweeps = a.where() != cpu() || has_many_levels(a);
  descriptor otherwise = product;
  if (is_dense) otherwise.kernel = {};  // that of dense products
  const auto batch = static_cast<std::size_t>(given.batch);
  for (std::size_t first = 0; first < sources.size(); first += batch) {
    const auto some = std::span(sources).subspan(first, std::min(batch, sources.size() - first));
    is_dense = is_dense && add_batch_by_dense(a, some, sums, other, product);
    if (!is_dense && sweeps)
      for (const index source : some) add_source(a, source, sums, other, otherwise);
    else if (!is_dense)
      add_batch(a, some, sums, other, otherwise);
    if (given.progress) given.progress(static_cast<int64>(first + some.size()));
  }
  return sums;
}

}  // namespace

dense<double> betweenness(const matrix<bool>& a, const integers& sources,
                          const betweenness_options& given, const descriptor& desc) {
  return on_graph("betweenness", a, desc,
                  [&] { return search_in_batches(to_prepare(a), sources, given, desc); });
}

dense<double> betweenness(const matrix<bool>& a, const betweenness_options& given,
                          const descriptor& desc) {
  return on_graph("betweenness", a, desc, [&] {
    std::vector<index> sources(static_cast<std::size_t>(a.rows()));
    std::iota(sources.begin(), sources.end(), 0);
    return search_in_batches(to_prepare(a), sources, given, desc);
  });
}

}  // namespace rig
