#pragma once

// What the tests of algorithms share: graphs by name, random graphs, and lists of neighbours.

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "data_sets.hpp"
#include "rig/io.hpp"
#include "rig/rig.hpp"
#include "seed.hpp"

namespace checks {

using nlohmann::json;
namespace fs = std::filesystem;
using graph = rig::matrix<bool>;
using arcs = std::vector<std::pair<int, int>>;

inline bool has_data() { return data::has(data::folder()); }

struct data_set {
  std::string name;
  graph a;
  json expected;
};

/// The graphs whose answers have `key`, if they are not too large for a test.
inline std::vector<data_set> data_sets(const std::string& key, int most_nnz = 4000000) {
  std::vector<data_set> found;
  for (const auto& [name, folder, file, answers] : data::sets(key))
    if (answers["nnz"] <= most_nnz)
      found.push_back({name, rig::read_matrix<bool>(file).with_value(true), answers});
  return found;
}

/// known.json of lagraph-small.
inline json known() {
  return json::parse(std::ifstream(data::folder() / "lagraph-small" / "known.json"));
}
inline graph lagraph(const std::string& name) {
  return rig::read_matrix<bool>(data::find(data::folder() / "lagraph-small", name + ".mtx"))
      .with_value(true);
}

/// A graph of LDBC, "v neighbours…" lines, and the number of each node in the files.
struct ldbc_graph {
  graph a;
  std::vector<long> names;
  int at(long name) const {
    return static_cast<int>(std::lower_bound(names.begin(), names.end(), name) - names.begin());
  }
};
inline ldbc_graph ldbc(const std::string& file) {
  ldbc_graph out;
  std::ifstream in(data::folder() / "ldbc-small" / file);
  std::vector<std::vector<long>> lines;
  std::set<long> names;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::vector<long> of_line;
    for (long v; words >> v;) of_line.push_back(v);
    if (of_line.empty()) continue;
    names.insert(of_line.begin(), of_line.end());
    lines.push_back(of_line);
  }
  out.names.assign(names.begin(), names.end());
  std::vector<int> from, to;
  for (const auto& line : lines)
    for (std::size_t k = 1; k < line.size(); ++k) {
      from.push_back(out.at(line[0]));
      to.push_back(out.at(line[k]));
    }
  const int n = static_cast<int>(names.size());
  out.a = graph::from_positions(n, n, from, to);
  return out;
}
/// The answers of a file of "v answer" lines, by index.
inline std::vector<double> ldbc_answers(const ldbc_graph& of, const std::string& file) {
  std::vector<double> out(of.names.size());
  std::ifstream in(data::folder() / "ldbc-small" / file);
  long v;
  double answer;
  while (in >> v >> answer) out[static_cast<std::size_t>(of.at(v))] = answer;
  return out;
}

/// Self loops and repeated positions are left as they come.
inline graph of_arcs(int n, const arcs& all) {
  std::vector<int> from, to;
  for (const auto& [i, j] : all) {
    from.push_back(i);
    to.push_back(j);
  }
  return graph::from_positions(n, n, from, to, true, true);
}

/// Arcs, self loops among them, between `n` nodes; both directions if asked for.
inline graph random_graph(int n, int count, bool both, random_bits& random) {
  arcs all;
  for (int k = 0; k < count && n > 0; ++k) {
    const int i = random.below(n), j = random.below(n);
    all.emplace_back(i, j);
    if (both) all.emplace_back(j, i);
  }
  return of_arcs(n, all);
}

struct named_graph {
  std::string name;
  graph a;
};

/// Shapes that algorithms meet, and random graphs.
inline std::vector<named_graph> graphs() {
  std::vector<named_graph> out{
      {"no node", graph(0, 0)},
      {"one node", graph(1, 1)},
      {"one loop", of_arcs(1, {{0, 0}})},
      {"no arc", graph(5, 5)},
      {"an arc", of_arcs(2, {{0, 1}})},
      {"loops", of_arcs(3, {{0, 0}, {1, 1}, {2, 2}})},
      {"two triangles", of_arcs(7, {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {4, 4}})},
      {"star", of_arcs(6, {{0, 1}, {0, 2}, {0, 3}, {4, 0}, {5, 0}})},
      {"path", of_arcs(6, {{0, 1}, {1, 2}, {2, 3}, {4, 3}, {5, 4}})}};
  arcs complete;
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 7; ++j) complete.emplace_back(i, j);
  out.push_back({"complete, with loops", of_arcs(7, complete)});
  random_bits random(test_seed());
  for (int k = 0; k < 40; ++k) {
    const int n = 1 + random.below(40), count = random.below(5 * n);
    out.push_back({"random " + std::to_string(k), random_graph(n, count, k % 2 == 0, random)});
  }
  return out;
}

/// The neighbours of each node, in a direction or in both; self loops are left out.
using neighbours = std::vector<std::set<int>>;
inline neighbours lists(const graph& a, bool both) {
  neighbours out(static_cast<std::size_t>(a.rows()));
  const auto t = rig::to_tuples(a);
  for (int p = 0; p < t.rows.rows(); ++p) {
    const int i = t.rows(p, 0), j = t.columns(p, 0);
    if (i == j) continue;
    out[static_cast<std::size_t>(i)].insert(j);
    if (both) out[static_cast<std::size_t>(j)].insert(i);
  }
  return out;
}
inline bool joined(const neighbours& of, int i, int j) {
  return of[static_cast<std::size_t>(i)].count(j) != 0;
}

inline bool close(double x, double y, double tolerance) {
  return std::abs(x - y) <= tolerance * std::max({1.0, std::abs(x), std::abs(y)});
}

/// Whether `call` throws error(code) with `text` in its message.
template <class Call>
void check_throws(rig::errc code, const std::string& text, Call call) {
  try {
    call();
    FAIL_CHECK("nothing was thrown: " << text);
  } catch (const rig::error& bad) {
    CHECK(bad.code() == code);
    CHECK(std::string(bad.what()).find(text) != std::string::npos);
  }
}

}  // namespace checks
