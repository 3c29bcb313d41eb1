#include "rig/algorithms/eccentricity.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "algorithms/preparation.hpp"
#include "rig/algorithms/bfs.hpp"
#include "rig/elementwise.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"

namespace rig {
namespace {

dense<int32> farthest_levels(const matrix<bool>& a, const integers& from,
                             const eccentricity_options& given, const descriptor& desc) {
  if (given.batch < 1)
    fail(errc::range, {"eccentricity: batch is ", given.batch, "; set at least 1"});
  const std::vector<index> sources = require_sources("eccentricity", from, a.rows());
  const descriptor other = of_operations(desc), product = of_products(desc);
  auto out = dense<int32>::uninitialised(static_cast<index>(sources.size()), 1, a.where());
  const auto batch = static_cast<std::size_t>(given.batch);
  for (std::size_t first = 0; first < sources.size(); first += batch) {
    const auto some = std::span(sources).subspan(first, std::min(batch, sources.size() - first));
    auto part = dense<int32>::view(out.data() + first, static_cast<index>(some.size()), 1, 1,
                                   out.where(), out.stream());
    reduce_columns(part, none, multi_source(a, some, {}, product).levels, binary::maximum, other);
    if (given.progress) given.progress(static_cast<int64>(first + some.size()));
  }
  return out;
}

/// Searches one undirected graph, and keeps what eccentricities say about its diameter.
class sweeping {
 public:
  sweeping(const matrix<bool>& graph, const descriptor& desc)
      : graph_(graph), product_(of_products(desc)), other_(of_operations(desc)) {}

  bfs_result search(index from) {
    auto made = bfs(graph_, from, {}, product_);
    if (made.max_level > found.lower) {
      found.lower = made.max_level;
      found.node = from;
    }
    found.upper = std::min(found.upper, int64{2} * made.max_level);
    return made;
  }
  /// The least of the nodes that a search reached last.
  index farthest(const bfs_result& from) const {
    return node_of(at_level(vector<int32>::from(from.levels), from.max_level), 0);
  }
  /// A node in the middle of a shortest path between two nodes, that of the middle number.
  index middle(const bfs_result& from_one, const bfs_result& from_other) const {
    const int half = from_one.max_level / 2;
    const auto near = at_level(vector<int32>::from(from_one.levels), half);
    const auto some = at_level(ewise_mult(near, from_other.levels, binary::second, other_),
                               from_one.max_level - half);
    return node_of(some, some.nnz() / 2);
  }

  diameter_result found{.lower = -1, .upper = highest<int64>()};

 private:
  vector<int32> at_level(const vector<int32>& levels, int level) const {
    return select(levels, selection::equal, level, other_);
  }
  static index node_of(const vector<int32>& some, int64 entry) {
    const auto at = dense<index>::view(some.indices() + entry, 1, 1, 1, some.where(),
                                       some.as_row().structure().stream());
    return at.to(cpu())(0, 0);
  }

  const matrix<bool>& graph_;
  descriptor product_, other_;
};

diameter_result sweep(const matrix<bool>& a, int64 source, const diameter_options& given,
                      const descriptor& desc) {
  if (given.most_sweeps < 1)
    fail(errc::range, {"diameter_bound: most_sweeps is ", given.most_sweeps, "; set at least 1"});
  const index start = require_sources("diameter_bound", std::span(&source, 1), a.rows())[0];
  const auto u = given.symmetric ? a : undirected(a, of_operations(desc));
  sweeping of(u, desc);
  for (auto last = of.search(start);
       of.found.sweeps < given.most_sweeps && of.found.lower < of.found.upper;) {
    const index one = of.farthest(last);
    const auto from_one = of.search(one);
    const auto from_other = of.search(of.farthest(from_one));
    last = of.search(of.middle(from_one, from_other));
    ++of.found.sweeps;
    if (given.progress) given.progress(of.found.sweeps, of.found.upper - of.found.lower);
  }
  return of.found;
}

}  // namespace

dense<int32> eccentricity(const matrix<bool>& a, const integers& sources,
                          const eccentricity_options& given, const descriptor& desc) {
  return on_graph("eccentricity", a, desc,
                  [&] { return farthest_levels(to_prepare(a), sources, given, desc); });
}

dense<int32> eccentricity(const matrix<bool>& a, const eccentricity_options& given,
                          const descriptor& desc) {
  return on_graph("eccentricity", a, desc, [&] {
    std::vector<index> sources(static_cast<std::size_t>(a.rows()));
    std::iota(sources.begin(), sources.end(), 0);
    return farthest_levels(to_prepare(a), sources, given, desc);
  });
}

diameter_result diameter_bound(const matrix<bool>& a, int64 source, const diameter_options& given,
                               const descriptor& desc) {
  return on_graph("diameter_bound", a, desc,
                  [&] { return sweep(to_prepare(a), source, given, desc); });
}

}  // namespace rig
