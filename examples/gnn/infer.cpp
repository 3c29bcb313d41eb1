// What a trained network finds with other kernels and types: sampled rows, 8-bit features.

#include "model_file.hpp"
#include "programs.hpp"
#include "rig/sampling_report.hpp"

namespace {

constexpr std::array<std::string_view, 4> type_names = {"float", "half", "bfloat16", "int8"};

struct settings {
  std::string model, data, feature_type;
  int width = 0;
  bool rescale = false;
};

/// Features of words as numbers, with a 0 in each other place.
rig::dense<float> full_features(const gnn::dataset& data) {
  if (const auto* full = std::get_if<rig::dense<float>>(&data.features)) return *full;
  const auto& sparse = std::get<rig::matrix<float>>(data.features);
  return rig::ewise_add(sparse, rig::dense<float>(sparse.rows(), sparse.columns()),
                        rig::binary::plus);
}

/// The features in the type in which the first layer gathers them.
gnn::narrow_features narrowed(const gnn::dataset& data, const std::string& type) {
  if (type == "float") return {};
  const auto full = full_features(data);
  if (type == "half") return rig::apply<rig::half>(full, rig::unary::identity);
  if (type == "bfloat16") return rig::apply<rig::bfloat16>(full, rig::unary::identity);
  return rig::quantized::from(full);
}

void check_fits(const gnn::shape& s, const gnn::dataset& data, const settings& my) {
  if (s.inputs != data.inputs() || s.outputs != data.y.columns())
    rig::fail(rig::errc::shape,
              {my.model, ": a model of ", s.inputs, " features and ", s.outputs, " classes; ",
               my.data, " has ", data.inputs(), " and ", data.y.columns()});
  const bool gathers_features = s.model == gnn::kind::gcn ||
                                (s.model == gnn::kind::gin && s.k == 0) ||
                                (s.model == gnn::kind::sage && s.aggregate != gnn::gathering::pool);
  if (my.feature_type != "float" && (!gathers_features || (s.k > 0 && s.layers > 1)))
    rig::fail(rig::errc::cannot,
              {"--feature-type ", my.feature_type,
               ": the first layer of this model gathers what a dense product made; a model of gcn, "
               "gin, or sage with mean or gcn, and ReLU, gathers features"});
}

void infer(const example::options& given, const settings& my) {
  const auto model = gnn::load_model(my.model);
  auto data = gnn::load_data(my.data);
  check_fits(model.shape, data, my);
  if (model.normalise_features) gnn::normalise_features(data);
  auto desc = given.describe();
  desc.width = my.width;
  desc.rescale = my.rescale;
  const rig::place where = given.where();
  gnn::network<float> net(model.shape, 1, where);
  net.set_values(model.values);
  const auto on = gnn::move(data, model.shape, desc, where);
  on.problem.x->narrow = gnn::to(narrowed(data, my.feature_type), where);

  rig::dense<float> z;
  std::vector<double> ms;
  for (int run = 0; run < 11; ++run) {
    const example::stopwatch watch;
    gnn::tape plain(false, where);
    z = std::move(net.forward(plain, on.problem.a, on.problem.x)->value);
    rig::synchronise(where);
    ms.push_back(watch.ms());
  }
  const auto times = gnn::measure_stages(net, on.problem, false);
  const bool is_sampled = my.width > 0;
  example::report out;
  out.add("model", std::string(gnn::kind_names[static_cast<std::size_t>(model.shape.model)]));
  out.add_hidden("data", data.name);
  out.add_hidden("device", std::string(where == rig::cpu() ? "cpu" : "cuda"));
  out.add("kernel", given.kernel);
  out.add("width", my.width);
  out.add("feature_type", my.feature_type);
  add_scores(out, gnn::accuracy(z, on.problem.of), data, z);
  out.add("kept_share", is_sampled ? rig::sampling_report(on.problem.a.a, desc).kept_share() : 1.0);
  out.add("inference_ms", gnn::median(ms));
  out.add("aggregate_ms", times.aggregate);
  out.add("update_ms", times.update);
  out.add("transfer_ms", on.transfer_ms);
  out.add("peak_bytes", gnn::peak_bytes(where));
  out.print(given.json);
}

void check(const settings& my, const example::options& given) {
  using example::require;
  gnn::chosen(type_names, "--feature-type", my.feature_type);
  const auto kernels = rig::kernels();
  const bool samples = std::ranges::any_of(kernels, [&](const rig::kernel& k) {
    return k.name == given.kernel && k.samples != rig::sampling::none;
  });
  require(samples == (my.width > 0),
          "--width of at least 1 belongs to --kernel bucket, fastrand or adaptive");
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
  add("feature-type", po::value(&my.feature_type)->default_value("float"),
      "float, half, bfloat16 or int8: in which the first layer gathers the features");
  return example::run_program(
      count, arguments, "Infers with a trained graph neural network", own,
      [&](const example::options& given) {
        check(my, given);
        infer(given, my);
      },
      example::takes::data);
}
