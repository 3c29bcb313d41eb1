// Suite graph: operations besides products beside a copy of the device's memory, and PageRank
// beside its own products.

#include <algorithm>

#include "gpu_suites.hpp"
#include "rig/algorithms/pagerank.hpp"
#include "rig/graph.hpp"
#include "rig/mxv.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"

namespace bench::gpu {
namespace {

using rig::binary;
using rig::index;

class graph : public suite {
 public:
  using suite::suite;

  std::vector<std::string> usual_graphs() const override {
    return {"uniform:262144:400", "rmat:22:16", "reddit-like"};
  }
  std::vector<int> features() const override { return {1}; }

  void measure(product& of) override {
    if (!std::exchange(elements_are_measured_, true)) {
      dense_elements();
      sparse_elements();
    }
    constexpr int iterations = 20;
    const rig::matrix<float>& a = of.graph.pattern;
    a.prepare({.transpose_a = true});
    const rig::dense<double> ones(of.n(), 1, 1.0);
    const auto u = ones.to(a.where());
    auto w = ones.to(a.where());
    const auto products = [&] {
      for (int k = 0; k < iterations; ++k)
        rig::mxv(w, rig::none, a, u, rig::plus_second<double>(), {.transpose_a = true});
    };
    const contender field[] = {
        until_done("pagerank",
                   [&] { rig::pagerank(a, {.tolerance = 0, .most_iterations = iterations}); }),
        until_done("products", products)};
    const std::vector<double> ms = bench::race(field, repeat_of(with_.given));
    row line = with_.line("graph", of, 0, 8);
    line.operation = "pagerank, 20 iterations";
    line.semiring = "plus_second";
    line.type = "double";
    line.kernel = line.chosen =
        rig::explain(a, u, rig::plus_second<double>(), {.transpose_a = true}).chosen;
    line.bytes *= iterations;
    line.ms = ms[0];
    line.ratio = ms[1] / ms[0];
    line.peer_ms["products"] = ms[1];
    with_.out.add(line);
    over_products_.push_back(ms[0] / ms[1]);
  }

  void summarise() override {
    for (const auto& [kind, shares] : shares_)
      with_.out.summarise("graph_share_of_copy_" + kind + "_least",
                          *std::min_element(shares.begin(), shares.end()), least_share(kind));
    if (!over_products_.empty())
      with_.out.limit("pagerank_over_products_greatest",
                      *std::max_element(over_products_.begin(), over_products_.end()), 1.15);
  }

 private:
  static double least_share(const std::string& kind) {
    return kind == "dense" ? 0.7 : kind == "sparse" ? 0.4 : 0.8;
  }

  /// Measures an operation that moves so many bytes. `kind`: whose target it has; empty: none.
  void add(const std::string& kind, const std::string& operand, rig::int64 nnz,
           const char* operation, double bytes, std::function<void()> work) {
    const contender field[] = {until_done(operation, std::move(work))};
    row line;
    line.suite = "graph";
    line.operation = operation;
    line.graph = operand;
    line.nnz = nnz;
    line.type = "float";
    line.ms = bench::race(field, repeat_of(with_.given))[0];
    line.bytes = bytes;
    line.share_of_ceiling = bytes / (line.ms * 1e6) / with_.ceilings.at("copy");
    with_.out.add(line);
    if (!kind.empty()) shares_[kind].push_back(*line.share_of_ceiling);
  }

  void dense_elements() {
    constexpr index n = 100'000'000;
    const rig::place there = rig::cuda(0);
    auto x = rig::dense<float>::uninitialised(n, 1, there), y = x, z = x;
    fill_random(x.data(), n, 1);
    fill_random(y.data(), n, 2);
    const auto wide = rig::dense<float>::view(x.data(), n / 100, 100, 100, there);
    const auto add_dense = [&](const char* operation, double arrays, std::function<void()> work) {
      add("dense", "100000000x1", 0, operation, arrays * 4e8, std::move(work));
    };
    add_dense("apply", 2, [&] { rig::apply(z, rig::none, x, rig::unary::relu); });
    add_dense("apply a number", 2, [&] { rig::apply(z, rig::none, x, binary::times, 0.5f); });
    add_dense("ewise_add", 3, [&] { rig::ewise_add(z, rig::none, x, y, binary::plus); });
    add("", "100000000x1", 0, "ewise_add, values masked", 16e8,
        [&] { rig::ewise_add(z, rig::none, x, y, binary::plus, rig::values(x)); });
    const auto add_sum = [&](const char* operand, const char* operation,
                             std::function<void()> work) {
      add("reduction", operand, 0, operation, 4e8, std::move(work));
    };
    add_sum("100000000x1", "reduce", [&] { rig::reduce(x, binary::plus); });
    add_sum("1000000x100", "reduce_rows", [&] { rig::reduce_rows(wide, binary::plus); });
    add_sum("1000000x100", "reduce_columns", [&] { rig::reduce_columns(wide, binary::plus); });
  }

  void sparse_elements() {
    const std::string name = "uniform:3276800:32";
    const auto a = make_subject(name, rig::generate::from_text(name)).weighted;
    const index n = a.rows();
    const auto b = rig::extract(a, rig::range{n - 1, -1, -1}, rig::all);
    const auto nnz = static_cast<double>(a.nnz());
    const double bytes = 8 * nnz + 4.0 * n;  // of one matrix
    const auto add_sparse = [&](const std::string& kind, const char* operation, double moved,
                                std::function<void()> work) {
      add(kind, name, a.nnz(), operation, moved, std::move(work));
    };
    const auto both = static_cast<double>(rig::ewise_add(a, b, binary::plus).nnz());
    add_sparse("sparse", "ewise_add", 2 * bytes + 8 * both + 4.0 * n,
               [&] { rig::ewise_add(a, b, binary::plus); });
    add_sparse("", "ewise_mult", 2 * bytes, [&] { rig::ewise_mult(a, b, binary::times); });
    add_sparse("", "apply", 8 * nnz, [&] { rig::apply(a, rig::unary::relu); });
    add_sparse("", "select", bytes + 4 * nnz,
               [&] { rig::select(a, rig::selection::greater, 0.0f); });
    add_sparse("reduction", "reduce", 4 * nnz, [&] { rig::reduce(a, binary::plus); });
    add_sparse("reduction", "reduce_rows", 4 * nnz + 4.0 * n,
               [&] { rig::reduce_rows(a, binary::plus); });
    add_sparse("", "extract, rows reversed", 2 * bytes, [&] {
      rig::extract(a, rig::range{n - 1, -1, -1}, rig::all);
    });
    add_sparse("", "edge_softmax", 8 * nnz, [&] { rig::edge_softmax(a); });
    const auto t = rig::to_tuples(a);
    add_sparse("", "build", 12 * nnz + bytes,
               [&] { rig::build(n, n, t.columns, t.rows, t.values); });
  }

  bool elements_are_measured_ = false;
  std::map<std::string, std::vector<double>> shares_;
  std::vector<double> over_products_;
};

}  // namespace

std::unique_ptr<suite> make_graph(setting& with) { return std::make_unique<graph>(with); }

}  // namespace bench::gpu
