#include "data.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>

#include "rig/generate.hpp"
#include "rig/graph.hpp"
#include "rig/io.hpp"

namespace gnn {
namespace {

using rig::errc;
using rig::fail;
using rig::index;

constexpr std::array<const char*, 3> part_names = {"train", "val", "test"};

/// The first of some files that a folder has.
std::string file_of(const std::string& folder, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto path = std::filesystem::path(folder) / name; std::filesystem::exists(path))
      return path.string();
  fail(errc::io, {folder, ": there is no ", *names.begin(),
                  "; a data folder has graph.mtx, features.mtx, labels.txt and split.txt"});
}

/// Calls line(words, "file:line: ") for each line of a file that is no comment.
template <class Line>
void for_each_line(const std::string& path, Line line) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path)) fail(errc::io, {path, ": cannot be read"});
  std::string text;
  for (long number = 1; std::getline(file, text); ++number) {
    if (text.starts_with('#')) continue;
    std::istringstream words(text);
    line(words, path + ":" + std::to_string(number) + ": ");
  }
}

index number_of(const std::string& word, const std::string& at, index least, index most) {
  index number = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (code != std::errc() || end != word.data() + word.size() || number < least || number > most)
    fail(errc::format, {at, "'", word, "' is not an integer from ", least, " to ", most});
  return number;
}

void read_labels(const std::string& path, dataset& data) {
  constexpr index most_classes = 1 << 16;
  const index n = data.graph.rows();
  data.label = rig::dense<rig::int32>(n, 1, -1);
  index count = 0, classes = 0;
  for_each_line(path, [&](std::istringstream& words, const std::string& at) {
    std::string word, rest;
    words >> word;
    if (words >> rest) fail(errc::format, {at, "'", rest, "' follows the label"});
    const index label = number_of(word, at, -1, most_classes - 1);
    if (count == n) fail(errc::format, {at, "there are more labels than the ", n, " nodes"});
    data.label(count++, 0) = label;
    classes = std::max(classes, label + 1);
  });
  if (count != n) fail(errc::format, {path, ": ", count, " labels for ", n, " nodes"});
  if (classes == 0) fail(errc::format, {path, ": no node has a label"});
  data.y = rig::dense<float>(n, classes);
  for (index i = 0; i < n; ++i)
    if (data.label(i, 0) >= 0) data.y(i, data.label(i, 0)) = 1;
}

void read_split(const std::string& path, dataset& data) {
  std::vector<bool> seen(static_cast<std::size_t>(data.graph.rows()));
  for_each_line(path, [&](std::istringstream& words, const std::string& at) {
    std::string name, word;
    if (!(words >> name)) return;
    const auto part = std::ranges::find(part_names, name);
    if (part == part_names.end())
      fail(errc::format, {at, "'", name, "' is not train, val or test"});
    auto& nodes = data.parts[static_cast<std::size_t>(part - part_names.begin())];
    while (words >> word) {
      const index node = number_of(word, at, 0, data.graph.rows() - 1);
      if (seen[static_cast<std::size_t>(node)])
        fail(errc::format, {at, "node ", node, " is in the split twice"});
      if (data.label(node, 0) < 0) fail(errc::format, {at, "node ", node, " has no label"});
      seen[static_cast<std::size_t>(node)] = true;
      nodes.push_back(node);
    }
  });
  for (std::size_t part = 0; part < data.parts.size(); ++part)
    if (data.parts[part].empty()) fail(errc::format, {path, ": no node is in ", part_names[part]});
}

dataset read_folder(const std::string& folder) {
  dataset data;
  data.name = (std::filesystem::path(folder) / "").parent_path().filename().string();
  data.graph =
      rig::read_matrix<float>(file_of(folder, {"graph.mtx", "graph.mtx.gz"})).with_value(1.0f);
  const std::string features = file_of(folder, {"features.mtx", "features.mtx.gz", "features.npy"});
  if (features.ends_with(".npy"))
    data.features = rig::read_dense<float>(features);
  else
    data.features = rig::read_matrix<float>(features);
  const index rows = std::visit([](const auto& x) { return x.rows(); }, data.features);
  if (data.graph.rows() != data.graph.columns() || rows != data.graph.rows())
    fail(errc::shape, {folder, ": the graph is ", data.graph.rows(), "x", data.graph.columns(),
                       ", the features have ", rows, " rows"});
  read_labels(file_of(folder, {"labels.txt"}), data);
  read_split(file_of(folder, {"split.txt"}), data);
  return data;
}

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
  index tasks;    ///< 0: a node has a class
  double task_share, flipped;  ///< communities with a task, and labels that differ from theirs
  double train, validation;    ///< shares of the nodes; the others test
};
constexpr recipe recipes[] = {
    {"reddit-like", 602, 0, 0.08, 0.05, 0, 0, 0, 0.66, 0.10},
    {"proteins-like", 8, 0, 2.0, 0.05, 112, 0.3, 0.02, 0.65, 0.16},
    {"products-like", 100, 47, 0.08, 0.05, 0, 0, 0, 0.08, 0.02},
};

/// The community graph of a recipe with `nodes` nodes, and the community of each node.
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

dataset load_data(const std::string& from) {
  for (const recipe& by : recipes) {
    const std::string name = by.name;
    if (from == name) return generate(by, 0);
    if (!from.starts_with(name + ":")) continue;
    const std::string nodes = from.substr(name.size() + 1);
    return generate(by, number_of(nodes, from + ": ", 500, 10'000'000));
  }
  return read_folder(from);
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
  auto& x = std::get<rig::dense<float>>(data.features);
  for (index i = 0; i < x.rows(); ++i) {
    double sum = 0;
    for (const float value : x.row(i)) sum += value;
    if (sum != 0)
      for (float& value : x.row(i)) value = static_cast<float>(value / sum);
  }
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
