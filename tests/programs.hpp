#pragma once

// Runs the programs of build/examples as a user does.

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

using nlohmann::json;
using nlohmann::ordered_json;
namespace fs = std::filesystem;

/// All programs that are given a graph.
inline const std::vector<std::string> graph_programs{
    "bfs",        "sssp",        "pagerank",
    "components", "scc",         "triangles",
    "lcc",        "mis",         "label_propagation",
    "kcore",      "msf",         "jaccard",
    "hits",       "ktruss",      "bipartite_matching",
    "diameter",   "betweenness", "eccentricity",
    "spmm",       "maxk",        "sage",
    "reorder",    "operations"};

struct outcome {
  int status = -1;
  std::string out, err;
};

/// A temporary file, removed with its scope.
struct scratch {
  explicit scratch(const std::string& name, const std::string& text = "")
      : path(fs::temp_directory_path() /
             ("rig_examples_" + std::to_string(getpid()) + "_" + name)) {
    std::ofstream(path) << text;
  }
  ~scratch() { fs::remove(path); }
  fs::path path;
};

/// Runs a program of the build folder, which `command` begins with.
inline outcome run_built(const std::string& command) {
  const scratch errors("stderr");
  const std::string line = RIG_BINARY_DIR "/" + command + " 2>" + errors.path.string();
  outcome result;
  FILE* pipe = popen(line.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char piece[4096];
  for (std::size_t got; (got = fread(piece, 1, sizeof(piece), pipe)) > 0;)
    result.out.append(piece, got);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::ostringstream text;
  text << std::ifstream(errors.path).rdbuf();
  result.err = text.str();
  return result;
}

/// Runs build/examples/`command`.
inline outcome run(const std::string& command) { return run_built("examples/" + command); }

/// Runs build/examples/`command` with --json and returns its JSON object.
inline ordered_json answer(const std::string& command) {
  const outcome result = run(command + " --json");
  CAPTURE(command);
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  REQUIRE(std::count(result.out.begin(), result.out.end(), '\n') == 1);
  return ordered_json::parse(result.out);
}

inline std::vector<std::string> keys_of(const ordered_json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

inline bool close(const json& got, const json& expected, double tolerance) {
  const auto x = got.get<double>(), y = expected.get<double>();
  return std::abs(x - y) <= tolerance * std::max(std::abs(x), std::abs(y));
}

inline fs::path data() {
  const char* named = std::getenv("RIG_DATA");
  return named != nullptr ? fs::path(named) : fs::path(RIG_SOURCE_DIR "/../shared/data");
}

/// A command that fails prints nothing but one line, which holds `named`.
inline void check_fails(const std::string& command, int status, const std::string& named) {
  const outcome result = run(command);
  CAPTURE(command);
  CAPTURE(result.err);
  CHECK(result.status == status);
  CHECK(result.out.empty());
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  CHECK(result.err.ends_with("\n"));
  CHECK(result.err.find(named) != std::string::npos);
}
