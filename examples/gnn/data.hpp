#pragma once

#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "loss.hpp"
#include "rig/matrix.hpp"
#include "rig/quantized.hpp"

// What a network is trained on: a folder of files, or a generated graph.

namespace gnn {

/// Those of words are sparse; narrow ones are for inference.
using features = std::variant<rig::matrix<float>, rig::dense<float>, rig::quantized,
                              rig::dense<rig::half>, rig::dense<rig::bfloat16>>;

struct dataset {
  std::string name;
  rig::matrix<float> graph;  ///< of ones
  gnn::features features;
  bool multi_label = false;
  rig::dense<float> y;                           ///< nodes × classes, 1 where a node has the label
  rig::dense<rig::int32> label;                  ///< the class of each node, or −1
  std::array<std::vector<rig::index>, 3> parts;  ///< nodes to train, to validate, to test

  rig::index inputs() const {
    return std::visit([](const auto& x) { return x.columns(); }, features);
  }
};

/// Reads a data set from a folder or an archive, in one of the formats of docs/guide/training.md,
/// or generates `reddit-like`, `products-like` or `proteins-like`, with `:NODES` behind it a
/// smaller one. Throws error: io; format, with file and line, node or key; shape, range.
dataset load_data(const std::string& from);
/// Whether a name is one of generated data, with `:` and anything behind it or not.
bool is_generated(const std::string& from);

/// Divides each row of the features by its sum; rows whose sum is 0 stay. Throws error(cannot) for
/// codes.
void normalise_features(dataset& data);

/// What a feature is stored in: float, half, bfloat16 or int8.
inline constexpr std::array<std::string_view, 4> type_names = {"float", "half", "bfloat16", "int8"};
std::string_view type_of_features(const dataset& data);
/// Stores features in another type; those of words then become dense.
void set_type_of_features(dataset& data, std::string_view type);

/// The truth of a data set, in host memory.
truth<float> truth_of(const dataset& data);

}  // namespace gnn
