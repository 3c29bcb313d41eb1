#pragma once

// Graphs and matrices with known answers.

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "data_folder.hpp"

namespace data {

using nlohmann::json;

struct set {
  std::string name;
  fs::path folder;
  std::string file;
  json answers;
};

/// The sets with such a file whose answers have a key, by name.
inline std::vector<set> sets(const std::string& key, const std::string& file = "graph.mtx") {
  std::vector<set> found;
  if (!has(folder())) return found;
  for (const auto& entry : fs::directory_iterator(folder()))
    for (const char* const name : {"expected.json", "answers.json"}) {
      const std::string path = find(entry.path(), file);
      if (!exists(entry.path() / name) || !fs::exists(path)) continue;
      json answers = json::parse(std::ifstream(entry.path() / name));
      if (answers.contains(key))
        found.push_back({entry.path().filename(), entry.path(), path, std::move(answers)});
    }
  std::sort(found.begin(), found.end(), [](const set& x, const set& y) { return x.name < y.name; });
  CHECK_MESSAGE(!found.empty(), "no set of ", folder().string(), " has ", file, " and '", key, "'");
  return found;
}

}  // namespace data
