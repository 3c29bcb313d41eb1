// One layer of GraphSAGE or GCN: rig gathers from the neighbours what a dense product has
// transformed. Every stage runs where the graph lies.

#include <cmath>
#include <random>
#include <variant>

#include "gemm.hpp"
#include "options.hpp"
#include "rig/elementwise.hpp"
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
  rig::int64 seed;
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

/// C = X·W, or C += X·W with accumulator `plus`.
void multiply(dense& c, rig::accumulator accum, const feature_table& x, const dense& w) {
  if (const auto* full = std::get_if<dense>(&x))
    example::gemm(c, accum, *full, w);
  else  // sparse features, word counts say
    rig::mxm(c, accum, std::get<matrix>(x), w, rig::plus_times<float>{});
}

/// What a layer reads and writes, all where the layer is computed.
struct layer {
  matrix graph;
  feature_table x;
  dense w, w_self, bias, w_neighbour;
  dense h, gathered, out;  ///< transformed features, their aggregates, the result
  rig::descriptor desc;    ///< of the aggregation
  rig::explanation why;
  example::stages stages;
};

feature_table load_features(const settings& my, rig::index n, std::mt19937_64& random) {
  if (my.features.empty()) return random_dense(n, 64, 1, random);
  if (my.features.ends_with(".npy")) return rig::read_dense<float>(my.features);
  return rig::read_matrix<float>(my.features);
}

layer load(const example::options& given, const settings& my) {
  std::mt19937_64 random(static_cast<std::uint64_t>(my.seed));
  const auto graph = given.load<float>();
  const rig::index n = graph.rows(), hidden = my.hidden;
  const feature_table x = load_features(my, n, random);
  const auto [rows, inputs] =
      std::visit([](const auto& stored) { return std::pair(stored.rows(), stored.columns()); }, x);
  if (n != graph.columns() || n != rows)
    rig::fail(rig::errc::shape, {given.source(), ": the graph is ", n, "x", graph.columns(),
                                 ", the features are ", rows, "x", inputs});

  const rig::place where = given.where();
  const auto there = [&](const auto& stored) -> feature_table { return stored.to(where); };
  const auto drawn = [&](rig::index from) { return glorot(from, hidden, random).to(where); };
  const auto room = [&] { return dense::uninitialised(n, hidden, where); };
  auto desc = given.describe();
  desc.fill = 0;  // the maximum of no neighbours
  // The initialisers draw from `random` in this order.
  return {.graph = graph.to(where),
          .x = std::visit(there, x),
          .w = drawn(inputs),
          .w_self = drawn(inputs),
          .bias = drawn(1),
          .w_neighbour = drawn(hidden),
          .h = room(),
          .gathered = room(),
          .out = room(),
          .desc = desc,
          .why = {},
          .stages = example::stages(where)};
}

/// H = X·W, the first stage of two layers.
void transform(layer& l) {
  l.stages.time("transform", [&] { multiply(l.h, rig::none, l.x, l.w); });
}

template <class Semiring>
void aggregate(layer& l, const matrix& a, Semiring algebra) {
  a.prepare(l.desc);
  l.why = rig::explain(a, l.h, algebra, l.desc);
  l.stages.time("aggregate", [&] { rig::mxm(l.gathered, rig::none, a, l.h, algebra, l.desc); });
}

/// X·W_self + P·W_neighbour, where P is the maximum over the neighbours of ReLU(X·W + bias).
void pool(layer& l) {
  // A column of ones times the bias is the bias in every row.
  const dense ones = dense(l.graph.rows(), 1, 1).to(l.graph.where());
  l.stages.time("transform", [&] {
    example::gemm(l.h, rig::none, ones, l.bias);
    multiply(l.h, rig::accumulator::plus, l.x, l.w);
    rig::apply(l.h, rig::none, l.h, rig::unary::relu);
  });
  aggregate(l, l.graph, rig::max_second<float>{});
  l.stages.time("combine", [&] {
    multiply(l.out, rig::none, l.x, l.w_self);
    example::gemm(l.out, rig::accumulator::plus, l.gathered, l.w_neighbour);
  });
}

/// X·W_self + the mean over the neighbours of X·W, which is (their mean)·W but has fewer columns
/// to gather.
void mean(layer& l) {
  transform(l);
  aggregate(l, l.graph, rig::mean_second<float>{});
  l.stages.time("combine", [&] {
    multiply(l.out, rig::none, l.x, l.w_self);
    rig::ewise_add(l.out, rig::none, l.out, l.gathered, rig::binary::plus);
  });
}

/// D^-½ (A + I) D^-½ · X·W.
void gcn(layer& l) {
  matrix normal;
  l.stages.time("normalise", [&] { normal = rig::gcn_normalise(l.graph); });
  transform(l);
  aggregate(l, normal, rig::plus_times<float>{});
  l.out = std::move(l.gathered);
}

void sage(const example::options& given, const settings& my) {
  layer l = load(given, my);
  if (my.aggregate == "pool")
    pool(l);
  else if (my.aggregate == "mean")
    mean(l);
  else
    gcn(l);
  given.show(l.why);

  const rig::index n = l.graph.rows(), inputs = l.w.rows(), hidden = my.hidden;
  const dense result = l.out.to(rig::cpu());
  const example::sums sums = example::sums_of(result);
  example::report found;
  found.note("layer", my.aggregate + ", " + std::to_string(inputs) + " features to " +
                          std::to_string(hidden));
  found.note("graph", given.describe(l.graph));
  found.add_hidden("n", n);
  found.add_hidden("features", inputs);
  found.add_hidden("aggregate", my.aggregate);
  found.add_json("kernel", example::json(l.why.chosen),
                 l.why.chosen + " on " + rig::to_string(given.where()) + ": " + l.why.reason);
  found.add_times(l.stages);
  found.add_hidden("fro", sums.fro);
  found.add_hidden("total", sums.total);
  found.note("result", std::to_string(n) + "x" + std::to_string(hidden) + ", norm " +
                           example::brief(sums.fro) + ", sum " + example::brief(sums.total));
  given.finish(found, result);
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
  return example::run_program(
      count, arguments,
      {.summary = "One layer of a graph neural network", .output = "the H results of each node"},
      own, [&](const example::options& given) {
        const auto& way = my.aggregate;
        example::require(way == "pool" || way == "mean" || way == "gcn",
                         "--aggregate is pool, mean or gcn, not '" + way + "'");
        example::require_at_least(1, "--hidden", my.hidden);
        example::require_at_least<rig::int64>(0, "--seed", my.seed);
        sage(given, my);
      });
}
