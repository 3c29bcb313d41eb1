// Trains a graph neural network on a whole graph: GCN, GraphSAGE, GIN, GAT, APPNP or GCNII. Every
// sparse product is rig's, and an epoch stays where the graph lies.

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "batches.hpp"
#include "model_file.hpp"
#include "programs.hpp"

namespace {

struct settings {
  std::string data, model, aggregate, nonlinearity, norm, save, fan_outs;
  int hidden = 0, layers = 0, k = 0, sample_width = 0, batch = 0, heads = 0, hops = 0;
  double dropout = 0, edge_dropout = 0, alpha = 0;
  long seed = 0;
  bool normalise_features = false, residual = false;
  gnn::training how;
};

gnn::shape shape_of(const settings& my, const gnn::dataset& data) {
  const gnn::shape s{
      static_cast<gnn::kind>(gnn::chosen(gnn::kind_names, "--model", my.model)),
      static_cast<gnn::gathering>(gnn::chosen(gnn::gathering_names, "--aggregate", my.aggregate)),
      data.inputs(),
      my.hidden,
      data.y.columns(),
      my.layers,
      my.nonlinearity == "maxk" ? my.k : 0,
      my.dropout,
      my.heads,
      my.edge_dropout,
      static_cast<gnn::norm>(gnn::chosen(gnn::norm_names, "--norm", my.norm)),
      my.residual,
      my.alpha,
      my.hops};
  try {
    gnn::check(s);
  } catch (const rig::error& bad) {
    throw example::usage_error(bad.what());
  }
  return s;
}

/// Shows epoch, loss, accuracy and time left on a terminal, at most ten times a second.
class progress_line {
 public:
  explicit progress_line(int epochs) : epochs_(epochs), is_shown_(isatty(2) != 0) {}
  void show(const gnn::progress& now) {
    if (!is_shown_ || (watch_.ms() < last_ + 100 && now.epoch != epochs_)) return;
    last_ = watch_.ms();
    std::fprintf(stderr, "\repoch %d of %d, loss %.4f, validation %.1f %%, %.0f s left   ",
                 now.epoch, epochs_, now.loss, 100 * now.validation,
                 last_ / 1000 / now.epoch * (epochs_ - now.epoch));
  }
  ~progress_line() {
    if (is_shown_) std::fprintf(stderr, "\r\033[K");
  }

