// Suite analytics: GAP's six algorithms beside LAGraph's on SuiteSparse:GraphBLAS, and beside GAP's
// own programs.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "analytics.hpp"
#include "gap.hpp"
#include "graphblas.hpp"
#include "rig/algorithms/betweenness.hpp"
#include "rig/algorithms/bfs.hpp"
#include "rig/algorithms/components.hpp"
#include "rig/algorithms/pagerank.hpp"
#include "rig/algorithms/sssp.hpp"
#include "rig/algorithms/triangles.hpp"
#include "rig/graph.hpp"
#include "rig/rearrange.hpp"
#include "rig/user_semiring.hpp"

namespace bench {
namespace {

using rig::index;
using rig::int64;

/// w(r, c) = 1 + (31·min(r, c) + 17·max(r, c)) mod 64
RIG_OPERATOR(
    weight_of, static constexpr long apply(bool, rig::index i, rig::index j, long modulus) {
      const long low = i < j ? i : j, high = i < j ? j : i;
      return 1 + (31 * low + 17 * high) % modulus;
    });

int64 entries_of(const rig::pattern& graph, index row) {
  return graph.offset(row + 1) - graph.offset(row);
}

}  // namespace

rig::matrix<float> undirected(const rig::matrix<float>& graph) {
  const auto both = rig::symmetrise(graph.with_value(1.0f));
  return rig::select(both, rig::selection::off_diagonal, 0).with_value(1.0f);
}

rig::matrix<int64> synthetic_weights(const rig::matrix<bool>& graph) {
  return rig::apply<int64>(graph, weight_of(), 64L);
}

index widest(const rig::pattern& graph) {
  index most = 0;
  for (index row = 1; row < graph.rows(); ++row)
    if (entries_of(graph, row) > entries_of(graph, most)) most = row;
  return most;
}

std::vector<index> sources_of(const rig::pattern& graph, int count) {
  std::vector<index> out;
  for (int k = 0; k < count; ++k) {
    auto node = static_cast<index>(int64{graph.rows()} * k / count);
    while (node + 1 < graph.rows() && entries_of(graph, node) == 0) ++node;
    out.push_back(node);
  }
  return out;
}

namespace {

/// Throws where two results differ by more than a share of the greater one.
template <class Ours, class Theirs>
void expect_alike(const char* what, const Ours& ours, const Theirs& theirs, double share) {
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const auto x = static_cast<double>(ours.data()[i]), y = static_cast<double>(theirs[i]);
    if (!(std::abs(x - y) <= share * std::max(1e-300, std::max(std::abs(x), std::abs(y)))))
      rig::fail(rig::errc::range, {what, ": node ", i, ": GraphBLAS has ", y, ", rig has ", x});
  }
}

class six_algorithms {
 public:
  six_algorithms(std::string name, const rig::matrix<float>& graph, const options& given,
                 record& out, ratios_by_kind& over_graphblas, ratios_by_kind& over_gap)
      : name_(std::move(name)),
        given_(given),
        out_(out),
        over_graphblas_(over_graphblas),
        over_gap_(over_gap),
        desc_{.threads = threads_of(given)},
        values_(undirected(graph)),
        graph_(values_.with_value(true)),
        source_(widest(values_.structure())) {
    graph_.prepare({.transpose_a = true});
    if (!given.gap.empty()) gap_.emplace(given, values_.structure(), 1);
  }

  void bfs() {
    rig::bfs_result found;
    graphblas::bfs push(values_, false), either(values_, true);
    race("bfs",
         {{"rig", [&] { found = rig::bfs(graph_, source_, {}, desc_); }},
          {"graphblas_push", [&] { push.run(source_); }},
          {"graphblas_push_pull", [&] { either.run(source_); }}},
         [&](const gap::peer& gap) { return gap.bfs(source_, found.reached); });
    for (const graphblas::bfs* peer : {&push, &either})
      expect_alike("bfs", found.levels, peer->levels(), 0);
  }

  void bfs_parents() {
    rig::bfs_result found;
    graphblas::bfs push(values_, false, true), either(values_, true, true);
    race("bfs_parents",
         {{"rig", [&] { found = rig::bfs(graph_, source_, {.parents = true}, desc_); }},
          {"graphblas_push", [&] { push.run(source_); }},
          {"graphblas_push_pull", [&] { either.run(source_); }}},
         [&](const gap::peer& gap) { return gap.bfs(source_, found.reached); });
    for (const graphblas::bfs* peer : {&push, &either})
      expect_alike("bfs_parents", found.levels, peer->levels(), 0);
  }

  void sssp() {
    const auto weights = synthetic_weights(graph_);
    rig::sssp_result<int64> found;
    std::vector<std::unique_ptr<graphblas::sssp>> peers;
    std::vector<contender> field = {
        {"rig", [&] { found = rig::sssp(weights, source_, {}, desc_); }}};
    for (const int64 delta : {16, 32, 64, 128}) {
      peers.push_back(std::make_unique<graphblas::sssp>(weights, delta));
      field.push_back({"graphblas_delta_" + std::to_string(delta),
                       [&, peer = peers.back().get()] { peer->run(source_); }});
    }
    if (gap_) gap_->write_weights(weights);
    for (const int width : gap::widths)
      enter_gap(field, gap::width_name(width), [&, width](const gap::peer& gap) {
        return gap.sssp(source_, width, found.reached);
      });
    race("sssp", field);
    auto reached = rig::apply(found.distances, rig::binary::minimum, graphblas::sssp::unreached);
    for (const auto& peer : peers) expect_alike("sssp", reached, peer->distances(), 0);
  }

