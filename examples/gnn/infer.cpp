// What a trained network finds with other kernels and types: sampled rows, 8-bit features.

#include <cmath>
#include <functional>
#include <optional>
#include <span>

#include "model_file.hpp"
#include "programs.hpp"
#include "rig/kernels/sampling.hpp"
#include "rig/sampling_report.hpp"

namespace {

struct settings {
  std::string model, data, feature_type, sweep;
  int width = 0;
  bool rescale = false;
  std::optional<double> lose_at_most;  ///< points of the validation score
};

/// A way to infer.
struct attempt {
  rig::descriptor desc;
  std::string feature_type;
};

bool is_sampled(const rig::descriptor& desc) { return desc.width > 0; }

/// The attempts of a sweep: exact, on a GPU also by `vendor`, and by each sampled kernel with each
/// width; in floats and in 8 bits. A model that does not see the graph has no widths.
std::vector<attempt> sweep_of(const std::vector<int>& widths, const rig::descriptor& plain,
                              bool has_vendor) {
  std::vector<attempt> all;
  for (const std::string type : {"float", "int8"}) {
    all.push_back({plain, type});
    if (has_vendor && type == "float") {
      rig::descriptor by_vendor = plain;
      by_vendor.kernel = "vendor";
      by_vendor.reproducible = false;
      all.push_back({by_vendor, type});
    }
    for (const int width : widths)
      for (const char* kernel : {"bucket", "fastrand", "adaptive"}) {
        rig::descriptor desc = plain;
        desc.kernel = kernel;
        desc.width = width;
        desc.rescale = true;
        all.push_back({desc, type});
      }
  }
  return all;
}

void check_fits(const gnn::saved_model& model, const gnn::dataset& data, const settings& my) {
  const gnn::shape& s = model.shape;
  if (s.inputs != data.inputs() || s.outputs != data.y.columns())
    rig::fail(rig::errc::shape,
              {my.model, ": a model of ", s.inputs, " features and ", s.outputs, " classes; ",
               my.data, " has ", data.inputs(), " and ", data.y.columns()});
  if (model.multi_label.value_or(data.multi_label) != data.multi_label)
    rig::fail(rig::errc::shape,
              {my.model, ": a model of ", data.multi_label ? "one class" : "several labels",
               " per node; nodes of ", my.data, " have ",
               data.multi_label ? "several labels" : "one class"});
  if (s.k > 0 && s.layers > 1 && (!my.sweep.empty() || my.lose_at_most))
    rig::fail(rig::errc::cannot, {my.sweep.empty() ? "--lose-at-most" : "--sweep",
                                  ": no sampled kernel reads what MaxK keeps; sweep a model "
                                  "of ReLU"});
}

/// What an attempt found: results, and the median of its times.
struct inferred {
  rig::dense<float> z;
  double ms = 0;
};
inferred run(const attempt& by, const gnn::dataset& data, const gnn::network<float>& net,
             gnn::moved& on, int runs) {
  const rig::place where = on.problem.x->where();
  on.problem.a.desc = by.desc;
  rig::dense<float> z;
  std::vector<double> ms;
  for (int run = -1; run < runs; ++run) {  // the first, untimed, builds derived structures
    const example::stopwatch watch;
    gnn::tape plain(false, where);
    z = std::move(net.forward(plain, on.problem.a, on.problem.x)->value);
    rig::synchronise(where);
    if (run >= 0) ms.push_back(watch.ms());
  }
  if (!gnn::is_finite(z))
    rig::fail(rig::errc::range, {data.name,
                                 ": the results are not finite; give smaller features, or a "
                                 "model for these"});
  return {std::move(z), gnn::median(ms)};
}

double kept_share(const attempt& by, const gnn::moved& on) {
  return is_sampled(by.desc) ? rig::sampling_report(on.problem.a.a, by.desc).kept_share() : 1;
}

/// What an attempt gives up beside the exact results, in points of the validation score, and
/// gains.
struct trade {
  double lost = 0, lost_bound = 0, exact_ms = 0;
};

/// The class of each validation node; with several labels, which it has.
std::vector<std::vector<bool>> decisions_of(const gnn::dataset& data, const rig::dense<float>& z) {
  std::vector<std::vector<bool>> out;
  const auto results = z.to(rig::cpu());
  for (const rig::index node : data.parts[1]) {
    const std::span row(results.data() + std::ptrdiff_t{node} * results.stride(),
                        static_cast<std::size_t>(results.columns()));
    std::vector<bool> of_node(row.size());
    const auto best = std::ranges::max_element(row) - row.begin();
    for (std::size_t c = 0; c < row.size(); ++c)
      of_node[c] = data.multi_label ? row[c] > 0 : static_cast<std::ptrdiff_t>(c) == best;
    out.push_back(std::move(of_node));
  }
  return out;
}

/// The fastest attempt that loses no more than allowed. The bound of its loss adds 1.64 standard
/// deviations, by the validation nodes that are decided otherwise: 95 % on one side.
attempt cheapest(const std::vector<attempt>& attempts, double most, const gnn::dataset& data,
                 const gnn::network<float>& net, gnn::moved& on,
                 const std::function<void(const attempt&)>& prepare, trade& found) {
  constexpr int runs = 5;
  constexpr double deviations = 1.64, gain = 0.95;  // a lesser gain may be chance
  prepare(attempts.front());
  const inferred exact = run(attempts.front(), data, net, on, runs);
  const double score = gnn::accuracy(exact.z, on.problem.of).validation;
  const auto decided = decisions_of(data, exact.z);
  const auto nodes = static_cast<double>(std::max<std::size_t>(decided.size(), 1));
  attempt best = attempts.front();
  double least = exact.ms, exact_ms = exact.ms;
  for (const attempt& by : std::span(attempts).subspan(1)) {
    if (is_sampled(by.desc) && kept_share(by, on) == 1) continue;  // it reads every entry
    prepare(by);
    const inferred now = run(by, data, net, on, runs);
    const auto other = decisions_of(data, now.z);
    double changed = 0;
    for (std::size_t k = 0; k < decided.size(); ++k) changed += decided[k] != other[k];
    const double lost = 100 * (score - gnn::accuracy(now.z, on.problem.of).validation),
                 bound = lost + 100 * deviations * std::sqrt(changed) / nodes;
    if (bound > most || now.ms >= gain * least) continue;
    // Both are timed again, because other work may have slowed one.
    const double again = std::max(now.ms, run(by, data, net, on, runs).ms);
    prepare(attempts.front());
    exact_ms = std::min(exact_ms, run(attempts.front(), data, net, on, runs).ms);
    if (again >= gain * std::min(least, exact_ms)) continue;
    best = by;
    least = again;
    found = {lost, bound, 0};
  }
  found.exact_ms = exact_ms;
  return best;
}

/// Infers in one way, and reports it; `against`, what it gives up and gains.
void infer(const attempt& by, const gnn::dataset& data, const gnn::network<float>& net,
           gnn::moved& on, const example::options& given, const trade* against = nullptr) {
  const rig::place where = on.problem.x->where();
  gnn::reset_peak(where);
  const auto [z, ms] = run(by, data, net, on, 11);
  const auto times = gnn::measure_stages(
      ms, false, where, [&](gnn::tape& t) { net.forward(t, on.problem.a, on.problem.x); });
  example::report out;
  const gnn::shape& s = net.shape();
  out.add("model", std::string(gnn::kind_names[static_cast<std::size_t>(s.model)]));
  out.add_hidden("data", data.name);
  if (s.model == gnn::kind::sage || s.aggregate != gnn::gathering::mean)
    out.add_hidden("aggregate",
                   std::string(gnn::gathering_names[static_cast<std::size_t>(s.aggregate)]));
  out.add_hidden("device", std::string(where == rig::cpu() ? "cpu" : "cuda"));
  out.add("kernel", by.desc.kernel);
  out.add("width", by.desc.width);
  out.add("feature_type", by.feature_type);
  gnn::add_scores(out, gnn::accuracy(z, on.problem.of), data, z);
  out.add("kept_share", kept_share(by, on));
  if (against != nullptr) {
    out.add("lost_points", against->lost);
    out.add("lost_points_bound", against->lost_bound);
    out.add("exact_ms", against->exact_ms);
  }
  out.add("inference_ms", ms);
  out.add("aggregate_ms", times.aggregate);
  out.add("update_ms", times.update);
  out.add("transfer_ms", on.transfer_ms);
  out.add("peak_bytes", gnn::peak_bytes(where));
  given.finish(out, z);
}

void infer(const example::options& given, const settings& my) {
  const rig::place where = given.where();
  rig::descriptor plain = given.describe();
  plain.width = my.width;
  plain.rescale = my.rescale;
  const auto model = gnn::load_model(my.model);
  auto data = gnn::load(my.data);
  check_fits(model, data, my);
  // Codes are those of the features that the model reads.
  if (model.normalise_features && gnn::type_of_features(data) == "float")
    gnn::normalise_features(data);
  gnn::network<float> net(model.shape, 1, where);
  net.set_values(model.values);
  if (!my.feature_type.empty()) gnn::set_type_of_features(data, my.feature_type);
  auto on = gnn::move(data, model.shape, plain, where);
  std::vector<attempt> attempts = {{plain, std::string(gnn::type_of_features(data))}};
  const bool chooses = my.lose_at_most.has_value();
  std::optional<gnn::features> stored;  // of several types in turn
  if (chooses || !my.sweep.empty()) {
    stored = data.features;
    const bool sees_graph = model.shape.model != gnn::kind::mlp;
    const auto widths = gnn::numbers_of("--sweep", chooses ? "8,16,32,64,128,256,512" : my.sweep, 1,
                                        rig::widest_sample);
    attempts = sweep_of(sees_graph ? widths : std::vector<int>(), plain,
                        sees_graph && where != rig::cpu() && on.problem.a.a.values() != nullptr);
  }
  const auto prepare = [&](const attempt& by) {
    if (by.feature_type == gnn::type_of_features(data)) return;
    data.features = *stored;
    gnn::set_type_of_features(data, by.feature_type);
    on.problem.x = gnn::features_at(data, where);
  };
  trade found;
  if (chooses) attempts = {cheapest(attempts, *my.lose_at_most, data, net, on, prepare, found)};
  for (const attempt& by : attempts) {
    prepare(by);
    infer(by, data, net, on, given, chooses ? &found : nullptr);
  }
}

void check(const settings& my, const example::options& given) {
  using example::require;
  if (!my.feature_type.empty()) gnn::chosen(gnn::type_names, "--feature-type", my.feature_type);
  const bool samples = example::is_sampled(given.kernel);
  gnn::check_kernel(given.kernel);
  example::require_between(0, rig::widest_sample, "--width", my.width);
  require(samples == (my.width > 0),
          "--width of at least 1 belongs to --kernel bucket, fastrand or adaptive");
  require(my.sweep.empty() || (given.kernel.empty() && my.width == 0),
          "--sweep names kernels and widths itself");
  require(my.sweep.empty() || given.output.empty(),
          "--sweep infers in many ways; leave out --output");
  require(my.sweep.empty() || my.feature_type.empty(),
          "--sweep infers in floats and in 8 bits; leave out --feature-type " + my.feature_type);
  require(my.lose_at_most.value_or(0) >= 0,
          "--lose-at-most is at least 0, not " + example::digits(my.lose_at_most.value_or(0)));
  require(!my.lose_at_most || (my.sweep.empty() && given.kernel.empty() && my.width == 0 &&
                               my.feature_type.empty()),
          "--lose-at-most chooses kernel, width and type itself; leave out --sweep, --kernel, "
          "--width and --feature-type");
  require(samples || !my.rescale, "--rescale belongs to --kernel bucket, fastrand or adaptive");
}

}  // namespace

