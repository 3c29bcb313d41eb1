#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rig/generate.hpp"

namespace bench {

/// What the command line says; empty and 0 leave it to the suite.
struct options {
  std::string command;  ///< the command line itself
  std::string commit;   ///< of the sources; empty: as git describes those that are here
  std::vector<std::string> suites;
  std::vector<std::string> graphs;
  std::vector<int> features;
  int threads = 0;
  int repeat = 0;
  bool all = false;  ///< the graphs that need gigabytes too
};

/// Milliseconds one run of some work takes. On a device this is a pair of events.
using stopwatch = double (*)(const std::function<void()>& work);
double wall_clock(const std::function<void()>& work);

/// Somebody who does the work.
struct contender {
  std::string name;
  std::function<void()> run;
};

/// Median milliseconds of each contender, after two rounds to warm up. They take turns, so that a
/// change in the machine's load hits all of them.
std::vector<double> race(std::span<const contender> field, int repeat,
                         stopwatch watch = wall_clock);

/// Gigabytes a second, measured on this machine: "copy" counts reads and writes; "gather_cached"
/// and "gather_memory" read random rows of 256 bytes of a table of 16 MB and of 512 MB.
std::map<std::string, double> measure_ceilings(int threads);

/// A line of a record. `ratio` is how many times as long the best peer takes: cuSPARSE's best where
/// there is one, else the best of `peer_ms` that is a library.
struct row {
  std::string suite;  ///< empty: the record's own
  std::string operation = "mxm";
  std::string graph;
  rig::int64 n = 0, nnz = 0;
  int features = 1;
  std::string semiring, type;
  std::string kernel;  ///< the one measured
  std::string chosen;  ///< the one the library chooses if none is named
  int width = 0;  ///< entries a row keeps; 0: all. The record has what is set of this and below
  int k = 0;      ///< entries that MaxK keeps of a row of features; 0: all
  std::optional<double> kept_share;  ///< of A's entries, those that repeat counted each time
  std::optional<double> exact_ms;    ///< rig's exact kernel, B of the row's type
  std::optional<double> control_ms;  ///< the same on the entries kept, as a matrix of their own
  std::optional<double> load_share;  ///< what loading takes of `ms`
  std::optional<double> published;   ///< the ratio that the published kernel has
  double ms = 0;
  std::optional<double> prepare_ms;
  double bytes = 0;  ///< read and written, as if nothing were cached
  std::optional<double> share_of_ceiling;
  std::optional<double> best_cusparse_ms;
  std::optional<double> ratio;
  std::map<std::string, double> peer_ms;
};

/// Everything one run of one suite found. A line is printed as it is added.
class record {
 public:
  record(std::string suite, const options& given);

  void ceilings(std::map<std::string, double> measured) { ceilings_ = std::move(measured); }
  void device(std::string driver, std::string toolkit) {
    driver_ = std::move(driver);
    toolkit_ = std::move(toolkit);
  }
  /// What stands behind a name in `peer_ms`.
  void peer(const std::string& name, const std::string& version) { peers_[name] = version; }
  /// The share of the ceiling that `bytes` in `ms` are, gathered from a table of `table_bytes`.
  double share(double bytes, double ms, double table_bytes) const;

  void add(const row& line);
  /// A number of the summary; below `at_least` the run misses its target.
  void summarise(const std::string& name, double value, std::optional<double> at_least = {});
  /// The same where more than `at_most` misses.
  void limit(const std::string& name, double value, double at_most);
  /// A target that is not a number.
  void miss(const std::string& what);
  const std::vector<std::string>& missed() const { return missed_; }

  /// The record as JSON.
  std::string text() const;

 private:
  std::string suite_, command_, commit_, started_;
  std::string driver_, toolkit_;  ///< empty where no device was measured
  int threads_, repeat_;
  double load_;
  std::map<std::string, double> ceilings_;
  std::map<std::string, std::string> peers_;
  std::vector<row> rows_;
  std::vector<std::pair<std::string, double>> summary_;
  std::vector<std::string> missed_;
};

/// A folder of its own for files; it goes with its scope.
class scratch_folder {
 public:
  scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  ~scratch_folder();
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// A command may name several suites that have one function; they share its graphs.
struct suite {
  const char* name;
  const char* summary;
  void (*run)(const options&, record&);
};
std::span<const suite> suites();

void cpu(const options& given, record& out);
void graphs(const options& given, record& out);
void io(const options& given, record& out);

struct plot {
  std::string name;
  std::string alternative;  ///< in words
  std::string svg;
};

/// Those that the rows of a record allow; the same record makes the same bytes.
std::vector<plot> plots_of(const nlohmann::json& record);

/// One page from records (paths of JSON files); under each suite stand the notes of
/// `notes`/SUITE.md. Writes the plots into the folder `plots`, which the page takes to be beside
/// it; makes none where that is empty.
std::string report(std::span<const std::string> records, const std::string& notes,
                   const std::string& plots);

/// Threads and rounds after defaults.
int threads_of(const options& given);
int repeat_of(const options& given);

double geometric_mean(std::span<const double> numbers);

/// A number in at most `digits` significant digits, or fixed with so many places.
std::string digits(double number, int digits);

}  // namespace bench
