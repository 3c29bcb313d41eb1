// Predicts links: a GCN gives each node columns, and two nodes the product of theirs as a score.
// The scores of chosen pairs alone are computed: a product of two dense matrices under a sparse
// mask.

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "programs.hpp"

namespace {

using rig::index;
/// A pair i < k of n nodes as the number i·n + k.
using pair = rig::int64;

struct settings {
  std::string data;
  int hidden = 0, columns = 0, epochs = 0;
  double rate = 0, held_out = 0;
  long seed = 0;
  bool normalise_features = false;
};

/// The edges of a graph without their direction, and without self loops, in ascending order.
std::vector<pair> edges_of(const rig::matrix<float>& graph) {
  std::vector<pair> out;
  for (const auto& [i, k, value] : graph.entries())
    if (i != k) out.push_back(pair{std::min(i, k)} * graph.rows() + std::max(i, k));
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

/// So many pairs that are none of the edges, which ascend.
std::vector<pair> draw_others(index n, const std::vector<pair>& edges, std::size_t count,
                              std::mt19937_64& random) {
  std::set<pair> drawn;
  while (drawn.size() < count) {
    const auto node = [&] { return static_cast<pair>(random() % static_cast<unsigned>(n)); };
    const pair i = node(), k = node(), number = std::min(i, k) * n + std::max(i, k);
    if (i != k && !std::ranges::binary_search(edges, number)) drawn.insert(number);
  }
  return {drawn.begin(), drawn.end()};
}

/// Edges and other pairs: the entries of a matrix, which are 1 and 0, and the same as tasks to
/// learn.
struct pairs {
  rig::matrix<float> at;
  gnn::truth<float> of;
};
pairs pairs_of(index n, std::span<const pair> edges, const std::vector<pair>& others,
               rig::place where) {
  std::vector<index> i, k;
  std::vector<float> is_edge;
  const auto add = [&](std::span<const pair> from, float value) {
    for (const pair p : from) {
      i.push_back(static_cast<index>(p / n));
      k.push_back(static_cast<index>(p % n));
      is_edge.push_back(value);
    }
  };
  add(edges, 1);
  add(others, 0);
  const auto at = rig::matrix<float>::from_tuples(n, n, i, k, is_edge);
  const auto count = static_cast<index>(at.nnz());
  std::vector<index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  gnn::truth<float> of;
  of.multi_label = true;  // of one label: whether there is an edge
  of.y = rig::apply(gnn::entries_of(at), rig::unary::identity).to(where);
  of.trained = rig::matrix<float>::from_positions(count, 1, all, std::vector<index>(all.size(), 0))
                   .to(where);
  return {at.to(where), of};
}

/// The edges in three parts, and a graph of those that are trained on.
struct split {
  std::vector<pair> edges;  ///< all, ascending
  std::array<std::vector<pair>, 3> parts;
  rig::matrix<float> graph;
};
split split_of(const std::string& name, const rig::matrix<float>& graph, double held_out,
               std::mt19937_64& random) {
  split out{edges_of(graph), {}, {}};
  const index n = graph.rows();
  auto order = out.edges;
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[random() % left]);
  const auto tested = static_cast<std::ptrdiff_t>(held_out * static_cast<double>(order.size())),
             validated = tested / 2;
  if (validated < 1)
    rig::fail(rig::errc::range, {name, ": --held-out ", held_out, " of ", order.size(),
                                 " edges leaves none to validate; give a larger share"});
  const auto all_pairs = static_cast<std::size_t>(n) * static_cast<std::size_t>(n - 1) / 2;
  if (order.size() > all_pairs / 2)
    rig::fail(rig::errc::cannot, {name, ": ", order.size(), " of ", all_pairs,
                                  " pairs are edges; give a graph where at most half of them are"});
  const auto first = order.begin();
  out.parts = {std::vector(first + tested + validated, order.end()),
               std::vector(first + tested, first + tested + validated),
               std::vector(first, first + tested)};
  for (auto& part : out.parts) std::ranges::sort(part);
  std::vector<index> i, k;
  for (const pair p : out.parts[0])
    for (const bool turned : {false, true}) {
      i.push_back(static_cast<index>(turned ? p % n : p / n));
      k.push_back(static_cast<index>(turned ? p / n : p % n));
    }
  out.graph = rig::matrix<float>::from_positions(n, n, i, k);
  return out;
}

/// The area under the ROC curve of the scores of some pairs.
double area_of(const pairs& of, const gnn::var<float>& z) {
  gnn::tape plain(false, z->where());
  const auto scores = gnn::score(plain, of.at, z)->value.to(rig::cpu());
  std::vector<index> all(static_cast<std::size_t>(scores.rows()));
  std::iota(all.begin(), all.end(), 0);
  return gnn::roc_auc<float>(scores, of.of.y.to(rig::cpu()), all);
}

/// What training found: the areas of the epoch with the best one of the validation pairs.
struct outcome {
  double validation = 0, test = 0, last_loss = 0, epoch_ms = 0;
};
outcome train(gnn::network<float>& net, const gnn::aggregation<float>& a, const gnn::var<float>& x,
              const split& by, const settings& my, std::mt19937_64& random) {
  const rig::place where = x->where();
  const index n = by.graph.rows();
  const auto with_others = [&](const std::vector<pair>& edges, const std::vector<pair>& known) {
    return pairs_of(n, edges, draw_others(n, known, edges.size(), random), where);
  };
  const pairs validated = with_others(by.parts[1], by.edges),
              tested = with_others(by.parts[2], by.edges);
  gnn::adam<float> optimiser(my.rate, 0);
  outcome found;
  std::vector<double> ms;
  for (int epoch = 1; epoch <= my.epochs; ++epoch) {
    const example::stopwatch watch;
    // Other pairs in each epoch; an edge held out may be one of them, as training knows none.
    const pairs trained = with_others(by.parts[0], by.parts[0]);
    gnn::tape t(true, where);
    net.clear_gradients();
    const auto scores = gnn::score(t, trained.at, net.forward(t, a, x));
    found.last_loss = gnn::loss(t, scores, trained.of);
    t.backward();
    optimiser.step(net);
    rig::synchronise(where);
    ms.push_back(watch.ms());
    if (!std::isfinite(found.last_loss))
      rig::fail(rig::errc::range,
                {"training: the loss of epoch ", epoch, " is ", found.last_loss,
                 "; give a learning rate below ", my.rate, ", or smaller features"});
    gnn::tape plain(false, where);
    const auto z = net.forward(plain, a, x);
    const double area = area_of(validated, z);
    if (area > found.validation) {
      found.validation = area;
      found.test = area_of(tested, z);
    }
  }
  found.epoch_ms = gnn::median(ms);
  return found;
}

void predict(const example::options& given, const settings& my) {
  auto data = gnn::load(my.data);
  if (my.normalise_features) gnn::normalise_features(data);
  gnn::set_type_of_features(data, "float");
  const rig::place where = given.where();
  std::mt19937_64 random(static_cast<std::uint64_t>(my.seed));
  const split by = split_of(data.name, data.graph, my.held_out, random);
  data.graph = by.graph;
  const gnn::shape s{
      gnn::kind::gcn, gnn::gathering::mean, data.inputs(), my.hidden, my.columns, 2, 0, 0};
  gnn::network<float> net(s, static_cast<std::uint64_t>(my.seed), where);
  const auto on = gnn::move(data, s, given.describe(), where).problem;
  const outcome found = train(net, on.a, on.x, by, my, random);
  example::report out;
  out.add("data", data.name);
  out.add("edges_trained", static_cast<long>(by.parts[0].size()));
  out.add("edges_tested", static_cast<long>(by.parts[2].size()));
  out.add("val_roc_auc", found.validation);
  out.add("test_roc_auc", found.test);
  out.add("last_loss", found.last_loss);
  out.add("epoch_ms", found.epoch_ms);
  out.print(given.json);
}

void check(const settings& my, const std::string& kernel) {
  using example::require_between;
  gnn::check_kernel(kernel);
  require_between(1, 1 << 16, "--hidden", my.hidden);
  require_between(1, 1 << 16, "--columns", my.columns);
  example::require_at_least(1, "--epochs", my.epochs);
  example::require_at_least(0L, "--seed", my.seed);
  example::require(my.rate > 0, "--lr is above 0, not " + example::digits(my.rate));
  example::require(my.held_out > 0 && my.held_out <= 0.5,
                   "--held-out is above 0 and at most 0.5, not " + example::digits(my.held_out));
  example::require(!example::is_sampled(kernel),
                   "--kernel " + kernel +
                       " leaves entries out, other ones of the transpose; name "
                       "an exact kernel, or none");
}

}  // namespace

