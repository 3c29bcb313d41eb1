#include "programs.hpp"

#include <sys/resource.h>

#include <charconv>
#include <cmath>
#include <sstream>

#ifdef RIG_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

namespace gnn {
namespace {

using rig::index;

/// Whether areas under ROC curves are scores: each column is a task, or there are two classes.
bool has_areas(const dataset& data) { return data.multi_label || data.y.columns() == 2; }

}  // namespace

std::vector<int> numbers_of(const std::string& option, const std::string& list, int least,
                            int most) {
  std::vector<int> out;
  std::istringstream words(list);
  example::require(!list.ends_with(','), option + " ends with a comma: '" + list + "'");
  for (std::string word; std::getline(words, word, ',');) {
    int number = 0;
    const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
    example::require(code == std::errc() && end == word.data() + word.size() && number >= least &&
                         number <= most,
                     option + " takes numbers from " + std::to_string(least) + " to " +
                         std::to_string(most) + " such as 16,32, not '" + word + "'");
    out.push_back(number);
  }
  return out;
}

void check_kernel(const std::string& kernel) {
  example::require(kernel != "maxk",
                   "--kernel maxk is the kernel of --nonlinearity maxk, which chooses it; leave "
                   "--kernel out");
}

dataset load(const std::string& from) {
  try {
    return load_data(from);
  } catch (const rig::error& bad) {
    if (bad.code() == rig::errc::format && is_generated(from))
      throw example::usage_error("--data " + std::string(bad.what()));
    throw;
  }
}

var<float> features_at(const dataset& data, rig::place where) {
  const auto x =
      std::visit([&](const auto& x) { return variable_of<float>(x.to(where)); }, data.features);
  x->needs_gradient = false;
  return x;
}

moved move(const dataset& data, const shape& s, const rig::descriptor& desc, rig::place where,
           int sample_width) {
  const auto truth = truth_of(data);
  const example::stopwatch watch;
  const auto graph = data.graph.to(where);
  const auto x = features_at(data, where);
  const auto there = truth.to(where);
  rig::synchronise(where);
  const double ms = where == rig::cpu() ? 0 : watch.ms();
  gnn::problem on{aggregation_of(s, graph, desc), x, there};
  if ((sample_width > 0 || s.edge_dropout > 0) && s.model != kind::mlp)
    on.drawn = [=](std::uint64_t seed) {
      return drawn_aggregation_of(s, graph, desc, sample_width, seed);
    };
  return {std::move(on), ms};
}

void add_scores(example::report& to, const scores& found, const dataset& data,
                const rig::dense<float>& z) {
  to.add("train_accuracy", found.train);
  to.add("val_accuracy", found.validation);
  to.add("test_accuracy", found.test);
  if (!has_areas(data)) return;
  // Of two classes the second is the label, and the margin over the first is its result.
  auto results = z.to(rig::cpu()), labels = data.y;
  if (!data.multi_label) {
    const index n = results.rows();
    rig::dense<float> margins(n, 1), second(n, 1);
    for (index i = 0; i < n; ++i) {
      margins(i, 0) = results(i, 1) - results(i, 0);
      second(i, 0) = labels(i, 1);
    }
    results = margins;
    labels = second;
  }
  const auto add_area = [&](const char* key, const std::vector<index>& nodes) {
    const double area = roc_auc<float>(results, labels, nodes);
    to.add_json(key, example::json(area),
                std::isnan(area) ? "none: no label divides the part" : example::brief(area));
  };
  add_area("val_roc_auc", data.parts[1]);
  add_area("test_roc_auc", data.parts[2]);
}

long peak_bytes(rig::place where) {
#ifdef RIG_HAS_CUDA
  if (where != rig::cpu()) {
    cudaMemPool_t pool = nullptr;
    std::uint64_t most = 0;
    if (cudaDeviceGetDefaultMemPool(&pool, where.device) == cudaSuccess &&
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most) == cudaSuccess)
      return static_cast<long>(most);
  }
#endif
  static_cast<void>(where);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss * 1024;
}

void reset_peak(rig::place where) {
#ifdef RIG_HAS_CUDA
  if (where == rig::cpu()) return;
  cudaMemPool_t pool = nullptr;
  std::uint64_t now = 0;  // the only value that the attribute takes
  if (cudaDeviceGetDefaultMemPool(&pool, where.device) == cudaSuccess)
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &now);
#else
  static_cast<void>(where);
#endif
}

}  // namespace gnn
