// One layer of GraphSAGE or GCN: rig gathers from the neighbours what a dense product has
// transformed.

#include <algorithm>
#include <cmath>
#include <random>
#include <variant>

#include "options.hpp"
#include "report.hpp"
#include "rig/graph.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace {

using dense = rig::dense<float>;
using matrix = rig::matrix<float>;
using feature_table = std::variant<matrix, dense>;

struct settings {
  std::string aggregate, features;
  int hidden;
  unsigned long seed;
};

/// Uniform in [−limit, limit), the same on any machine.
dense random_dense(rig::index rows, rig::index columns, double limit, std::mt19937_64& random) {
  auto made = dense::uninitialised(rows, columns);
  for (rig::index i = 0; i < rows; ++i)
    for (rig::index j = 0; j < columns; ++j)
      made(i, j) = static_cast<float>((static_cast<double>(random() >> 11) * 0x1p-52 - 1) * limit);
  return made;
}

/// Weights as Glorot & Bengio draw them, AISTATS 2010.
dense glorot(rig::index inputs, rig::index outputs, std::mt19937_64& random) {
  return random_dense(inputs, outputs, std::sqrt(6.0 / (inputs + outputs)), random);
}

/// C += X·W, dense. rig is a sparse library: a serious program calls its BLAS here.
void add_product(dense& c, const dense& x, const dense& w) {
#pragma omp parallel for
  for (rig::index i = 0; i < x.rows(); ++i)
    for (rig::index k = 0; k < x.columns(); ++k) {
      const float factor = x(i, k);
#pragma omp simd
      for (rig::index j = 0; j < w.columns(); ++j) c(i, j) += factor * w(k, j);
    }
}
/// Of sparse features, word counts say, it is a product as any other.
void add_product(dense& c, const matrix& x, const dense& w) {
  rig::mxm(c, rig::accumulator::plus, x, w, rig::plus_times<float>{});
}
void add_product(dense& c, const feature_table& x, const dense& w) {
  std::visit([&](const auto& stored) { add_product(c, stored, w); }, x);
}

feature_table load_features(const settings& my, rig::index n, std::mt19937_64& random) {
  if (my.features.empty()) return random_dense(n, 64, 1, random);
  if (my.features.ends_with(".npy")) return rig::read_dense<float>(my.features);
  return rig::read_matrix<float>(my.features);
}

void sage(const example::options& given, const settings& my) {
  std::mt19937_64 random(my.seed);
  const auto graph = given.load<float>();
  const rig::index n = graph.rows(), hidden = my.hidden;
  const feature_table x = load_features(my, n, random);
  const auto [rows, inputs] =
      std::visit([](const auto& stored) { return std::pair(stored.rows(), stored.columns()); }, x);
  if (n != graph.columns() || n != rows)
    rig::fail(rig::errc::shape, {given.source(), ": the graph is ", n, "x", graph.columns(),
                                 ", the features are ", rows, "x", inputs});

  std::vector<std::pair<std::string, double>> stages;
  const auto timed = [&](const char* stage, auto work) {
    const example::stopwatch watch;
    work();
    stages.emplace_back(stage, watch.ms());
  };
  auto desc = given.describe();
  desc.fill = 0;  // the maximum of no neighbours
  rig::explanation why;
  const auto gather = [&](const matrix& from, const dense& h, auto algebra) {
    const auto a = from.to(given.where());
    const auto b = h.to(given.where());
    // An existing result, because the first use of fresh memory can take longer than the product.
    auto gathered = dense(n, hidden).to(given.where());
    a.prepare(desc);
    why = rig::explain(a, b, algebra, desc);
    rig::synchronise(given.where());
    timed("aggregate", [&] {
      rig::mxm(gathered, rig::none, a, b, algebra, desc);
      rig::synchronise(given.where());
    });
    return gathered.to(rig::cpu());
  };

  dense h(n, hidden), out(n, hidden);
  const dense w = glorot(inputs, hidden, random), w_self = glorot(inputs, hidden, random);
  if (my.aggregate == "pool") {
    // X·W_self + P·W_neighbour, P the maximum over the neighbours of ReLU(X·W + bias)
    const dense bias = glorot(1, hidden, random), w_neighbour = glorot(hidden, hidden, random);
    timed("transform", [&] {
      for (rig::index i = 0; i < n; ++i) std::copy_n(bias.data(), hidden, h.row(i).begin());
      add_product(h, x, w);
#pragma omp parallel for
      for (rig::index i = 0; i < n; ++i)
        for (rig::index j = 0; j < hidden; ++j) h(i, j) = std::max(0.0f, h(i, j));
    });
    const dense pooled = gather(graph, h, rig::max_second<float>{});
    timed("combine", [&] {
      add_product(out, x, w_self);
      add_product(out, pooled, w_neighbour);
    });
  } else if (my.aggregate == "mean") {
    // X·W_self + the mean over the neighbours of X·W, which is (their mean)·W but has fewer columns
    // to gather
    timed("transform", [&] { add_product(h, x, w); });
    out = gather(graph, h, rig::mean_second<float>{});
    timed("combine", [&] { add_product(out, x, w_self); });
  } else {
    // D^-½ (A + I) D^-½ · X·W
    matrix normal;
    timed("normalise", [&] { normal = rig::gcn_normalise(graph); });
    timed("transform", [&] { add_product(h, x, w); });
    out = gather(normal, h, rig::plus_times<float>{});
  }
  given.show(why);

  const example::sums sums = example::sums_of(out);
  example::report found;
  found.note("layer", my.aggregate + ", " + std::to_string(inputs) + " features to " +
                          std::to_string(hidden));
  found.note("graph", given.source() + ": " + std::to_string(n) + " nodes, " +
                          std::to_string(graph.nnz()) + " arcs");
  found.add_hidden("n", n);
  found.add_hidden("features", inputs);
  found.add_hidden("aggregate", my.aggregate);
  found.add_json("kernel", example::json(why.chosen),
                 why.chosen + " on " + rig::to_string(given.where()) + ": " + why.reason);
  found.add_times(stages);
  found.add_hidden("fro", sums.fro);
  found.add_hidden("total", sums.total);
  found.note("result", std::to_string(n) + "x" + std::to_string(out.columns()) + ", norm " +
                           example::brief(sums.fro) + ", sum " + example::brief(sums.total));
  found.print(given.json);
}

}  // namespace

int main(int count, char** arguments) {
  settings my{};
  namespace po = example::po;
  po::options_description own("Layer", 100);
  auto add = own.add_options();
  add("aggregate", po::value(&my.aggregate)->default_value("pool"), "pool, mean or gcn");
  add("hidden", po::value(&my.hidden)->default_value(64)->value_name("H"), "columns of the result");
  add("features", po::value(&my.features)->value_name("FILE"),
      "features, a row a node: .mtx, .mtx.gz or .npy; default: 64 random columns");
  add("seed", po::value(&my.seed)->default_value(1)->value_name("S"),
      "seed of weights and random features");
  return example::run_program(count, arguments, "One layer of a graph neural network", own,
                              [&](const example::options& given) {
                                const auto& way = my.aggregate;
                                example::require(
                                    way == "pool" || way == "mean" || way == "gcn",
                                    "--aggregate is pool, mean or gcn, not '" + way + "'");
                                example::require(my.hidden >= 1, "--hidden is at least 1");
                                sage(given, my);
                              });
}
