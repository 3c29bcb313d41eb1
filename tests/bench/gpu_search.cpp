// Suite search: breadth-first searches in edges per second, the cost of a level, and many sources
// at once beside one after the other.

#include "analytics.hpp"
#include "gpu_suites.hpp"
#include "rig/algorithms/bfs.hpp"

namespace bench::gpu {
namespace {

using rig::index;
using rig::int64;

int64 entries_of(const rig::pattern& graph, index row) {
  return graph.offset(row + 1) - graph.offset(row);
}

class search : public suite {
 public:
  using suite::suite;

  std::vector<std::string> usual_graphs() const override {
    return {"rmat:20:16", "rmat:22:16", "uniform:4194304:16", "road-like"};
  }
  std::vector<int> features() const override { return {1}; }

  void measure(product& of) override {
    if (!std::exchange(path_is_measured_, true)) levels_of_a_path();
    const rig::matrix<float>& a = of.graph.pattern;
    a.prepare({.transpose_a = true});
    const std::vector<index> singles = sources_of(*of.graph.on_host, 4),
                             together = sources_of(*of.graph.on_host, 64);
    int64 edges = 0;
    for (const index source : singles) edges += edges_reached(of, source);
    const contender field[] = {until_done("bfs",
                                          [&] {
                                            for (const index source : singles) rig::bfs(a, source);
                                          }),
                               until_done("multi_source", [&] { rig::multi_source(a, together); })};
    const std::vector<double> ms = bench::race(field, repeat_of(with_.given));
    const double single = ms[0] / static_cast<double>(singles.size());

    row line = with_.line("search", of, 0, 4);
    line.operation = "bfs";
    line.semiring = "any_pair";
    line.type = "bool";
    line.ms = single;
    line.ratio = static_cast<double>(edges) / (ms[0] * 1e6);
    with_.out.add(line);
    with_.out.summarise("search_gteps_" + of.graph.name, *line.ratio,
                        of.graph.name == "rmat:22:16" ? std::optional(20.0) : std::nullopt);
    line.operation = "multi_source, 64";
    line.semiring = "union_of_second";
    line.type = "int64";
    line.ms = ms[1];
    line.peer_ms["64 searches"] = 64 * single;
    line.ratio = 64 * single / ms[1];
    with_.out.add(line);
    over_singles_.push_back(*line.ratio);
  }

  void summarise() override {
    sum_up("search_multi_source_over_singles", over_singles_, {}, 8);
    with_.out.limit("search_level_us", level_us_, 30);
  }

 private:
  /// The edges of the nodes that a search reaches, in a graph with both directions.
  static int64 edges_reached(const product& of, index source) {
    const auto levels = rig::bfs(of.graph.pattern, source).levels.to(rig::cpu());
    int64 entries = 0;
    for (index node = 0; node < levels.rows(); ++node)
      if (levels(node, 0) >= 0) entries += entries_of(*of.graph.on_host, node);
    return entries / 2;
  }

  /// A path has a level per node, and each level one node.
  void levels_of_a_path() {
    constexpr index nodes = 4000;
    const auto path = rig::generate::grid(1, nodes).to(rig::cuda(0));
    const contender field[] = {until_done("path", [&] { rig::bfs(path, 0); })};
    level_us_ = bench::race(field, repeat_of(with_.given))[0] * 1e3 / nodes;
  }

  bool path_is_measured_ = false;
  double level_us_ = 0;
  std::vector<double> over_singles_;
};

}  // namespace

std::unique_ptr<suite> make_search(setting& with) { return std::make_unique<search>(with); }

}  // namespace bench::gpu
