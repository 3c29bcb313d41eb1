// Suite gap: the six algorithms of the GAP benchmark on a device, beside the time that a read of
// the graph takes.

#include "analytics.hpp"
#include "gpu_suites.hpp"
#include "rig/algorithms/betweenness.hpp"
#include "rig/algorithms/bfs.hpp"
#include "rig/algorithms/components.hpp"
#include "rig/algorithms/pagerank.hpp"
#include "rig/algorithms/sssp.hpp"
#include "rig/algorithms/triangles.hpp"

namespace bench::gpu {
namespace {

using rig::index;

class gap : public suite {
 public:
  using suite::suite;

  std::vector<std::string> usual_graphs() const override {
    return {"rmat:20:16",         "rmat:22:16",         "rmat:24:16",
            "uniform:1048576:16", "uniform:4194304:16", "uniform:16777216:16"};
  }
  std::vector<int> features() const override { return {1}; }

  void measure(product& of) override {
    const rig::matrix<float> values = undirected(of.graph.pattern);
    const auto a = values.with_value(true);
    a.prepare({.transpose_a = true});
    const index source = widest(*of.graph.on_host);
    const double entries = 4.0 * static_cast<double>(a.nnz()), nodes = a.rows();
    add(of, "bfs", entries + 4 * nodes, [&] { rig::bfs(a, source); });
    {
      const rig::matrix<rig::int64> weights = synthetic_weights(a);
      add(of, "sssp", 3 * entries + 8 * nodes, [&] { rig::sssp(weights, source); });
    }
    constexpr int iterations = 20;
    add(of, "pagerank, 20 iterations", iterations * (entries + 16 * nodes),
        [&] { rig::pagerank(a, {.tolerance = 0, .most_iterations = iterations}); });
    add(of, "components", entries + 4 * nodes, [&] { rig::components(a, {.symmetric = true}); });
    const std::vector<index> sources = sources_of(*of.graph.on_host, 4);
    // A pass from the sources, and one back.
    add(of, "betweenness, 4 sources", 2 * entries + 8 * nodes,
        [&] { rig::betweenness(a, sources); });
    add(of, "triangles", entries, [&] { rig::triangles(a, {.symmetric = true}); });
  }

  void summarise() override {}

 private:
  /// Adds the time of an algorithm beside that of so many bytes.
  void add(const product& of, const char* algorithm, double bytes, std::function<void()> work) {
    const contender field[] = {until_done(algorithm, std::move(work))};
    row line = with_.line("gap", of, 0, 4);
    line.operation = algorithm;
    line.semiring = line.type = "";
    line.ms = bench::race(field, repeat_of(with_.given))[0];
    line.bytes = bytes;
    line.share_of_ceiling = bytes / (line.ms * 1e6) / with_.ceilings.at("copy");
    with_.out.add(line);
  }
};

}  // namespace

std::unique_ptr<suite> make_gap(setting& with) { return std::make_unique<gap>(with); }

}  // namespace bench::gpu
