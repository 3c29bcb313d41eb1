// Suite gap: the six algorithms of the GAP benchmark on a device, beside the time that a read of
// the graph takes, and beside GAP's own programs on the CPU.

#include <algorithm>
#include <functional>
#include <optional>

#include "analytics.hpp"
#include "gap.hpp"
#include "gpu_suites.hpp"
#include "rig/algorithms/betweenness.hpp"
#include "rig/algorithms/bfs.hpp"
#include "rig/algorithms/components.hpp"
#include "rig/algorithms/pagerank.hpp"
#include "rig/algorithms/sssp.hpp"
#include "rig/algorithms/triangles.hpp"

namespace bench::gpu {
namespace {

using bench::gap::peer;
using rig::index;
using rig::int64;

constexpr int iterations = 20;

/// One graph, on the device and, for GAP, in a file.
class six_algorithms {
 public:
  six_algorithms(const product& of, setting& with)
      : of_(of),
        with_(with),
        graph_(undirected(of.graph.pattern).with_value(true)),
        source_(widest(*of.graph.on_host)) {
    graph_.prepare({.transpose_a = true});
    if (!with.given.gap.empty())
      gap_.emplace(with.given, graph_.to(rig::cpu()).structure(), repeat_of(with.given));
  }

  void bfs(bool parents) {
    int64 reached = 0;
    race(
        parents ? "bfs, parents" : "bfs", entries() + (parents ? 8 : 4) * nodes(),
        [&] { reached = rig::bfs(graph_, source_, {.parents = parents}).reached; },
        [&](const peer& gap) { return gap.bfs(source_, reached); });
  }

  void sssp() {
    const rig::matrix<int64> weights = synthetic_weights(graph_);
    int64 reached = 0;
    row line = measured("sssp", 3 * entries() + 8 * nodes(),
                        [&] { reached = rig::sssp(weights, source_).reached; });
    if (gap_) {
      gap_->write_weights(weights.to(rig::cpu()));
      for (const int width : bench::gap::widths)
        line.peer_ms[bench::gap::width_name(width)] = gap_->sssp(source_, width, reached);
    }
    add(line);
  }

  void pagerank() {
    race(
        "pagerank, 20 iterations", iterations * (entries() + 16 * nodes()),
        [&] { rig::pagerank(graph_, {.tolerance = 0, .most_iterations = iterations}); },
        [](const peer& gap) { return gap.pagerank(iterations); });
  }

  void components() {
    int64 count = 0;
    race(
        "components", entries() + 4 * nodes(),
        [&] { count = rig::components(graph_, {.symmetric = true}).count; },
        [&](const peer& gap) { return gap.components(count); });
  }

  void betweenness() {
    const std::vector<index> sources = sources_of(*of_.graph.on_host, 4);
    // A pass from the sources, and one back.
    race(
        "betweenness, 4 sources", 2 * entries() + 8 * nodes(),
        [&] { rig::betweenness(graph_, sources); },
        [&](const peer& gap) { return gap.betweenness(sources); });
  }

  void triangles() {
    int64 count = 0;
    race(
        "triangles", entries(), [&] { count = rig::triangles(graph_, {.symmetric = true}); },
        [&](const peer& gap) { return gap.triangles(count); });
  }

 private:
  double entries() const { return 4.0 * static_cast<double>(graph_.nnz()); }
  double nodes() const { return graph_.rows(); }

  /// The time of an algorithm beside that of so many bytes.
  row measured(const char* algorithm, double bytes, std::function<void()> work) const {
    const contender field[] = {until_done(algorithm, std::move(work))};
    row line = with_.line("gap", of_, 0, 4);
    line.operation = algorithm;
    line.semiring = line.type = "";
    line.ms = bench::race(field, repeat_of(with_.given))[0];
    line.bytes = bytes;
    line.share_of_ceiling = bytes / (line.ms * 1e6) / with_.ceilings.at("copy");
    return line;
  }

  /// `of_gap`: the milliseconds of GAP's program, which runs after rig.
  void race(const char* algorithm, double bytes, std::function<void()> work,
            const std::function<double(const peer&)>& of_gap) {
    row line = measured(algorithm, bytes, std::move(work));
    if (gap_) line.peer_ms["gap"] = of_gap(*gap_);
    add(line);
  }

  void add(row& line) {
    for (const auto& [name, ms] : line.peer_ms)
      line.ratio = std::min(ms / line.ms, line.ratio.value_or(ms / line.ms));
    with_.out.add(line);
  }

  const product& of_;
  setting& with_;
  rig::matrix<bool> graph_;
  index source_;
  std::optional<peer> gap_;
};

class gap_suite : public suite {
 public:
  explicit gap_suite(setting& with) : suite(with) { bench::gap::introduce(with.given, with.out); }

  std::vector<std::string> usual_graphs() const override {
    std::vector<std::string> names = {
        "rmat:20:16",         "rmat:22:16",          "rmat:24:16", "uniform:1048576:16",
        "uniform:4194304:16", "uniform:16777216:16", "road-like",  "grid:1024:1024"};
    for (const std::string& name : data_sets())
      if (name.starts_with("road-")) names.push_back(name);
    return names;
  }
  std::vector<int> features() const override { return {1}; }

  void measure(product& of) override {
    six_algorithms all(of, with_);
    all.bfs(false);
    all.bfs(true);
    all.sssp();
    all.pagerank();
    all.components();
    all.betweenness();
    all.triangles();
  }

  void summarise() override {}
};

}  // namespace

std::unique_ptr<suite> make_gap(setting& with) { return std::make_unique<gap_suite>(with); }

}  // namespace bench::gpu
