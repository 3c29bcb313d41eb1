#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "rig/elementwise.hpp"
#include "rig/graph.hpp"
#include "rig/io.hpp"
#include "sources.hpp"

// Data sets as others publish them.

namespace gnn {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using rig::errc;
using rig::fail;
using rig::index;

constexpr index most_classes = 1 << 16;
constexpr float no_label = -1;

/// The one of some files that a folder has, if it has one.
std::optional<std::string> found(const fs::path& folder, std::initializer_list<const char*> names) {
  std::vector<const char*> present;
  for (const char* name : names)
    if (fs::exists(folder / name)) present.push_back(name);
  if (present.empty()) return {};
  if (present.size() > 1)
    fail(errc::io, {folder.string(), ": there are ", present[0], " and ", present[1],
                    "; keep the one to be read"});
  return (folder / present[0]).string();
}
std::string file_of(const fs::path& folder, std::initializer_list<const char*> names) {
  if (const auto path = found(folder, names)) return *path;
  std::string all;
  for (const char* name : names) all += (all.empty() ? "" : " or ") + std::string(name);
  fail(errc::io, {folder.string(), ": there is no ", all,
                  "; docs/guide/training.md lists the files of each format"});
}

std::ifstream opened(const std::string& path) {
  std::ifstream file(path);
  if (!file || fs::is_directory(path)) fail(errc::io, {path, ": cannot be read"});
  return file;
}

/// Calls line(words, "file:line: ") for each line of a file that is no comment.
template <class Line>
void for_each_line(const std::string& path, Line line) {
  std::ifstream file = opened(path);
  std::string text;
  for (long number = 1; std::getline(file, text); ++number) {
    if (text.starts_with('#')) continue;
    std::istringstream words(text);
    line(std::vector<std::string>(std::istream_iterator<std::string>(words), {}),
         path + ":" + std::to_string(number) + ": ");
  }
}

/// A file of JSON; `keep` as json::parse has it. Every defect is an error that names the file.
json parsed(const std::string& path, const json::parser_callback_t& keep = nullptr) {
  std::ifstream file = opened(path);
  try {
    return json::parse(file, keep);
  } catch (const json::exception& bad) {
    fail(errc::format, {path, ": not JSON as GraphSAINT writes it: ", bad.what()});
  }
}

/// Sets the labels: a class per node, −1 or NaN for none; or, in several columns, 0 or 1 per label.
void set_labels(const rig::dense<float>& of, const std::string& file, dataset& data) {
  const index n = data.graph.rows();
  if (of.rows() != n) fail(errc::format, {file, ": ", of.rows(), " labels for ", n, " nodes"});
  data.multi_label = of.columns() > 1;
  data.label = rig::dense<rig::int32>(n, 1, -1);
  index classes = 0;
  for (index i = 0; i < n; ++i)
    for (const float x : of.row(i)) {
      const bool is_none = !data.multi_label && (x == no_label || std::isnan(x));
      const float most = data.multi_label ? 1 : most_classes - 1;
      if (!is_none && !(x >= 0 && x <= most && x == std::floor(x)))
        fail(errc::format, {file, ": the label of node ", i, " is ", x, ", not ",
                            data.multi_label ? "0 or 1" : "a class from 0, or -1 for none"});
      if (is_none || data.multi_label) continue;
      data.label(i, 0) = static_cast<rig::int32>(x);
      classes = std::max(classes, data.label(i, 0) + 1);
    }
  if (data.multi_label) {
    data.y = of;
    return;
  }
  if (classes == 0) fail(errc::format, {file, ": no node has a label"});
  data.y = rig::dense<float>(n, classes);
  for (index i = 0; i < n; ++i)
    if (data.label(i, 0) >= 0) data.y(i, data.label(i, 0)) = 1;
}

/// Labels of a text: a class a line, or 0 or 1 for each label.
void read_labels(const std::string& path, dataset& data) {
  const index n = data.graph.rows();
  std::vector<float> all;
  std::size_t columns = 0;
  index count = 0;
  for_each_line(path, [&](std::vector<std::string> words, const std::string& at) {
    if (words.empty()) words.emplace_back();
    if (count == 0) columns = words.size();
    if (words.size() != columns)
      fail(errc::format,
           {at, "there are ", words.size(), " numbers; the lines before have ", columns});
    if (count++ == n) fail(errc::format, {at, "there are more labels than the ", n, " nodes"});
    for (const std::string& word : words)
      all.push_back(static_cast<float>(columns > 1 ? integer_of(word, at, 0, 1)
                                                   : integer_of(word, at, -1, most_classes - 1)));
  });
  set_labels(rig::dense<float>::from(count, static_cast<index>(columns), all), path, data);
}

/// The nodes of the parts, as a source names them.
class split {
 public:
  explicit split(dataset& of) : of_(of), seen_(static_cast<std::size_t>(of.graph.rows())) {}

