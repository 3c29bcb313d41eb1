// The graphs of all suites. Suite graphs: the benchmark graphs have their recorded numbers of
// entries and degrees.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

#include "bench.hpp"
#include "rig/generate.hpp"
#include "rig/io.hpp"
#include "rig/reorder.hpp"

namespace bench {
namespace {

/// A larger graph is made only if it is named, or with --all.
constexpr rig::int64 usual_size = 20'000'000;

constexpr const char* quantile_names[] = {"least degree", "median degree", "90 % degree",
                                          "99 % degree", "greatest degree"};

bool wanted(const rig::generate::named_graph& graph, const options& given) {
  if (given.graphs.empty()) return given.all || graph.nnz <= usual_size;
  return std::find(given.graphs.begin(), given.graphs.end(), graph.name) != given.graphs.end();
}

/// True if the difference exceeds both `share` and `count`.
bool is_off(rig::int64 found, rig::int64 known, double share, double count) {
  const auto difference = static_cast<double>(std::abs(found - known));
  return difference > std::max(count, share * static_cast<double>(known));
}

namespace fs = std::filesystem;

/// The file of a data set's graph or matrix; empty if there is none.
fs::path file_of(const fs::path& data_set) {
  for (const char* const name : {"graph.mtx.gz", "graph.mtx", "matrix.mtx.gz", "matrix.mtx"})
    if (fs::exists(data_set / name)) return data_set / name;
  return {};
}

}  // namespace

std::string data_folder() {
  const char* const given = std::getenv("RIG_DATA");
  return given != nullptr ? given : RIG_SOURCE_DIR "/../shared/data";
}

std::vector<std::string> data_sets() {
  std::vector<std::string> names;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(data_folder(), absent))
    if (!file_of(entry.path()).empty()) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

/// The graph without some of its edges, alike in both directions: `share` of them stay.
rig::matrix<float> thinned(const rig::matrix<float>& a, double share) {
  const rig::pattern& of = a.structure();
  std::vector<rig::int64> offsets{0};
  std::vector<rig::index> columns;
  for (rig::index i = 0; i < a.rows(); ++i) {
    for (rig::int64 p = of.offset(i); p < of.offset(i + 1); ++p) {
      const rig::index j = of.column_indices()[p];
      std::minstd_rand random(static_cast<unsigned>(std::min(i, j)) * 7919u +
                              static_cast<unsigned>(std::max(i, j)));
      random.discard(3);
      if (random() < share * std::minstd_rand::max()) columns.push_back(j);
    }
    offsets.push_back(static_cast<rig::int64>(columns.size()));
  }
  return rig::matrix<float>::from_csr(a.rows(), a.columns(), std::span<const rig::int64>(offsets),
                                      std::span<const rig::index>(columns));
}

/// What a name may have before a slash: the graph after it is made anew.
struct remaking {
  const char* word;
  rig::matrix<float> (*make)(const rig::matrix<float>&);
};
template <rig::ordering By>
rig::matrix<float> reordered(const rig::matrix<float>& a) {
  return rig::permute(a, rig::reorder(a, By));
}
template <int Percent>
rig::matrix<float> thinned_to(const rig::matrix<float>& a) {
  return thinned(a, Percent / 100.0);
}
constexpr remaking remakings[] = {
    {"loa/", reordered<rig::ordering::loa>},
    {"rcm/", reordered<rig::ordering::rcm>},
    {"degree/", reordered<rig::ordering::degree>},
    {"shuffled/", [](const rig::matrix<float>& a) { return rig::generate::shuffled(a); }},
    {"20%/", thinned_to<20>},
    {"15%/", thinned_to<15>},
    {"10%/", thinned_to<10>},
    {"5%/", thinned_to<5>},
};

}  // namespace

rig::matrix<float> graph_of(const std::string& name) {
  for (const remaking& of : remakings)
    if (name.starts_with(of.word)) return of.make(graph_of(name.substr(std::strlen(of.word))));
  const fs::path file = file_of(fs::path(data_folder()) / name);
  return file.empty() ? rig::generate::from_text(name) : rig::read_matrix<float>(file);
}

void graphs(const options& given, record& out) {
  int off = 0;
  const auto all = rig::generate::named_graphs();
  for (const std::string& name : given.graphs)
    if (std::none_of(all.begin(), all.end(), [&](const auto& of) { return name == of.name; }))
      rig::fail(rig::errc::format, {"graphs: nothing is known of '", name, "'; see bench --list"});
  for (const auto& known : all) {
    if (!wanted(known, given)) continue;
    rig::matrix<float> graph;
    row line;
    line.operation = "generate";
    line.ms = wall_clock([&] { graph = known.make(); });
    line.graph = known.name;
    line.n = graph.rows();
    line.nnz = graph.nnz();
    line.features = 0;
    line.bytes = static_cast<double>(graph.nnz()) * sizeof(rig::index);
    out.add(line);

    const auto expect = [&](const char* what, rig::int64 found, rig::int64 expected, double share,
                            double count) {
      const bool wrong = is_off(found, expected, share, count);
      std::printf("    %-16s %12ld, known: %12ld%s\n", what, found, expected, wrong ? "  OFF" : "");
      if (!wrong) return;
      ++off;
      out.miss(std::string(known.name) + ": " + what + " is " + std::to_string(found) + ", not " +
               std::to_string(expected));
    };
    expect("entries", graph.nnz(), known.nnz, 0.01, 0);
    const auto degrees = rig::generate::degree_quantiles(graph.structure());
    for (std::size_t q = 0; q < degrees.size(); ++q) {
      // One node decides the least and the greatest degree, so these vary with the random numbers.
      const bool is_extreme = q == 0 || q + 1 == degrees.size();
      expect(quantile_names[q], degrees[q], known.degrees[q], is_extreme ? 0.2 : 0.05,
             is_extreme ? 4 : 1);
    }
  }
  out.summarise("numbers_off", off);
}

}  // namespace bench
