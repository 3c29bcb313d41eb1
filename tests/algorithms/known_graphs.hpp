#pragma once

// Graphs of the data sets with their answers, and random graphs for plain loops.

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "data_sets.hpp"
#include "rig/generate.hpp"
#include "rig/graph.hpp"
#include "rig/io.hpp"
#include "rig/matrix.hpp"
#include "seed.hpp"

namespace known {

namespace fs = std::filesystem;
using nlohmann::json;

struct graph {
  std::string name;
  fs::path file;
  json expected;

  template <class T = bool>
  rig::matrix<T> load() const {
    return rig::read_matrix<T>(file.string());
  }
};

/// The graphs whose answers have this key.
inline std::vector<graph> with(const std::string& key) {
  std::vector<graph> found;
  for (auto& [name, folder, file, answers] : data::sets(key))
    found.push_back({name, file, std::move(answers)});
  return found;
}

/// A file of lagraph-small, plain or packed.
inline std::string lagraph_file(const std::string& name) {
  return data::find(data::folder() / "lagraph-small", name + ".mtx");
}

/// The answers of lagraph-small; null if it is missing.
inline json lagraph() {
  const fs::path file = data::folder() / "lagraph-small" / "known.json";
  return data::has(file) ? json::parse(std::ifstream(file)) : json();
}

/// A graph of ldbc-small, whose nodes have ids, and its reference output.
struct ldbc_graph {
  std::string name;
  rig::matrix<double> a;
  std::vector<long> ids;
  std::map<long, std::string> answers;

  int node(long id) const {
    return static_cast<int>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
  }
  const std::string& answer(int node) const {
    return answers.at(ids[static_cast<std::size_t>(node)]);
  }
};

/// Reads `input` ("id neighbours…" per line) or `input`.v and `input`.e (ids; "from to weight"),
/// and `output` ("id answer"). Lists of neighbours of undirected graphs hold both directions.
inline ldbc_graph read_ldbc(const std::string& input, const std::string& output, bool undirected) {
  const fs::path folder = data::folder() / "ldbc-small";
  ldbc_graph out{input, {}, {}, {}};
  std::vector<long> from, to;
  std::vector<double> weights;
  const auto each_line = [&](const std::string& name, auto work) {
    std::ifstream file(folder / name);
    for (std::string line; std::getline(file, line);)
      if (std::istringstream words(line); line.find_first_not_of(" \r") != std::string::npos)
        work(words);
  };
  const auto add = [&](long i, long j, double weight) {
    from.push_back(i);
    to.push_back(j);
    weights.push_back(weight);
  };
  const bool is_list = exists(folder / input);
  each_line(is_list ? input : input + ".v", [&](std::istringstream& words) {
    long id = 0;
    words >> id;
    out.ids.push_back(id);
    for (long other = 0; is_list && words >> other;) add(id, other, 1);
  });
  if (!is_list)
    each_line(input + ".e", [&](std::istringstream& words) {
      long i = 0, j = 0;
      double weight = 1;
      words >> i >> j >> weight;
      add(i, j, weight);
      if (undirected) add(j, i, weight);
    });
  each_line(output, [&](std::istringstream& words) {
    long id = 0;
    words >> id;
    words >> out.answers[id];
  });
  // Nodes without neighbours may lack a line of their own.
  for (const auto& [id, text] : out.answers) out.ids.push_back(id);
  std::sort(out.ids.begin(), out.ids.end());
  out.ids.erase(std::unique(out.ids.begin(), out.ids.end()), out.ids.end());
  for (auto* list : {&from, &to})
    for (long& id : *list) id = out.node(id);
  const auto n = static_cast<int>(out.ids.size());
  out.a = rig::matrix<double>::from_tuples(n, n, from, to, weights);
  return out;
}

/// The directed and the undirected graphs of ldbc-small for one algorithm: "BFS", "SSSP", "WCC".
inline std::vector<ldbc_graph> ldbc(const std::string& algorithm) {
  if (!data::has(data::folder() / "ldbc-small")) return {};
  std::string folder = algorithm;
  for (char& c : folder) c = static_cast<char>(std::tolower(c));
  std::vector<ldbc_graph> found;
  for (const std::string way : {"directed", "undirected"}) {
    const std::string brief = way.substr(0, way.size() - 5);  // dir, undir
    const bool undirected = way == "undirected";
    const std::string example = "example/example-" + way;
    found.push_back(read_ldbc(algorithm == "SSSP" ? example : example + "-input",
                              example + "-" + algorithm, undirected));
    found.push_back(
        read_ldbc(folder + "/" + brief + "-input", folder + "/" + brief + "-output", undirected));
  }
  return found;
}

/// The source of searches in a graph of ldbc-small.
inline int ldbc_source(const ldbc_graph& graph) {
  return graph.node(graph.name.find("example-undirected") == std::string::npos ? 1 : 2);
}

/// A random graph; with self loops, and the reverse of each arc if `undirected`.
inline rig::matrix<bool> random(random_bits& bits, int nodes, int arcs, bool undirected) {
  std::vector<int> from, to;
  for (int k = 0; nodes > 0 && k < arcs; ++k) {
    from.push_back(bits.below(nodes));
    to.push_back(bits.below(nodes));
    if (!undirected) continue;
    from.push_back(to.back());
    to.push_back(from[from.size() - 2]);
  }
  return rig::matrix<bool>::from_positions(nodes, nodes, from, to, true, true);
}

/// Small graphs of many kinds: no node, one node, a self loop, sparse and dense, disconnected.
template <class Check>
void each_random(Check check) {
  random_bits bits(test_seed());
  check(rig::matrix<bool>(0, 0), true);
  check(rig::matrix<bool>(1, 1), true);
  check(rig::matrix<bool>::from_positions(1, 1, std::vector{0}, std::vector{0}), true);
  check(rig::matrix<bool>(7, 7), true);
  for (const int nodes : {2, 3, 5, 10, 40, 150})
    for (const double degree : {0.5, 1.0, 1.5, 4.0, 12.0})
      for (const bool undirected : {false, true})
        check(random(bits, nodes, static_cast<int>(nodes * degree), undirected), undirected);
}

/// The ends of the arcs from each node.
inline std::vector<std::vector<int>> arcs_of(const rig::matrix<bool>& a) {
  std::vector<std::vector<int>> out(static_cast<std::size_t>(a.rows()));
  for (int i = 0; i < a.rows(); ++i)
    for (auto p = a.structure().offset(i); p < a.structure().offset(i + 1); ++p)
      out[static_cast<std::size_t>(i)].push_back(a.structure().column_indices()[p]);
  return out;
}

/// Levels by a plain queue.
inline std::vector<int> levels_of(const std::vector<std::vector<int>>& arcs, int source) {
  std::vector<int> level(arcs.size(), -1), queue{source};
  level[static_cast<std::size_t>(source)] = 0;
  for (std::size_t k = 0; k < queue.size(); ++k)
    for (const int j : arcs[static_cast<std::size_t>(queue[k])])
      if (level[static_cast<std::size_t>(j)] < 0) {
        level[static_cast<std::size_t>(j)] = level[static_cast<std::size_t>(queue[k])] + 1;
        queue.push_back(j);
      }
  return level;
}

/// Whether a call throws a rig::error of this code whose message has this text.
template <class Call>
void check_error(rig::errc code, const std::string& text, Call call) {
  try {
    call();
    FAIL("no error");
  } catch (const rig::error& thrown) {
    CHECK(thrown.code() == code);
    CHECK(std::string(thrown.what()).find(text) != std::string::npos);
  }
}

}  // namespace known