 private:
  int epochs_;
  bool is_shown_;
  double last_ = -100;
  example::stopwatch watch_;
};

std::string percent(double share) { return example::brief(100 * share) + " %"; }

void report(const settings& my, const gnn::dataset& data, gnn::network<float>& net,
            const gnn::moved& on, const gnn::batching& by, const gnn::outcome& found,
            const example::options& given) {
  example::report out;
  net.set_values(found.values);
  const auto where = net.values().where();
  const auto z = gnn::results_of(net, on.problem).to(rig::cpu());
  gnn::adam<float> optimiser(my.how.rate, my.how.decay);
  const auto times = gnn::measure_stages(found.epoch_ms, true, where, [&](gnn::tape& t) {
    if (by.size > 0)
      gnn::step(t, net, optimiser, on.problem, by, by.first(), my.how.seed);
    else
      gnn::step(t, net, optimiser, on.problem, my.how.seed);
  });
  out.note("data", data.name + ": " + std::to_string(data.graph.rows()) + " nodes, " +
                       std::to_string(data.graph.nnz()) + " arcs, " +
                       std::to_string(data.inputs()) + " features, " +
                       std::to_string(data.y.columns()) +
                       (data.multi_label ? " tasks" : " classes"));
  out.add("model", my.model);
  out.add_hidden("data", data.name);
  out.add_json("normalised", my.normalise_features ? "true" : "false", "");
  const bool is_named = my.model == "sage" || my.aggregate != "mean";
  out.add_hidden("aggregate", is_named ? my.aggregate : std::string());
  out.add_hidden("hidden", my.hidden);
  out.add_hidden("layers", my.layers);
  out.add_hidden("heads", my.heads);
  out.add_hidden("norm", my.norm);
  out.add_json("residual", my.residual ? "true" : "false", "");
  out.add_hidden("edge_dropout", my.edge_dropout);
  out.add_hidden("alpha", my.alpha);
  out.add_hidden("hops", my.hops);
  out.add_hidden("k", my.k);
  out.add_hidden("sample_width", my.sample_width);
  out.add_hidden("batch", my.batch);
  out.add_hidden("device", std::string(where == rig::cpu() ? "cpu" : "cuda"));
  out.add_hidden("seed", static_cast<long>(my.how.seed));
  out.note("result", std::string(gnn::name_of_score(data)) + ": " + percent(found.best.test) +
                         " of the test nodes, " + percent(found.best.validation) +
                         " of the validation nodes, " + percent(found.best.train) +
                         " of the training nodes");
  add_scores(out, found.best, data, z);
  out.add("last_loss", found.last_loss);
  out.add("epochs", found.epochs);
  std::vector<std::string> curve;
  for (const double validation : found.curve) curve.push_back(example::json(validation));
  out.add_json("curve", example::json_list(curve), "");
  out.add("epoch_ms", found.epoch_ms);
  out.add("aggregate_ms", times.aggregate);
  out.add("update_ms", times.update);
  out.add("transfer_ms", on.transfer_ms);
  out.add("peak_bytes", gnn::peak_bytes(where));
  out.print(given.json);
}

/// One number per layer: those given, or 10 each.
std::vector<rig::index> fan_outs_of(const settings& my) {
  const auto layers = static_cast<std::size_t>(my.layers);
  if (my.fan_outs.empty()) return std::vector<rig::index>(layers, 10);
  const auto given = gnn::numbers_of("--fan-outs", my.fan_outs, -1, rig::widest_sample);
  example::require(std::ranges::find(given, 0) == given.end(),
                   "--fan-outs takes 1 or more, or -1 for all neighbours, not 0");
  example::require(given.size() == layers, "--fan-outs has " + std::to_string(given.size()) +
                                               " numbers; give one per layer, " +
                                               std::to_string(layers));
  return given;
}

void train(const example::options& given, const settings& my) {
  if (!my.save.empty()) rig::output_file trial(my.save);
  auto data = gnn::load(my.data);
  if (my.normalise_features) gnn::normalise_features(data);
  gnn::set_type_of_features(data, "float");
  const auto shape = shape_of(my, data);
  const rig::place where = given.where();
  gnn::network<float> net(shape, my.how.seed, where);
  const bool in_batches = my.batch > 0;
  const auto on =
      gnn::move(data, shape, given.describe(), in_batches ? rig::cpu() : where, my.sample_width);
  gnn::batching by;
  if (in_batches) by = {data.graph.to(where), data.parts[0], fan_outs_of(my), my.batch};
  const auto found = [&] {
    progress_line line(my.how.epochs);
    const auto show = [&](const auto& now) { line.show(now); };
    if (!in_batches) return gnn::train(net, on.problem, my.how, show);
    return gnn::train(net, on.problem, my.how, show,
                      [&](auto& t, auto& optimiser, std::uint64_t seed) {
                        return gnn::run_epoch(t, net, optimiser, on.problem, by, seed);
                      });
  }();
  if (!my.save.empty())
    gnn::save(my.save, {shape, my.normalise_features, found.values, data.multi_label});
  report(my, data, net, on, by, found, given);
}

void check(const settings& my, const std::string& kernel) {
  using example::require;
  require(my.nonlinearity == "relu" || my.nonlinearity == "maxk",
          "--nonlinearity is relu or maxk, not '" + my.nonlinearity + "'");
  require(my.nonlinearity == "maxk" || my.k == 0, "--k is for --nonlinearity maxk");
  require(my.nonlinearity == "relu" || my.k >= 1, "--nonlinearity maxk needs --k of at least 1");
  example::require_at_least(1, "--epochs", my.how.epochs);
  require(my.how.rate > 0, "--lr is above 0, not " + example::digits(my.how.rate));
  example::require_at_least(0.0, "--weight-decay", my.how.decay);
  example::require_at_least(0L, "--seed", my.seed);
  gnn::check_kernel(kernel);
  gnn::chosen(gnn::kind_names, "--model", my.model);
  gnn::chosen(gnn::gathering_names, "--aggregate", my.aggregate);
  require(
      my.aggregate == "mean" || my.model == "sage" || (my.model == "gin" && my.aggregate == "gcn"),
      "--aggregate " + my.aggregate + " is for --model sage, not " + my.model);
  require(!example::is_sampled(kernel),
          "--kernel " + kernel +
              " leaves entries out, other ones of the transpose; train with --sample-width, and "
              "pass it to gnn_infer");
  require(my.alpha == 0.1 || my.model == "appnp" || my.model == "gcnii",
          "--alpha is for --model appnp and gcnii, not " + my.model);
  require(my.hops == 10 || my.model == "appnp", "--hops is for --model appnp, not " + my.model);
  example::require_at_least(0, "--batch", my.batch);
  require(my.batch > 0 || my.fan_outs.empty(), "--fan-outs is for --batch");
  require(my.batch == 0 || (my.model == "sage" && my.aggregate != "gcn" && my.sample_width == 0),
          "--batch is for --model sage with mean or pool, without --sample-width");
  require(my.batch == 0 || kernel.empty(),
          "--batch leaves the kernel to rig: blocks and scores have other ones; drop --kernel");
  require(
      my.batch == 0 || my.edge_dropout == 0,
      "--edge-dropout leaves edges of the whole graph out; --batch draws its edges by --fan-outs");
  if (my.batch > 0) fan_outs_of(my);
  require(
      my.sample_width >= 0 && my.sample_width <= rig::widest_sample,
      "--sample-width is 1 to 4096, or 0 for every entry, not " + std::to_string(my.sample_width));
}

}  // namespace

