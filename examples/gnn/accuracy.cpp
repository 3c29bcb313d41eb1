// docs/accuracy.md from the lines that study.sh prints, and its plot, which is the first argument:
// gnn_accuracy docs/plots/accuracy.svg FILE... > docs/accuracy.md

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "accuracy_plot.hpp"
#include "rig/output_file.hpp"

namespace {

using accuracy::fixed;
using json = nlohmann::json;

std::vector<json> lines_of(int count, char** files) {
  std::vector<json> all;
  for (int f = 2; f < count; ++f) {
    std::ifstream file(files[f]);
    if (!file) throw std::runtime_error(std::string(files[f]) + ": cannot be read");
    for (std::string line; std::getline(file, line);)
      if (!line.empty()) all.push_back(json::parse(line));
  }
  return all;
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
    if (all.size() == 1) return fixed(all[0], 1) + " (1)";
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

/// The data set of a line, and whether the rows of its features were left as they are.
std::string data_of(const json& of) {
  const std::string name = text(of, "data");
  const bool is_generated = name.find("-like") != std::string::npos;
  return name + (is_generated || of.value("normalised", true) ? "" : ", raw features");
}

/// Which study was made when and where.
void show_origin(const std::vector<json>& lines) {
  std::cout
      << "\n## Records\n\nA commit is the one that ran the study, or that added its lines.\n\n";
  head({"study", "command", "commit", "date", "machine"});
  for (const json& of : lines) {
    if (!of.contains("study")) continue;
    const std::string study = text(of, "study");
    row({study, "`study.sh " + study.substr(0, study.find(',')) + "`", text(of, "commit"),
         text(of, "date"), text(of, "machine")});
  }
  std::cout << "\nThe lines of reddit-like and proteins-like are of **labels that are no longer "
               "generated**: a mean over few neighbours gave the class, so no approximation cost "
               "much, and sums and maxima did not learn. A GPU has to run them again with the "
               "labels of [training.md](guide/training.md#recipe). Until then they say how fast a "
               "network is, and little about what it loses.\n";
}

/// The width by which the study of MaxK differs from that of the models.
constexpr int maxk_hidden = 256;

void show_models(const std::vector<json>& lines) {
  std::vector<std::string> models{"gcn", "sage-mean", "sage-pool", "gin", "gat", "mlp"};
  std::map<std::string, std::map<std::string, summary>> found;
  // The study of samples trains some of these networks again.
  std::set<std::string> seen;
  for (const json& of : lines) {
    if (!of.contains("hidden") || of.at("hidden") == maxk_hidden || of.at("k") != 0) continue;
    const std::string graph = data_of(of) + ", " + text(of, "device"), model = model_of(of);
    if (seen.insert(graph + ", " + model + ", " + of.at("seed").dump()).second)
      found[graph][model].all.push_back(percent(of));
  }
  std::cout << "\n## Models\n\nMean ± standard deviation of the test accuracy in percent, and the "
               "number of seeds. `mlp` does not see the graph. Raw features are not divided by the "
               "sum of their "
               "row. Each row of amazon-photo and facebook-pages has many words, so divided "
               "features are small: 200 epochs then end before gcn fits the training nodes. "
               "There gcn and mlp have 16 hidden columns in these lines; study.sh has 64 now.\n\n";
  const auto divided = [](const auto& graph) { return graph.second.contains("gin-gcn"); };
  if (std::ranges::any_of(found, divided)) models.emplace_back("gin-gcn");
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
    if (!of.contains("hidden") || of.at("hidden") != maxk_hidden || model_of(of) != "sage-mean")
      continue;
    auto& [test, curve] = found[text(of, "data") + ", " + text(of, "device")][of.at("k")];
    test.all.push_back(percent(of));
    for (const std::size_t at : {1u, 4u, 9u, 19u})
      if (at < of.at("curve").size())
        curve[at].all.push_back(100 * of.at("curve")[at].get<double>());
  }
  if (found.empty()) return;
  std::cout
      << "\n## MaxK\n\nSAGE-mean, hidden 256. k is the number of entries that MaxK keeps of a "
         "row. The last columns are the validation accuracy after some epochs, if no seed ended "
         "before.\n\n";
  head({"graph", "nonlinearity", "test", "epoch 20", "50", "100", "200"});
  for (auto& [graph, by_k] : found)
    for (auto& [k, of] : by_k) {
      std::vector<std::string> cells{graph, k == 0 ? "ReLU" : "MaxK, k = " + std::to_string(k),
                                     of.first.shown()};
      for (const std::size_t at : {1u, 4u, 9u, 19u})
        cells.push_back(
            of.second[at].all.size() < of.first.all.size() ? "–" : fixed(of.second[at].mean(), 1));
      row(cells);
    }
}

/// Sampled inference by one kernel with one sample size.
struct sample {
  std::string kernel;
  double percent, kept, ms, whole_ms;  ///< milliseconds of the products, and of the inference
};
/// Inference with one trained network and one type of features.
struct series {
  bool has_times = false;
  double exact = 0, peer_ms = 0, peer_whole_ms = 0;  ///< the peer is the kernel `vendor`
  std::map<int, std::vector<sample>> by_width;
};

std::string network_of(const json& of) {
  return text(of, "data") + ", " + model_of(of) + ", " + text(of, "device");
}

std::map<std::string, series> series_of(const std::vector<json>& lines) {
  std::map<std::string, series> found;
  std::map<std::string, const json*> peers;
  for (const json& of : lines)
    if (of.contains("feature_type") && of.at("kernel") == "vendor") peers[network_of(of)] = &of;
  for (const json& of : lines) {
    if (!of.contains("feature_type") || of.at("kernel") == "vendor") continue;
    series& s = found[network_of(of) + ", " + text(of, "feature_type")];
    // Times of a CPU count only in records of the benchmark, which has the machine for itself.
    if (const auto peer = peers.find(network_of(of)); peer != peers.end()) {
      s.has_times = true;
      s.peer_ms = peer->second->at("aggregate_ms");
      s.peer_whole_ms = peer->second->at("inference_ms");
    }
    if (of.at("width") == 0)
      s.exact = percent(of);
    else
      s.by_width[of.at("width")].push_back({text(of, "kernel"), percent(of), of.at("kept_share"),
                                            of.at("aggregate_ms"), of.at("inference_ms")});
  }
  return found;
}

/// The least S that loses less than a point, and how fast its fastest kernel is.
std::string enough(const series& s) {
  for (const auto& [width, samples] : s.by_width) {
    const sample* best = nullptr;
    for (const sample& one : samples)
      if (s.exact - one.percent < 1 && (best == nullptr || one.ms < best->ms)) best = &one;
    if (best == nullptr) continue;
    const std::string least = "The least S that loses less than a point: " + std::to_string(width);
    if (!s.has_times) return least + ".";
    const auto times = [](double ratio) { return fixed(ratio, ratio < 1 ? 2 : 1) + " times"; };
    return least + ", with `" + best->kernel + "`. Products by `vendor` take " +
           times(s.peer_ms / best->ms) + " as long, its inference " +
           times(s.peer_whole_ms / best->whole_ms) + ".";
  }
  return "No S loses less than a point.";
}

void show_sampled(const std::vector<json>& lines, const std::string& plot) {
  const auto found = series_of(lines);
  if (found.empty()) return;
  std::cout
      << "\n## Sampled inference\n\nTest accuracy in percent; of proteins-like, which has "
         "several labels per node, the micro-F1. S entries of a row are read at "
         "most. The recipe has powers of two; 40, 48 and 56 were added when the least S was "
         "known to lie between. On CUDA a cell also has the time of the products by `vendor` over "
         "that of the sampled ones, and then the same of the whole inference. `vendor` is "
         "cuSPARSE by an algorithm that a rule selects, which is not always the fastest: "
         "[kernels.md](reference/kernels.md#when-each-wins).\n";
  std::vector<accuracy::picture> pictures;
  for (const auto& [name, s] : found) {
    std::cout << "\n**" << name << ".** Exact: " << fixed(s.exact, 1) << " %. " << enough(s)
              << "\n\n";
    head({"S", "entries read", "bucket", "fastrand", "adaptive"});
    accuracy::picture drawn{name, s.exact, {}};
    for (const auto& [width, samples] : s.by_width) {
      std::map<std::string, std::string> cells;
      for (const sample& one : samples) {
        const double speedup = s.peer_ms / one.ms;
        cells[one.kernel] = fixed(one.percent, 1);
        if (!s.has_times) continue;
        cells[one.kernel] +=
            "; " + fixed(speedup, 1) + "×; " + fixed(s.peer_whole_ms / one.whole_ms, 1) + "×";
        drawn.curves[one.kernel].emplace_back(speedup, one.percent);
      }
      row({std::to_string(width), fixed(100 * samples.front().kept, 0) + " %", cells["bucket"],
           cells["fastrand"], cells["adaptive"]});
    }
    if (s.has_times) pictures.push_back(std::move(drawn));
  }
  if (pictures.empty()) return;
  std::cout << "\n![Test accuracy against speed-up over `vendor`, a curve per strategy](plots/"
            << plot.substr(plot.rfind('/') + 1) << ")\n";
  rig::write_text(plot, accuracy::svg_of(pictures));
}

}  // namespace

