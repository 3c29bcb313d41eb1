#pragma once

// Suites real and collection: sums and maxima of many matrices, a line each, and how often each
// implementation is near the fastest.

#include <chrono>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench.hpp"
#include "rig/matrix.hpp"

namespace bench {

/// The files below a folder that end in .mtx, .mtx.gz or .npz: paths below it, in order.
std::vector<std::string> matrices_below(const std::string& folder);

/// The pattern of a file as `matrices_below` finds it, of any shape. Repeated entries are one.
/// Throws rig::error for a damaged file, and for a matrix without entries.
rig::matrix<float> read_pattern(const std::string& path);

/// The feature widths of suite collection: the given ones, or else 32 to 512.
std::vector<int> collection_widths(const options& given);

/// Whether a matrix only judges the tuning table, by a hash of its name; the table is tuned on the
/// others.
bool is_judge(std::string_view name);

/// Notes the races of a suite, and prints a line per matrix.
class comparison {
 public:
  comparison(std::string suite, std::vector<int> widths, std::size_t matrices, record& out);

  /// Keeps a row; rig is the first of the field, and the others are its peers.
  void add(row line, std::span<const contender> field, std::span<const double> ms);
  /// Prints the line of a matrix whose products have been raced, unless all of them failed. Saves
  /// the record every minute, because a collection may take days.
  void end(const std::string& name, const rig::pattern& of);
  /// The summary calls the ratios of sums and of maxima by these names.
  void summarise(const std::string& sums, const std::string& maxima);

 private:
  std::string suite_;
  std::vector<int> widths_;
  std::size_t matrices_, ended_ = 0, measured_ = 0;
  record& out_;
  std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
  std::map<std::string, std::map<int, std::optional<double>>> here_;  ///< by semiring and F
  std::map<std::string, std::vector<double>> ratios_;                 ///< by semiring
  std::map<std::string, std::vector<double>> halves_[2];  ///< of the tuned, and of the judges
};

/// How often each implementation is near the fastest, for one semiring and one F. A library counts
/// once, with the fastest of its algorithms.
struct profile {
  std::string semiring;
  int features = 0;
  std::size_t matrices = 0;
  /// Its time over that of the fastest, ascending. A matrix that it does not serve has none.
  std::map<std::string, std::vector<double>> over_best;

  /// The share of the matrices on which `implementation` takes at most `factor` times the least.
  double share_within(const std::string& implementation, double factor) const;
};

/// The profiles of the rows of suites real and collection.
std::vector<profile> profiles_of(const nlohmann::json& rows);

/// The same as a table.
nlohmann::json table_of(std::span<const profile> profiles);

/// Runs suite collection: on the GPU, or else on the CPU.
void collection(const options& given, record& out);

}  // namespace bench