int main(int count, char** arguments) {
  settings my;
  namespace po = example::po;
  po::options_description own("Inference", 100);
  auto add = own.add_options();
  add("model", po::value(&my.model)->required()->value_name("FILE"), "what gnn_train --save wrote");
  add("data", po::value(&my.data)->required()->value_name("DIR"), "as for gnn_train");
  add("width", po::value(&my.width)->default_value(0)->value_name("W"),
      "entries of a row that a sampled kernel reads");
  add("rescale", po::bool_switch(&my.rescale), "multiply sums of sampled rows by row_nnz / read");
  add("feature-type", po::value(&my.feature_type)->value_name("TYPE"),
      "float, half, bfloat16 or int8: what features are stored in, if not as in the data");
  add("sweep", po::value(&my.sweep)->value_name("W,W,…"),
      "infers exactly and by each sampled kernel with each width, in floats and in 8 bits");
  add("lose-at-most",
      po::value<double>()->notifier([&](double p) { my.lose_at_most = p; })->value_name("P"),
      "infers in the fastest way that costs at most P points of the validation score");
  return example::run_program(
      count, arguments,
      {.summary = "Infers with a trained graph neural network",
       .what = example::takes::data,
       .output = "a number per class of each node: the greatest is its class; with several labels "
                 "per node, those above 0"},
      own, [&](const example::options& given) {
        check(my, given);
        infer(given, my);
      });
}
