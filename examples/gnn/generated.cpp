#include <algorithm>
#include <cmath>
#include <numbers>

#include "rig/generate.hpp"
#include "sources.hpp"

// Data of communities, made up.

namespace gnn {
namespace {

using rig::index;

/// Random numbers addressed by their place, the same for any number of threads.
class noise {
 public:
  noise(std::uint64_t seed, std::uint64_t stream) : key_(mixed(seed * 1000 + stream)) {}
  /// Uniform in [0, 1).
  double uniform(std::uint64_t at) const {
    return static_cast<double>(mixed(key_ + at * 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53;
  }
  index below(index n, std::uint64_t at) const {
    return static_cast<index>(uniform(at) * static_cast<double>(n));
  }
  /// Normal, by Box & Muller.
  double normal(std::uint64_t at) const {
    return std::sqrt(-2 * std::log(1 - uniform(2 * at))) *
           std::cos(2 * std::numbers::pi * uniform(2 * at + 1));
  }

 private:
  static std::uint64_t mixed(std::uint64_t x) {  // splitmix64's finaliser
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  std::uint64_t key_;
};

/// How labels and features follow from communities.
struct recipe {
  const char* name;
  index features;
  index classes;  ///< community c has class c modulo this; 0: a class of its own
  double signal;  ///< the deviation of the means of the communities; that of the noise is 1
  double strays;  ///< the share of nodes with the class and the features of another community
  double shown;   ///< the share of nodes with the features of their own community, not its partner
  index tasks;    ///< 0: a node has a class
  double task_share, flipped;  ///< communities with a task, and labels that differ from theirs
  double train, validation;    ///< shares of the nodes; the others test
};
constexpr recipe recipes[] = {
    {"reddit-like", 602, 0, 0.5, 0.10, 0.60, 0, 0, 0, 0.66, 0.10},
    {"proteins-like", 8, 0, 6.0, 0.05, 0.55, 112, 0.3, 0.02, 0.65, 0.16},
    {"products-like", 100, 47, 0.08, 0.05, 1, 0, 0, 0, 0.08, 0.02},
};

/// The shape of a recipe's graph with `nodes` nodes; 0: its own number.
rig::generate::community_shape resized(rig::generate::community_shape shape, index nodes) {
  if (nodes == 0) return shape;
  const double most = nodes / 20.0;  // beyond that, duplicates would distort the degrees
  shape.n = nodes;
  shape.mean = std::min(shape.mean, most);
  shape.max_degree = std::min(shape.max_degree, nodes / 2.0);
  return shape;
}

void generate_labels(const recipe& by, const std::vector<index>& community, index communities,
                     dataset& data) {
  const noise of_tasks(1, 0), of_flips(1, 1);
  const auto n = static_cast<index>(community.size());
  const index classes = by.classes > 0 ? by.classes : communities;
  const index columns = by.tasks > 0 ? by.tasks : classes;
  data.multi_label = by.tasks > 0;
  data.label = rig::dense<rig::int32>(n, 1, -1);
  data.y = rig::dense<float>(n, columns);
  for (index i = 0; i < n; ++i) {
    const index c = community[static_cast<std::size_t>(i)];
    if (!data.multi_label) {
      data.label(i, 0) = c % classes;
      data.y(i, c % classes) = 1;
      continue;
    }
    for (index t = 0; t < by.tasks; ++t) {
      const auto at = static_cast<std::uint64_t>(c) * 4096 + static_cast<std::uint64_t>(t);
      const auto flip = static_cast<std::uint64_t>(i) * 4096 + static_cast<std::uint64_t>(t);
      const bool has = of_tasks.uniform(at) < by.task_share;
      data.y(i, t) = has != (of_flips.uniform(flip) < by.flipped) ? 1 : 0;
    }
  }
}

rig::dense<float> generate_features(const recipe& by, const std::vector<index>& community) {
  const noise of_means(1, 2), of_nodes(1, 3);
  const auto n = static_cast<index>(community.size());
  auto x = rig::dense<float>::uninitialised(n, by.features);
#pragma omp parallel for
  for (index i = 0; i < n; ++i)
    for (index j = 0; j < by.features; ++j) {
      const auto at = [&](index of) {
        return static_cast<std::uint64_t>(of) * 4096 + static_cast<std::uint64_t>(j);
      };
      x(i, j) = static_cast<float>(by.signal *
                                       of_means.normal(at(community[static_cast<std::size_t>(i)])) +
                                   of_nodes.normal(at(i)));
    }
  return x;
}

dataset generate(const recipe& by, index nodes) {
  const auto& named = rig::generate::community_of(by.name);
  const auto shape = resized(named.shape, nodes);
  dataset data;
  data.name = nodes == 0 ? by.name : by.name + (":" + std::to_string(nodes));
  data.graph = rig::generate::community(shape, named.seed);
  auto community = rig::generate::community_blocks(shape, named.seed);
  const noise of_strays(1, 4), of_parts(1, 5);
  for (std::size_t i = 0; i < community.size(); ++i)
    if (of_strays.uniform(2 * i) < by.strays)
      community[i] = of_strays.below(shape.blocks, 2 * i + 1);
  generate_labels(by, community, shape.blocks, data);
  // Communities are partners two by two. The features of a node say little about which of the two
  // is its own, and those of many neighbours say it.
  const noise of_shown(1, 6);
  for (std::size_t i = 0; i < community.size(); ++i)
    if (const index partner = community[i] ^ 1;
        partner < shape.blocks && of_shown.uniform(i) >= by.shown)
      community[i] = partner;
  data.features = generate_features(by, community);
  for (index i = 0; i < shape.n; ++i) {
    const double u = of_parts.uniform(static_cast<std::uint64_t>(i));
    data.parts[u < by.train ? 0 : u < by.train + by.validation ? 1 : 2].push_back(i);
  }
  return data;
}

}  // namespace

bool is_generated(const std::string& from) {
  return std::ranges::any_of(recipes, [name = from.substr(0, from.find(':'))](const recipe& by) {
    return name == by.name;
  });
}

dataset generated(const std::string& from) {
  const std::string name = from.substr(0, from.find(':'));
  for (const recipe& by : recipes) {
    if (name != by.name) continue;
    return generate(
        by,
        from == name ? 0 : integer_of(from.substr(name.size() + 1), from + ": ", 500, 10'000'000));
  }
  rig::fail(rig::errc::format, {from, ": no data of this name is generated"});
}

}  // namespace gnn