int main(int count, char** arguments) {
  settings my;
  namespace po = example::po;
  po::options_description own("Training", 100);
  auto add = own.add_options();
  add("data", po::value(&my.data)->required()->value_name("DIR"),
      "a folder with graph, features, labels and split, in a format of docs/guide/training.md; or "
      "reddit-like, products-like, proteins-like, with :NODES behind it a smaller one");
  add("model", po::value(&my.model)->default_value("gcn"),
      "gcn, sage, gin, gat, appnp, gcnii; or mlp, which does not see the graph");
  add("aggregate", po::value(&my.aggregate)->default_value("mean"),
      "how sage gathers: mean, pool or gcn; gin with gcn divides its sums as gcn does");
  add("hidden", po::value(&my.hidden)->default_value(64)->value_name("H"),
      "width of the layers between");
  add("layers", po::value(&my.layers)->default_value(2)->value_name("L"),
      "number of layers; of gcnii, between its first and last dense one");
  add("heads", po::value(&my.heads)->default_value(1)->value_name("N"),
      "heads of gat, side by side in the hidden columns; the last layer has one");
  add("norm", po::value(&my.norm)->default_value("none"),
      "none, batch or layer: a norm before each ReLU or MaxK");
  add("residual", po::bool_switch(&my.residual),
      "add what a layer is given to its result, if both have the hidden width");
  add("edge-dropout", po::value(&my.edge_dropout)->default_value(0, "0")->value_name("P"),
      "share of the edges that an epoch leaves out");
  add("alpha", po::value(&my.alpha)->default_value(0.1, "0.1")->value_name("P"),
      "share of the start in each product of appnp and gcnii");
  add("hops", po::value(&my.hops)->default_value(10)->value_name("K"), "products of appnp");
  add("nonlinearity", po::value(&my.nonlinearity)->default_value("relu"), "relu or maxk");
  add("k", po::value(&my.k)->default_value(0)->value_name("K"), "entries that maxk keeps");
  add("sample-width", po::value(&my.sample_width)->default_value(0)->value_name("S"),
      "entries of each row that an epoch draws anew; 0: all of them");
  add("batch", po::value(&my.batch)->default_value(0)->value_name("B"),
      "nodes per step of sage, with sampled neighbours; 0: all nodes with theirs");
  add("fan-outs", po::value(&my.fan_outs)->value_name("N,N,…"),
      "neighbours per node in a batch, for each hop from its nodes; -1: all; 10 each unless given");
  add("epochs", po::value(&my.how.epochs)->default_value(200)->value_name("E"),
      "the most epochs; training ends when 100 have brought no better validation accuracy");
  add("lr", po::value(&my.how.rate)->default_value(0.01, "0.01")->value_name("R"),
      "learning rate of Adam");
  add("dropout", po::value(&my.dropout)->default_value(0.5, "0.5")->value_name("P"),
      "share of the inputs of a layer that are dropped");
  add("weight-decay", po::value(&my.how.decay)->default_value(5e-4, "5e-4")->value_name("D"),
      "of the first layer");
  add("normalize-features", po::bool_switch(&my.normalise_features),
      "divide each row of the features by its sum");
  add("seed", po::value(&my.seed)->default_value(1)->value_name("S"),
      "seed of weights and dropout");
  add("save", example::file_to_write("--save", my.save), "write the model of the best epoch");
  return example::run_program(
      count, arguments, {.summary = "Trains a graph neural network", .what = example::takes::data},
      own, [&](const example::options& given) {
        check(my, given.kernel);
        my.how.seed = static_cast<std::uint64_t>(my.seed);
        train(given, my);
      });
}
