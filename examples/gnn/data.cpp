#include <cmath>

#include "rig/graph.hpp"
#include "sources.hpp"

namespace gnn {

using rig::index;

dataset load_data(const std::string& from) {
  return is_generated(from) ? generated(from) : read_files(from);
}

void normalise_features(dataset& data) {
  if (auto* sparse = std::get_if<rig::matrix<float>>(&data.features)) {
    std::vector<float> factors(static_cast<std::size_t>(sparse->rows()));
    for (index i = 0; i < sparse->rows(); ++i) {
      double sum = 0;
      for (auto p = sparse->structure().offset(i); p < sparse->structure().offset(i + 1); ++p)
        sum += sparse->value(p);
      factors[static_cast<std::size_t>(i)] = static_cast<float>(sum != 0 ? 1 / sum : 1);
    }
    *sparse = rig::scale_rows(*sparse, factors);
    return;
  }
  if (!std::holds_alternative<rig::dense<float>>(data.features))
    rig::fail(
        rig::errc::cannot,
        {data.name, ": the features are ", type_of_features(data),
         ", which is not divided; store divided features, and leave out --normalize-features"});
  auto& x = std::get<rig::dense<float>>(data.features);
  for (index i = 0; i < x.rows(); ++i) {
    double sum = 0;
    for (const float value : x.row(i)) sum += value;
    if (sum != 0)
      for (float& value : x.row(i)) value = static_cast<float>(value / sum);
  }
}

namespace {

rig::dense<float> floats_of(const rig::matrix<float>& words) {
  return rig::ewise_add(words, rig::dense<float>(words.rows(), words.columns()), rig::binary::plus);
}
rig::dense<float> floats_of(const rig::quantized& codes) { return codes.dequantised<float>(); }
template <class T>
rig::dense<float> floats_of(const rig::dense<T>& x) {
  return rig::apply<float>(x, rig::unary::identity);
}

}  // namespace

std::string_view type_of_features(const dataset& data) {
  if (std::holds_alternative<rig::quantized>(data.features)) return "int8";
  if (std::holds_alternative<rig::dense<rig::half>>(data.features)) return "half";
  if (std::holds_alternative<rig::dense<rig::bfloat16>>(data.features)) return "bfloat16";
  return "float";
}

void set_type_of_features(dataset& data, std::string_view type) {
  if (type == type_of_features(data)) return;
  const auto x = std::visit([](const auto& stored) { return floats_of(stored); }, data.features);
  if (type == "int8")
    data.features = rig::quantized::from(x);
  else if (type == "half")
    data.features = rig::apply<rig::half>(x, rig::unary::identity);
  else if (type == "bfloat16")
    data.features = rig::apply<rig::bfloat16>(x, rig::unary::identity);
  else
    data.features = x;
}

truth<float> truth_of(const dataset& data) {
  const index n = data.graph.rows(), classes = data.y.columns();
  const auto full_rows = [&](const auto& has_row) {
    std::vector<rig::int64> offsets{0};
    std::vector<index> columns;
    for (index i = 0; i < n; ++i) {
      if (has_row(i))
        for (index c = 0; c < classes; ++c) columns.push_back(c);
      offsets.push_back(static_cast<rig::int64>(columns.size()));
    }
    return rig::matrix<float>::from_csr(n, classes, offsets, columns);
  };
  std::vector<bool> is_trained(static_cast<std::size_t>(n));
  for (const index i : data.parts[0]) is_trained[static_cast<std::size_t>(i)] = true;
  std::vector<index> part, node;
  for (index p = 0; p < 3; ++p)
    for (const index i : data.parts[static_cast<std::size_t>(p)]) {
      part.push_back(p);
      node.push_back(i);
    }
  return {data.multi_label,
          data.y,
          data.label,
          full_rows([&](index i) { return is_trained[static_cast<std::size_t>(i)]; }),
          full_rows([](index) { return true; }),
          rig::matrix<float>::from_positions(3, n, part, node)};
}

}  // namespace gnn
