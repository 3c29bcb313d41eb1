// docs/accuracy.md from the lines that study.sh prints: gnn_accuracy FILE... > docs/accuracy.md

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace {

using json = nlohmann::json;

std::vector<json> lines_of(int count, char** files) {
  std::vector<json> all;
  for (int f = 1; f < count; ++f) {
    std::ifstream file(files[f]);
    if (!file) throw std::runtime_error(std::string(files[f]) + ": cannot be read");
    for (std::string line; std::getline(file, line);)
      if (!line.empty()) all.push_back(json::parse(line));
  }
  return all;
}

std::string fixed(double x, int digits) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.*f", digits, x);
  return text;
}

std::string text(const json& of, const char* key) { return of.at(key).get<std::string>(); }
double percent(const json& of) { return 100 * of.at("test_accuracy").get<double>(); }

/// Mean, deviation and number of some percentages.
struct summary {
  std::vector<double> all;
  double mean() const {
    double sum = 0;
    for (const double x : all) sum += x;
    return sum / static_cast<double>(all.size());
  }
  double deviation() const {
    double sum = 0;
    for (const double x : all) sum += (x - mean()) * (x - mean());
    return all.size() < 2 ? 0 : std::sqrt(sum / static_cast<double>(all.size() - 1));
  }
  std::string shown() const {
    if (all.empty()) return "–";
    return fixed(mean(), 1) + " ± " + fixed(deviation(), 1) + " (" + std::to_string(all.size()) +
           ")";
  }
};

void row(const std::vector<std::string>& cells) {
  for (const std::string& cell : cells) std::cout << "| " << cell << " ";
  std::cout << "|\n";
}
void head(const std::vector<std::string>& cells) {
  row(cells);
  std::vector<std::string> rule(cells.size(), "---:");
  rule[0] = "---";
  row(rule);
}

std::string model_of(const json& of) {
  const std::string by = of.value("aggregate", std::string());
  return text(of, "model") + (by.empty() ? "" : "-" + by);
}

void show_models(const std::vector<json>& lines) {
  static const std::vector<std::string> models{"gcn", "sage-mean", "sage-pool",
                                               "gin", "gat",       "mlp"};
  std::map<std::string, std::map<std::string, summary>> found;
  for (const json& of : lines)
    if (of.contains("hidden") && of.at("hidden") != 256)
      found[text(of, "data") + ", " + text(of, "device")][model_of(of)].all.push_back(percent(of));
  std::cout << "\n## Models\n\nMean ± standard deviation of the test accuracy in percent, and the "
               "number of seeds. `mlp` does not see the graph.\n\n";
  std::vector<std::string> cells{"graph"};
  cells.insert(cells.end(), models.begin(), models.end());
  head(cells);
  for (auto& [graph, by_model] : found) {
    cells = {graph};
    for (const std::string& model : models) cells.push_back(by_model[model].shown());
    row(cells);
  }
}

void show_maxk(const std::vector<json>& lines) {
  std::map<std::string, std::map<int, std::pair<summary, std::map<std::size_t, summary>>>> found;
  for (const json& of : lines) {
    if (!of.contains("hidden") || of.at("hidden") != 256) continue;
    auto& [test, curve] = found[text(of, "data") + ", " + text(of, "device")][of.at("k")];
    test.all.push_back(percent(of));
    for (const std::size_t at : {1u, 4u, 9u, 19u})
      if (at < of.at("curve").size())
        curve[at].all.push_back(100 * of.at("curve")[at].get<double>());
  }
  if (found.empty()) return;
  std::cout
      << "\n## MaxK\n\nSAGE-mean, hidden 256. k is the number of entries that MaxK keeps of a "
         "row. The last columns are the validation accuracy after some epochs.\n\n";
  head({"graph", "nonlinearity", "test", "epoch 20", "50", "100", "200"});
  for (auto& [graph, by_k] : found)
    for (auto& [k, of] : by_k) {
      std::vector<std::string> cells{graph, k == 0 ? "ReLU" : "MaxK, k = " + std::to_string(k),
                                     of.first.shown()};
      for (const std::size_t at : {1u, 4u, 9u, 19u})
        cells.push_back(of.second[at].all.empty() ? "–" : fixed(of.second[at].mean(), 1));
      row(cells);
    }
}

void show_sampled(const std::vector<json>& lines) {
  struct series {
    double exact = 0, exact_ms = 0;
    std::map<int, std::map<std::string, std::string>> by_width;
    std::map<int, double> kept;
    int enough = 0;  ///< the least width within a point of exact
  };
  std::map<std::string, series> found;
  const auto key = [](const json& of) {
    return text(of, "data") + ", " + text(of, "model") + ", " + text(of, "feature_type") + ", " +
           text(of, "device");
  };
  for (const json& of : lines) {
    if (!of.contains("feature_type")) continue;
    series& s = found[key(of)];
    const int width = of.at("width");
    const auto ms = of.at("aggregate_ms").get<double>();
    if (width == 0) {
      s.exact = percent(of);
      s.exact_ms = ms;
      continue;
    }
    // Times of a CPU count only in records of the benchmark, which has the machine for itself.
    s.by_width[width][text(of, "kernel")] =
        fixed(percent(of), 1) +
        (text(of, "device") == "cuda" ? " at " + fixed(s.exact_ms / ms, 1) + "×" : "");
    s.kept[width] = of.at("kept_share");
    if (s.exact - percent(of) < 1 && (s.enough == 0 || width < s.enough)) s.enough = width;
  }
  if (found.empty()) return;
  std::cout
      << "\n## Sampled inference\n\nTest accuracy in percent; on CUDA also the time of the exact "
         "aggregations over that of the sampled ones. S entries of a row are read at most.\n";
  for (const auto& [name, s] : found) {
    std::cout << "\n**" << name << ".** Exact: " << fixed(s.exact, 1) << " %. ";
    if (s.enough > 0)
      std::cout << "The least S that loses less than a point: " << s.enough << ".\n\n";
    else
      std::cout << "No S loses less than a point.\n\n";
    head({"S", "entries read", "bucket", "fastrand", "adaptive"});
    for (const auto& [width, by_kernel] : s.by_width) {
      std::vector<std::string> cells{std::to_string(width),
                                     fixed(100 * s.kept.at(width), 0) + " %"};
      for (const char* kernel : {"bucket", "fastrand", "adaptive"})
        cells.push_back(by_kernel.count(kernel) ? by_kernel.at(kernel) : "–");
      row(cells);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const auto lines = lines_of(count, arguments);
    std::cout << "# Accuracy\n\nWhat networks trained by rig find, by recipes that were fixed "
                 "before: those of [study.sh](../examples/gnn/study.sh), described in "
                 "[training.md](guide/training.md). This page is made from "
                 "[records](records/accuracy) by `build/examples/gnn_accuracy "
                 "docs/records/accuracy/*.jsonl`.\n";
    show_models(lines);
    show_maxk(lines);
    show_sampled(lines);
    return std::cout.flush() ? 0 : 1;
  } catch (const std::exception& bad) {
    std::cerr << "gnn_accuracy: " << bad.what() << "\n";
    return 1;
  }
}