int main(int count, char** arguments) {
  settings my;
  namespace po = example::po;
  po::options_description own("Link prediction", 100);
  auto add = own.add_options();
  add("data", po::value(&my.data)->required()->value_name("DIR"), "as for gnn_train");
  add("hidden", po::value(&my.hidden)->default_value(128)->value_name("H"),
      "width between the two layers");
  add("columns", po::value(&my.columns)->default_value(64)->value_name("F"),
      "columns that a node gets");
  add("held-out", po::value(&my.held_out)->default_value(0.1, "0.1")->value_name("P"),
      "share of the edges that test; half as many choose the epoch");
  add("epochs", po::value(&my.epochs)->default_value(100)->value_name("E"), "epochs");
  add("lr", po::value(&my.rate)->default_value(0.01, "0.01")->value_name("R"),
      "learning rate of Adam");
  add("normalize-features", po::bool_switch(&my.normalise_features),
      "divide each row of the features by its sum");
  add("seed", po::value(&my.seed)->default_value(1)->value_name("S"),
      "seed of weights, parts, and pairs without an edge");
  return example::run_program(
      count, arguments,
      {.summary = "Learns which pairs of nodes are edges, and tests that on edges held out",
       .what = example::takes::data},
      own, [&](const example::options& given) {
        check(my, given.kernel);
        predict(given, my);
      });
}