/// Keeps what is written to std::cout, so that a page is printed whole or not at all.
class whole_output {
 public:
  whole_output() : out_(std::cout.rdbuf(page_.rdbuf())) {}
  whole_output(const whole_output&) = delete;
  ~whole_output() { std::cout.rdbuf(out_); }
  /// Returns whether all of it was written.
  bool print() const { return static_cast<bool>((std::ostream(out_) << page_.str()).flush()); }

 private:
  std::ostringstream page_;
  std::streambuf* out_;
};

int main(int count, char** arguments) {
  try {
    if (count < 3) throw std::runtime_error("pass the file of the plot, and records");
    const auto lines = lines_of(count, arguments);
    whole_output page;
    std::cout << "# Accuracy\n\nWhat networks trained by rig find, by recipes that were fixed "
                 "before: those of [study.sh](../examples/gnn/study.sh), described in "
                 "[training.md](guide/training.md). This page is made from "
                 "[records](records/accuracy) by `build/examples/gnn_accuracy "
                 "docs/plots/accuracy.svg docs/records/accuracy/*.jsonl`.\n";
    show_origin(lines);
    show_models(lines);
    show_maxk(lines);
    show_sampled(lines, arguments[1]);
    return page.print() ? 0 : 1;
  } catch (const std::exception& bad) {
    std::cerr << "gnn_accuracy: " << bad.what() << "\n";
    return 1;
  }
}
