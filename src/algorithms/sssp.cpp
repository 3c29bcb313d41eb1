#include "rig/algorithms/sssp.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "algorithms/columns.hpp"
#include "algorithms/measured.hpp"
#include "algorithms/preparation.hpp"
#include "rig/closure.hpp"
#include "rig/distributed_algorithms.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"

namespace rig {
namespace {

template <class T>
void check(const matrix<T>& a, int64 source, index nodes, const sssp_options& given,
           const descriptor& desc) {
  require_sources("sssp", std::span(&source, 1), nodes);
  if (!(given.delta >= 0))
    fail(errc::range, {"sssp: delta is ", given.delta, "; set a number of at least 0"});
  const T least = reduce(a, binary::minimum, desc);
  if (!(least >= 0))
    fail(errc::range, {"sssp: the least weight is ", least, "; give weights of at least 0"});
}

/// Some of the weights, evenly spaced, without those that are 0 or infinite.
template <class T>
std::vector<double> sample_of(const matrix<T>& a) {
  std::vector<double> out;
  const auto take = [&](T weight) {
    if (weight > 0 && weight < highest<T>()) out.push_back(static_cast<double>(weight));
  };
  if (a.iso()) {
    take(a.iso_value());
    return out;
  }
  // An odd stride meets every phase of weights that repeat after 2, 4, 8 … entries.
  const int64 stride = a.nnz() / measured::sampled_weights | 1;
  const auto count = static_cast<index>((a.nnz() + stride - 1) / stride);
  const auto some =
      dense<T>::view(a.values(), count, 1, stride, a.where(), a.values_stream()).to(cpu());
  for (const T weight : some) take(weight);
  return out;
}

/// The mean weight in a sample, where weights far above the median count less: a few of them would
/// make one bucket of all nodes.
template <class T>
double usual_weight(const matrix<T>& a) {
  auto sample = sample_of(a);
  if (sample.empty()) return 0;
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
  std::nth_element(sample.begin(), middle, sample.end());
  const double most = measured::most_medians * *middle;
  double sum = 0;
  for (const double weight : sample) sum += std::min(weight, most);
  return sum / static_cast<double>(sample.size());
}

/// The width of a bucket. Wide ones make fewer steps, each of which has a cost of its own.
template <class T>
T width_of(const matrix<T>& a, const sssp_options& given) {
  const double usual_weights =
      a.where() == cpu() ? measured::usual_weights : measured::usual_weights_on_device;
  const T width = convert<T>(given.delta > 0 ? given.delta : usual_weights * usual_weight(a));
  return width > 0 ? width : 1;
}

/// The distances, by rounds of one closure. Sets the number of rounds.
template <class T, class Graph>
auto distances_of(const Graph& a, int64 source, double width, int& steps, const sssp_options& given,
                  const descriptor& desc) {
  auto out =
      start_column("sssp", a, static_cast<index>(source), T(0), highest<T>(), of_operations(desc));
  steps =
      static_cast<int>(close_into("sssp", out, a, min_plus<T>(),
                                  {.width = width, .progress = given.progress}, of_products(desc)));
  return out;
}

template <class T>
sssp_result<T> paths(const matrix<T>& a, int64 source, const sssp_options& given,
                     const descriptor& desc) {
  const descriptor other = of_operations(desc);
  check(a, source, a.rows(), given, other);
  sssp_result<T> found;
  const auto width = static_cast<double>(width_of(a, given));
  found.distances = distances_of<T>(a, source, width, found.steps, given, desc);
  found.reached = count_of("sssp", found.distances, binary::less, highest<T>(), other);
  return found;
}

template <class T>
distributed<sssp_result<T>> paths(const distributed<matrix<T>>& a, int64 source,
                                  const sssp_options& given, const descriptor& desc) {
  const descriptor other = of_operations(desc);
  require_graph("sssp", a, desc, [&] { check(a.local(), source, a.rows(), given, other); });
  over_ranks::require_equal(a.communicator(), "sssp", "the source", source);
  int steps = 0;
  auto distances = distances_of<T>(a, source, 0, steps, given, desc);
  const int64 reached = count_of("sssp", distances, binary::less, highest<T>(), other);
  return {std::move(distances), reached, steps};
}

}  // namespace

sssp_result<double> sssp(const matrix<double>& a, int64 source, const sssp_options& given,
                         const descriptor& desc) {
  return on_graph("sssp", a, desc, [&] { return paths(a, source, given, desc); });
}
sssp_result<int64> sssp(const matrix<int64>& a, int64 source, const sssp_options& given,
                        const descriptor& desc) {
  return on_graph("sssp", a, desc, [&] { return paths(a, source, given, desc); });
}

distributed<sssp_result<double>> sssp(const distributed<matrix<double>>& a, int64 source,
                                      const sssp_options& given, const descriptor& desc) {
  return paths(a, source, given, desc);
}
distributed<sssp_result<int64>> sssp(const distributed<matrix<int64>>& a, int64 source,
                                     const sssp_options& given, const descriptor& desc) {
  return paths(a, source, given, desc);
}

}  // namespace rig