  void components() {
    rig::components_result found;
    graphblas::components all(values_, false), samples(values_, true);
    race("components",
         {{"rig", [&] { found = rig::components(graph_, {.symmetric = true}, desc_); }},
          {"graphblas_fastsv", [&] { all.run(); }},
          {"graphblas_fastsv_sampled", [&] { samples.run(); }}},
         [&](const gap::peer& gap) { return gap.components(found.count); });
    expect_alike("components", found.labels, all.labels(), 0);
    expect_alike("components", found.labels, samples.labels(), 0);
  }

  void pagerank() {
    constexpr int iterations = 20;
    rig::pagerank_result found;
    // The tolerance is never met; so both compute the change of each iteration.
    const rig::pagerank_options settings{.tolerance = 1e-300, .most_iterations = iterations};
    graphblas::pagerank<double> peer(values_, settings.damping, iterations);
    race("pagerank",
         {{"rig", [&] { found = rig::pagerank(graph_, settings, desc_); }},
          {"graphblas", [&] { peer.run(); }}},
         [&](const gap::peer& gap) { return gap.pagerank(iterations); });
    expect_alike("pagerank", found.ranks, peer.ranks(), 1e-9);
  }

  void betweenness() {
    const std::vector<index> sources = sources_of(values_.structure(), 4);
    rig::dense<double> found;
    graphblas::betweenness peer(values_);
    race("betweenness",
         {{"rig", [&] { found = rig::betweenness(graph_, sources, {}, desc_); }},
          {"graphblas", [&] { peer.run(sources); }}},
         [&](const gap::peer& gap) { return gap.betweenness(sources); });
    // Both subtract the number of sources from sums that begin with it.
    const auto moved = rig::apply(found, rig::binary::plus, 4.0);
    auto theirs = peer.sums();
    for (double& of : theirs) of += 4;
    expect_alike("betweenness", moved, theirs, 1e-9);
  }

  void triangles() {
    int64 found = 0;
    std::vector<std::unique_ptr<graphblas::triangle_count>> peers;
    std::vector<contender> field = {
        {"rig", [&] { found = rig::triangles(graph_, {.symmetric = true}, desc_); }}};
    constexpr const char* names[] = {"graphblas_lower_upper", "graphblas_upper_lower",
                                     "graphblas_sorted_lower_upper",
                                     "graphblas_sorted_upper_lower"};
    for (int form = 0; form < 4; ++form) {
      peers.push_back(std::make_unique<graphblas::triangle_count>(values_, form >= 2, form % 2));
      field.push_back({names[form], [peer = peers.back().get()] { peer->run(); }});
    }
    race("triangle_count", field, [&](const gap::peer& gap) { return gap.triangles(found); });
    for (const auto& peer : peers)
      if (peer->count() != found)
        rig::fail(rig::errc::range,
                  {"triangles: GraphBLAS has ", peer->count(), ", rig has ", found});
  }

 private:
  /// `of_gap`: the milliseconds of GAP's program, which compares its number with what rig found.
  void race(const char* algorithm, std::vector<contender> field,
            std::function<double(const gap::peer&)> of_gap) {
    enter_gap(field, "gap", std::move(of_gap));
    race(algorithm, field);
  }

  void enter_gap(std::vector<contender>& field, std::string name,
                 std::function<double(const gap::peer&)> of_gap) const {
    if (gap_)
      field.push_back({std::move(name), {}, [this, of = std::move(of_gap)] { return of(*gap_); }});
  }

  void race(const char* algorithm, const std::vector<contender>& field) {
    const std::vector<double> ms = bench::race(field, repeat_of(given_));
    row line;
    line.graph = name_;
    line.n = graph_.rows();
    line.nnz = graph_.nnz();
    line.operation = algorithm;
    line.ms = ms[0];
    std::optional<double> graphblas, gap;
    for (std::size_t i = 1; i < field.size(); ++i) {
      line.peer_ms[field[i].name] = ms[i];
      std::optional<double>& best = field[i].own_ms ? gap : graphblas;
      best = std::min(ms[i], best.value_or(ms[i]));
    }
    line.ratio = std::min(*graphblas, gap.value_or(*graphblas)) / line.ms;
    over_graphblas_[algorithm].push_back(*graphblas / line.ms);
    if (gap) over_gap_[algorithm].push_back(*gap / line.ms);
    out_.add(line);
  }

  std::string name_;
  const options& given_;
  record& out_;
  ratios_by_kind &over_graphblas_, &over_gap_;
  rig::descriptor desc_;
  rig::matrix<float> values_;  ///< both directions of each edge
  rig::matrix<bool> graph_;
  index source_;
  std::optional<gap::peer> gap_;
};

}  // namespace

void race_algorithms(const std::string& name, const options& given, record& out,
                     ratios_by_kind& over_graphblas, ratios_by_kind& over_gap) {
  six_algorithms of(name, graph_of(name), given, out, over_graphblas, over_gap);
  of.bfs();
  of.bfs_parents();
  of.sssp();
  of.components();
  of.pagerank();
  of.betweenness();
  of.triangles();
}

}  // namespace bench
