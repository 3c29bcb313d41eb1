// What suites real and collection share: the files of a collection, the line of a matrix, and the
// profiles of the implementations.

#include "collection.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "rig/io.hpp"

namespace bench {
namespace {

namespace fs = std::filesystem;

/// A kind of product, in the words of a matrix's line.
struct kind {
  const char *semiring, *name;
};
constexpr kind kinds[] = {{"plus_times", "sums"}, {"max_second", "maxima"}};

/// The library that a name in `peer_ms` belongs to. The longer beginning comes first.
constexpr std::pair<const char*, const char*> libraries[] = {{"cusparse_spmm_op", "cusparseSpMMOp"},
                                                             {"cusparse", "cuSPARSE"},
                                                             {"onemkl", "oneMKL"},
                                                             {"graphblas", "GraphBLAS"}};

std::string library_of(const std::string& peer) {
  for (const auto& [beginning, library] : libraries)
    if (peer.starts_with(beginning)) return library;
  return peer;
}

/// Where the table of a profile has its columns.
constexpr double factors[] = {1, 1.05, 1.1, 1.25, 1.5, 2, 3, 5, 10};

}  // namespace

std::vector<std::string> matrices_below(const std::string& folder) {
  if (!fs::is_directory(folder))
    rig::fail(rig::errc::io, {folder, ": there is no such folder; name one with matrices"});
  std::vector<std::string> found;
  for (const auto& entry :
       fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    const std::string name = entry.path().string();
    const bool is_matrix =
        name.ends_with(".mtx") || name.ends_with(".mtx.gz") || name.ends_with(".npz");
    if (is_matrix && !entry.is_directory())
      found.push_back(entry.path().lexically_relative(folder).string());
  }
  if (found.empty())
    rig::fail(rig::errc::io, {folder, ": there is no .mtx, .mtx.gz or .npz below this folder"});
  std::sort(found.begin(), found.end());
  return found;
}

rig::matrix<float> read_pattern(const std::string& path) {
  // As bools, because those take numbers that exceed a float.
  constexpr rig::read_options merged{.duplicates = rig::accumulator::logical_or};
  rig::matrix<float> read(rig::read_matrix<bool>(path, merged).shared_structure());
  if (read.nnz() == 0)
    rig::fail(rig::errc::shape, {path, ": ", read.rows(), "x", read.columns(), " without entries"});
  return read;
}

std::vector<int> collection_widths(const options& given) {
  return given.features.empty() ? std::vector{32, 64, 128, 256, 512} : given.features;
}

bool is_judge(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return (hash >> 32 & 1) == 0;
}

comparison::comparison(std::string suite, std::vector<int> widths, std::size_t matrices,
                       record& out)
    : suite_(std::move(suite)), widths_(std::move(widths)), matrices_(matrices), out_(out) {
  std::sort(widths_.begin(), widths_.end());
  std::printf("the best peer's time over rig's, for sums and for maxima, F =");
  for (const int width : widths_) std::printf(" %d", width);
  std::printf("\n");
}

void comparison::add(row line, std::span<const contender> field, std::span<const double> ms) {
  line.suite = suite_;
  line.ms = ms[0];
  for (std::size_t i = 1; i < field.size(); ++i) line.peer_ms[field[i].name] = ms[i];
  if (field.size() > 1) {
    line.ratio = *std::min_element(ms.begin() + 1, ms.end()) / ms[0];
    ratios_[line.semiring].push_back(*line.ratio);
    halves_[is_judge(line.graph) ? 1 : 0][line.semiring].push_back(*line.ratio);
  }
  here_[line.semiring][line.features] = line.ratio;
  out_.keep(line);
}

void comparison::end(const std::string& name, const rig::pattern& of) {
  ++ended_;
  if (here_.empty()) return;
  ++measured_;
  std::printf("%5zu/%zu  %-36s %d x %d, %ld entries:", ended_, matrices_, name.c_str(), of.rows(),
              of.columns(), of.nnz());
  for (const kind& one : kinds) {
    std::printf("  %s", one.name);
    for (const int width : widths_) {
      const std::optional<double> ratio = here_[one.semiring][width];
      std::printf(" %5s", ratio ? digits(*ratio, 2).c_str() : "-");
    }
  }
  std::printf("\n");
  std::fflush(stdout);
  here_.clear();
  const auto now = std::chrono::steady_clock::now();
  if (now - saved_ < std::chrono::minutes(1)) return;
  out_.save();
  saved_ = now;
}

void comparison::summarise(const std::string& sums, const std::string& maxima) {
  const std::string* const names[] = {&sums, &maxima};
  for (std::size_t i = 0; i < std::size(kinds); ++i) {
    const std::vector<double>& of = ratios_[kinds[i].semiring];
    if (of.empty()) continue;
    out_.summarise(*names[i] + "_geomean", geometric_mean(of));
    out_.summarise(*names[i] + "_least", *std::min_element(of.begin(), of.end()));
    for (const bool judges : {false, true})
      if (const auto& half = halves_[judges ? 1 : 0][kinds[i].semiring]; !half.empty())
        out_.summarise(*names[i] + (judges ? "_judged" : "_tuned"), geometric_mean(half));
  }
  for (const profile& of : out_.profiles())
    for (const auto& [name, times] : of.over_best)
      std::printf(
          "%s, F = %d: %s is fastest on %.0f %%, within 1.1 on %.0f %%, within 2 on %.0f %%\n",
          of.semiring.c_str(), of.features, name.c_str(), 100 * of.share_within(name, 1),
          100 * of.share_within(name, 1.1), 100 * of.share_within(name, 2));
  out_.summarise(suite_ + "_matrices", static_cast<double>(measured_));
  out_.summarise(suite_ + "_skipped", static_cast<double>(matrices_ - measured_));
}

double profile::share_within(const std::string& implementation, double factor) const {
  const std::vector<double>& times = over_best.at(implementation);
  const auto within = std::upper_bound(times.begin(), times.end(), factor) - times.begin();
  return static_cast<double>(within) / static_cast<double>(matrices);
}

std::vector<profile> profiles_of(const nlohmann::json& rows) {
  std::vector<profile> out;
  for (const auto& row : rows) {
    if (row.at("suite") != "real" && row.at("suite") != "collection") continue;
    const std::string semiring = row.at("semiring");
    const int features = row.at("features");
    auto here = std::find_if(out.begin(), out.end(), [&](const profile& of) {
      return of.semiring == semiring && of.features == features;
    });
    if (here == out.end()) here = out.insert(out.end(), {semiring, features, 0, {}});
    std::map<std::string, double> times{{"rig", row.at("ms")}};
    for (const auto& [name, ms] : row.at("peer_ms").items()) {
      const auto [at, is_first] = times.try_emplace(library_of(name), ms);
      if (!is_first) at->second = std::min(at->second, ms.get<double>());
    }
    double best = times.at("rig");
    for (const auto& [name, ms] : times) best = std::min(best, ms);
    for (const auto& [name, ms] : times) here->over_best[name].push_back(ms / best);
    ++here->matrices;
  }
  for (profile& of : out)
    for (auto& [name, times] : of.over_best) std::sort(times.begin(), times.end());
  std::sort(out.begin(), out.end(), [](const profile& x, const profile& y) {
    return std::pair(y.semiring, x.features) < std::pair(x.semiring, y.features);
  });
  return out;
}

nlohmann::json table_of(std::span<const profile> profiles) {
  nlohmann::json out = nlohmann::json::array();
  for (const profile& of : profiles) {
    nlohmann::json shares = nlohmann::json::object();
    for (const auto& [name, times] : of.over_best)
      for (const double factor : factors) shares[name].push_back(of.share_within(name, factor));
    out.push_back({{"semiring", of.semiring},
                   {"features", of.features},
                   {"matrices", of.matrices},
                   {"within", factors},
                   {"share", shares}});
  }
  return out;
}

}  // namespace bench