  void add(std::size_t part, const std::string& word, const std::string& at) {
    const index node = integer_of(word, at, 0, of_.graph.rows() - 1);
    if (seen_[static_cast<std::size_t>(node)])
      fail(errc::format, {at, "node ", node, " is in the split twice"});
    if (!of_.multi_label && of_.label(node, 0) < 0)
      fail(errc::format, {at, "node ", node, " has no label"});
    seen_[static_cast<std::size_t>(node)] = true;
    of_.parts[part].push_back(node);
  }
  void finish(const std::string& path, const char* remedy = "") const {
    for (std::size_t part = 0; part < of_.parts.size(); ++part)
      if (of_.parts[part].empty())
        fail(errc::format, {path, ": no node is in ", part_names[part], remedy});
  }
  static std::size_t part_of(const std::string& name, const std::string& at) {
    const auto part = std::ranges::find(part_names, name);
    if (part == part_names.end())
      fail(errc::format, {at, "'", name, "' is not train, val or test"});
    return static_cast<std::size_t>(part - part_names.begin());
  }

 private:
  static constexpr std::array<std::string_view, 3> part_names = {"train", "val", "test"};
  dataset& of_;
  std::vector<bool> seen_;
};

void read_split(const std::string& path, dataset& data) {
  split parts(data);
  for_each_line(path, [&](const std::vector<std::string>& words, const std::string& at) {
    if (words.empty()) return;
    const std::size_t part = split::part_of(words[0], at);
    for (std::size_t w = 1; w < words.size(); ++w) parts.add(part, words[w], at);
  });
  parts.finish(path);
}

/// A split where none is published: of each class 20 nodes to train and 30 to validate, in an order
/// that scatters.
void split_by_rule(const std::string& from, dataset& data) {
  std::vector<std::pair<std::uint32_t, index>> order;
  for (index i = 0; i < data.graph.rows(); ++i)
    if (data.label(i, 0) >= 0) order.emplace_back(static_cast<std::uint32_t>(i) * 2654435761u, i);
  std::ranges::sort(order);
  split parts(data);
  std::vector<int> count(static_cast<std::size_t>(data.y.columns()));
  for (const auto& [key, node] : order) {
    const int before = count[static_cast<std::size_t>(data.label(node, 0))]++;
    parts.add(before < 20 ? 0 : before < 50 ? 1 : 2, std::to_string(node), from + ": ");
  }
  parts.finish(from,
               "; put a split.txt beside it, or 20 nodes of each class train and 30 validate");
}

void check_rows(const std::string& from, const dataset& data) {
  const index rows = std::visit([](const auto& x) { return x.rows(); }, data.features);
  if (data.graph.rows() != data.graph.columns() || rows != data.graph.rows())
    fail(errc::shape, {from, ": the graph is ", data.graph.rows(), "x", data.graph.columns(),
                       ", the features have ", rows, " rows"});
}

/// Both directions of each edge, without self loops.
rig::matrix<float> undirected(const rig::matrix<float>& graph) {
  return rig::select(rig::symmetrise(graph.with_value(1.0f)), rig::selection::off_diagonal, 0);
}

/// graph.mtx, features, labels and split.txt.
dataset read_labelled(const fs::path& folder) {
  dataset data;
  constexpr auto one_of_several = rig::accumulator::first;  // values are not read
  data.graph = rig::read_matrix<float>(file_of(folder, {"graph.mtx", "graph.mtx.gz"}),
                                       {.duplicates = one_of_several})
                   .with_value(1.0f);
  const std::string features = file_of(folder, {"features.mtx", "features.mtx.gz", "features.npy",
                                                "features.npy.gz", "features.npz"});
  if (features.ends_with(".npz"))
    data.features = rig::read_quantized(features);
  else if (features.find(".npy") != std::string::npos)
    data.features = rig::read_dense<float>(features);
  else
    data.features = rig::read_matrix<float>(features);
  check_rows(folder.string(), data);
  const std::string labels = file_of(folder, {"labels.txt", "labels.npy", "labels.npy.gz"});
  if (labels.ends_with(".txt"))
    read_labels(labels, data);
  else
    set_labels(rig::read_dense<float>(labels), labels, data);
  read_split(file_of(folder, {"split.txt"}), data);
  return data;
}

/// An archive of gnn-benchmark: arrays adj_*, attr_* and labels.
dataset read_archive(const std::string& path) {
  dataset data;
  data.graph = undirected(rig::read_matrix<float>(path, {.arrays = "adj_"}));
  data.features = rig::read_matrix<float>(path, {.arrays = "attr_"});
  check_rows(path, data);
  set_labels(rig::read_dense<float>(path, "labels"), path, data);
  if (data.multi_label)
    fail(errc::format, {path, ": the labels have ", data.y.columns(), " columns; give a class"});
  if (const auto path_of_split = found(fs::path(path).parent_path(), {"split.txt"}))
    read_split(*path_of_split, data);
  else
    split_by_rule(path, data);
  return data;
}

/// The mean of the features of a node's edges, where nodes have none of their own.
rig::dense<float> means_of_edges(const std::string& edges, const std::string& features, index n) {
  const auto ends = rig::read_dense<rig::int32>(edges);
  const auto x = rig::read_dense<float>(features);
  if (ends.rows() != x.rows())
    fail(errc::shape, {features, ": ", x.rows(), " rows for ", ends.rows(), " edges"});
  rig::dense<double> sums(n, x.columns());
  std::vector<double> degree(static_cast<std::size_t>(n));
  for (index e = 0; e < ends.rows(); ++e)
    for (const rig::int32 node : ends.row(e)) {  // which the graph's reader has checked
      ++degree[static_cast<std::size_t>(node)];
      for (index j = 0; j < x.columns(); ++j) sums(node, j) += static_cast<double>(x(e, j));
    }
  rig::dense<float> means(n, x.columns());
  for (index i = 0; i < n; ++i)
    for (index j = 0; j < x.columns(); ++j)
      means(i, j) =
          static_cast<float>(sums(i, j) / std::max(degree[static_cast<std::size_t>(i)], 1.0));
  return means;
}

/// The folder of an OGB split: `split` itself, or the one folder in it, such as split/time.
fs::path folder_of_split(const fs::path& folder) {
  const fs::path all = folder / "split";
  if (!fs::is_directory(all)) fail(errc::io, {folder.string(), ": there is no folder split"});
  std::vector<fs::path> below;
  for (const auto& each : fs::directory_iterator(all))
    if (each.is_directory()) below.push_back(each.path());
  if (below.empty()) return all;
  if (below.size() > 1)
    fail(errc::format, {all.string(), ": there are ", below.size(), " splits; keep one of them"});
  return below[0];
}

/// Tables of the Open Graph Benchmark, in the folder or below it in raw/.
dataset read_ogb(const fs::path& folder, const fs::path& raw) {
  dataset data;
  const std::string labels = file_of(raw, {"node-label.csv.gz", "node-label.csv"});
  const auto classes = rig::read_dense<float>(labels);
  const index n = classes.rows();
  if (n == 0) fail(errc::format, {labels, ": there is no node"});
  const std::string edges = file_of(raw, {"edge.csv.gz", "edge.csv"});
  data.graph =
      undirected(rig::read_matrix<float>(edges, {.nodes = n, .separator = ',', .values = false}));
  if (const auto of_nodes = found(raw, {"node-feat.csv.gz", "node-feat.csv"}))
    data.features = rig::read_dense<float>(*of_nodes);
  else if (const auto of_edges = found(raw, {"edge-feat.csv.gz", "edge-feat.csv"}))
    data.features = means_of_edges(edges, *of_edges, n);
  else
    file_of(raw, {"node-feat.csv.gz", "edge-feat.csv.gz"});
  check_rows(folder.string(), data);
  set_labels(classes, labels, data);
  const fs::path split_folder = folder_of_split(folder);
  split parts(data);
  std::size_t part = 0;
  for (const std::string name : {"train", "valid", "test"}) {
    const std::string file =
        file_of(split_folder, {(name + ".csv.gz").c_str(), (name + ".csv").c_str()});
    for (const rig::int32 node : rig::read_dense<rig::int32>(file))
      parts.add(part, std::to_string(node), file + ": ");
    ++part;
  }
  parts.finish(split_folder.string());
  return data;
}

/// The labels of class_map.json: a class or a list of 0 and 1 for each node, by its number.
rig::dense<float> read_class_map(const std::string& path, index n) {
  rig::dense<float> labels;
  std::string key;
  const auto take = [&](const json& of) {
    const std::string at = path + ": node " + key + ": ";
    const index node = integer_of(key, path + ": ", 0, n - 1);
    const auto count = static_cast<index>(of.is_array() ? of.size() : 1);
    if (labels.rows() == 0) labels = rig::dense<float>(n, count, std::nanf(""));
    if (count != labels.columns())
      fail(errc::format, {at, count, " labels; the nodes before have ", labels.columns()});
    for (index c = 0; c < count; ++c) {
      const json& one = of.is_array() ? of[static_cast<std::size_t>(c)] : of;
      if (!one.is_number()) fail(errc::format, {at, one.dump(), " is not a number"});
      labels(node, c) = one.get<float>();
    }
  };
  // A node's labels are taken as soon as they are read, because the whole may be large.
  parsed(path, [&](int depth, json::parse_event_t event, json& of) {
    using event_of = json::parse_event_t;
    if (depth == 0 && event == event_of::value)
      fail(errc::format,
           {path, ": the file is ", of.dump(), "; give an object of nodes and labels"});
    if (depth == 0 && event == event_of::array_start)
      fail(errc::format, {path, ": the file is a list; give an object of nodes and labels"});
    if (depth != 1) return true;
    if (event == event_of::object_start)
      fail(errc::format,
           {path, ": node ", key, " has an object for labels; give a number or a row of 0 and 1"});
    if (event == event_of::key) key = of.get<std::string>();
    if (event != event_of::value && event != event_of::array_end) return true;
    take(of);
    return false;
  });
  if (labels.rows() == 0) fail(errc::format, {path, ": there is no node"});
  return labels;
}

/// The files of GraphSAINT.
dataset read_graphsaint(const fs::path& folder) {
  dataset data;
  data.graph = rig::read_matrix<float>(file_of(folder, {"adj_full.npz"})).with_value(1.0f);
  data.features = rig::read_dense<float>(file_of(folder, {"feats.npy", "feats.npy.gz"}));
  check_rows(folder.string(), data);
  const std::string classes = file_of(folder, {"class_map.json"});
  set_labels(read_class_map(classes, data.graph.rows()), classes, data);
  const std::string roles = file_of(folder, {"role.json"});
  const json role = parsed(roles);
  split parts(data);
  std::size_t part = 0;
  for (const std::string key : {"tr", "va", "te"}) {
    const std::string at = roles + ": key '" + key + "': ";
    if (!role.is_object() || !role.contains(key) || !role[key].is_array())
      fail(errc::format, {at, "there is no list of nodes"});
    for (const json& node : role[key]) parts.add(part, node.dump(), at);
    ++part;
  }
  parts.finish(roles);
  return data;
}

/// The one .npz of a folder, or none.
std::string archive_in(const fs::path& folder) {
  std::vector<std::string> all;
  if (fs::is_directory(folder))
    for (const auto& each : fs::directory_iterator(folder))
      if (each.path().extension() == ".npz") all.push_back(each.path().string());
  if (all.size() > 1)
    fail(errc::format, {folder.string(), ": there are ", all.size(),
                        " files .npz; pass one of them instead of the folder"});
  return all.empty() ? std::string() : all[0];
}

/// Throws error(range) unless all features are finite; `at` is in front.
void check_finite(const std::string& at, const features& given) {
  const auto refuse = [&](index i, index j, float x) {
    fail(errc::range,
         {at, ": feature (", i, ", ", j, ") is ", x, "; give features that are finite"});
  };
  if (const auto* sparse = std::get_if<rig::matrix<float>>(&given)) {
    for (index i = 0; i < sparse->rows(); ++i)
      for (auto p = sparse->structure().offset(i); p < sparse->structure().offset(i + 1); ++p)
        if (!std::isfinite(sparse->value(p)))
          refuse(i, sparse->structure().column_indices()[p], sparse->value(p));
  } else if (const auto* full = std::get_if<rig::dense<float>>(&given)) {
    for (index i = 0; i < full->rows(); ++i)
      for (index j = 0; j < full->columns(); ++j)
        if (!std::isfinite((*full)(i, j))) refuse(i, j, (*full)(i, j));
  }
}

dataset read_any(const std::string& from) {
  const fs::path folder = from;
  if (!fs::exists(folder))
    fail(errc::io, {"'", from,
                    "' is no folder or archive; give one, or reddit-like, products-like or "
                    "proteins-like"});
  if (from.ends_with(".npz")) return read_archive(from);
  if (found(folder, {"graph.mtx", "graph.mtx.gz"})) return read_labelled(folder);
  if (found(folder, {"adj_full.npz"})) return read_graphsaint(folder);
  for (const fs::path& raw : {folder / "raw", folder})
    if (found(raw, {"edge.csv.gz", "edge.csv"})) return read_ogb(folder, raw);
  if (const std::string archive = archive_in(folder); !archive.empty())
    return read_archive(archive);
  fail(errc::io, {from,
                  ": there is no graph.mtx, adj_full.npz, edge.csv.gz or other .npz; "
                  "docs/guide/training.md lists the files of each format"});
}

}  // namespace

index integer_of(const std::string& word, const std::string& at, index least, index most) {
  index number = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (code != std::errc() || end != word.data() + word.size() || number < least || number > most)
    fail(errc::format, {at, "'", word, "' is not an integer from ", least, " to ", most});
  return number;
}

dataset read_files(const std::string& from) {
  dataset data = read_any(from);
  check_finite(from, data.features);
  if (data.inputs() == 0)
    fail(errc::shape, {from, ": the features have no columns; give at least 1"});
  const fs::path path = (fs::path(from) / "").parent_path();  // without a slash at its end
  data.name = (from.ends_with(".npz") ? path.stem() : path.filename()).string();
  return data;
}

}  // namespace gnn
