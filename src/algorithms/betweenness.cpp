#include "rig/algorithms/betweenness.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "algorithms/preparation.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace rig {
namespace {

void check(const matrix<bool>& a, std::span<const index> sources, const betweenness_options& given,
           const descriptor& desc) {
  require_graph("betweenness", a, desc);
  for (const index source : sources)
    if (source < 0 || source >= a.rows())
      fail(errc::range, {"betweenness: source is ", source, "; give some of the ", a.rows(),
                         " nodes, which are counted from 0"});
  if (given.batch < 1)
    fail(errc::range, {"betweenness: batch is ", given.batch, "; set at least 1"});
}

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

/// Adds the shares of the paths from these sources to `sums`.
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

}  // namespace

dense<double> betweenness(const matrix<bool>& a, std::span<const index> sources,
                          const betweenness_options& given, const descriptor& desc) {
  check(a, sources, given, desc);
  const descriptor other = of_operations(desc), product = of_products(desc);
  a.prepare({.transpose_a = true});
  auto sums = filled<double>(a.rows(), 1, 0, a.where(), other);
  const auto batch = static_cast<std::size_t>(given.batch);
  for (std::size_t first = 0; first < sources.size(); first += batch) {
    const auto some = sources.subspan(first, std::min(batch, sources.size() - first));
    add_batch(a, some, sums, other, product);
    if (given.progress) given.progress(static_cast<int64>(first + some.size()));
  }
  return sums;
}

dense<double> betweenness(const matrix<bool>& a, const betweenness_options& given,
                          const descriptor& desc) {
  std::vector<index> sources(static_cast<std::size_t>(a.rows()));
  std::iota(sources.begin(), sources.end(), 0);
  return betweenness(a, sources, given, desc);
}

}  // namespace rig
