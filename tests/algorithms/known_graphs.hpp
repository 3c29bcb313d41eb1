#pragma once

// Graphs of the data sets with their answers, and random graphs for plain loops.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rig/generate.hpp"
#include "rig/graph.hpp"
#include "rig/io.hpp"
#include "rig/matrix.hpp"
#include "seed.hpp"

namespace known {

namespace fs = std::filesystem;
using nlohmann::json;

inline fs::path data() {
  const char* named = std::getenv("RIG_DATA");
  return named != nullptr ? fs::path(named) : fs::path(RIG_SOURCE_DIR "/../shared/data");
}

struct graph {
  std::string name;
  fs::path file;
  json expected;

  template <class T = bool>
  rig::matrix<T> load() const {
    return rig::read_matrix<T>(file.string());
  }
};

/// The data sets whose expected.json has this key.
inline std::vector<graph> with(const std::string& key) {
  std::vector<graph> found;
  if (fs::is_directory(data()))
    for (const auto& entry : fs::directory_iterator(data())) {
      const fs::path folder = entry.path(), plain = folder / "graph.mtx",
                     packed = folder / "graph.mtx.gz";
      if (!exists(folder / "expected.json")) continue;
      json expected = json::parse(std::ifstream(folder / "expected.json"));
      if (expected.contains(key))
        found.push_back({folder.filename(), exists(plain) ? plain : packed, std::move(expected)});
    }
  std::sort(found.begin(), found.end(),
            [](const graph& x, const graph& y) { return x.name < y.name; });
  if (found.empty())
    MESSAGE("SKIPPED: there are no data sets with '" << key << "' in " << data().string());
  return found;
}

/// A file of lagraph-small, plain or packed.
inline std::string lagraph_file(const std::string& name) {
  const fs::path plain = data() / "lagraph-small" / (name + ".mtx");
  return exists(plain) ? plain.string() : plain.string() + ".gz";
}

/// The answers of lagraph-small; null if it is missing.
inline json lagraph() {
  const fs::path file = data() / "lagraph-small" / "known.json";
  if (exists(file)) return json::parse(std::ifstream(file));
  MESSAGE("SKIPPED: there is no " << file.string());
  return nullptr;
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
