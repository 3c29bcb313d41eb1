#pragma once

#include <array>
#include <string>
#include <string_view>

#include "../options.hpp"
#include "training.hpp"

// What gnn_train and gnn_infer share.

namespace gnn {

/// The number of a name in a list. Throws usage_error, which lists the names.
template <std::size_t N>
int chosen(const std::array<std::string_view, N>& names, const std::string& option,
           const std::string& name) {
  std::string list;
  for (std::size_t k = 0; k < N; ++k) {
    if (names[k] == name) return static_cast<int>(k);
    list += (k == 0 ? "" : k + 1 == N ? " or " : ", ") + std::string(names[k]);
  }
  throw example::usage_error(option + " is " + list + ", not '" + name + "'");
}

/// The numbers of a list such as 16,32. Throws usage_error unless each lies between `least` and
/// `most`.
std::vector<int> numbers_of(const std::string& option, const std::string& list, int least,
                            int most);

/// Throws usage_error for the kernel of MaxK, which the nonlinearity chooses.
void check_kernel(const std::string& kernel);

/// `load_data` of --data. Throws usage_error for generated data of a size that is none.
dataset load(const std::string& from);

/// A data set where a network is computed, and the milliseconds that its copy took.
struct moved {
  gnn::problem problem;
  double transfer_ms = 0;
};
/// The features as they are stored.
var<float> features_at(const dataset& data, rig::place where);
/// With a `sample_width`, each step of training draws so many entries of each row.
moved move(const dataset& data, const shape& s, const rig::descriptor& desc, rig::place where,
           int sample_width = 0);

/// What the shares of `scores` are.
inline const char* name_of_score(const dataset& data) {
  return data.multi_label ? "micro-F1" : "accuracy";
}
/// Adds the scores; for several labels, or two classes, also the areas under the ROC curves of
/// results `z`.
void add_scores(example::report& to, const scores& found, const dataset& data,
                const rig::dense<float>& z);

/// The most bytes that the process held: of memory on the CPU, of the device's pool on a GPU.
long peak_bytes(rig::place where);
/// Makes what is held now the most on a GPU; the CPU keeps its own.
void reset_peak(rig::place where);

}  // namespace gnn
