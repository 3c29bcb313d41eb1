#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "rig/generate.hpp"

namespace bench {

/// The command line is wrong: exit code 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The options of the command line; empty and 0 select the suite's defaults.
struct options {
  std::string command;  ///< the command line itself
  std::string record;   ///< where the record is written; empty: nowhere
  std::string commit;   ///< of the sources; empty: as git describes the sources of this build
  std::vector<std::string> suites;
  std::vector<std::string> graphs;
  std::vector<int> features;
  int threads = 0;
  int repeat = 0;
  std::string graph_file;  ///< tune: a file, in place of `graphs`
  std::string table;       ///< tune: the table to write
  std::string folder;      ///< gnn: where the graphs are written for peers in other languages
  std::string collection;  ///< collection: the folder of the matrices
  std::string gap;         ///< gap, analytics: the folder of GAP's programs; empty: none
  bool cpu = false;        ///< collection: on the CPU, even if there is a GPU
  bool all = false;        ///< also the graphs that need gigabytes
};

/// Returns the milliseconds of one run. On a device, a pair of events measures them.
using stopwatch = double (*)(const std::function<void()>& work);
double wall_clock(const std::function<void()>& work);

/// One competitor in a race.
struct contender {
  std::string name;
  std::function<void()> run;
  /// In place of `run`, for a process that takes its time itself: returns its milliseconds.
  std::function<double()> own_ms = {};
};

/// The middle time; the greater one of two.
double median(std::vector<double> times);

/// Median milliseconds of each contender, after a round that does not count, and each after a run
/// that is not timed. The contenders take turns, so that a change in the machine's load affects all
/// of them.
std::vector<double> race(std::span<const contender> field, int repeat,
                         stopwatch watch = wall_clock);

/// Gigabytes per second of this machine: "copy" counts reads and writes. "gather_cached" and
/// "gather_memory" read random rows of 256 bytes from tables of 16 MB and 512 MB.
std::map<std::string, double> measure_ceilings(int threads);

/// A line of a record. `ratio` is the time of the best peer over `ms`. The best peer is cuSPARSE's
/// best if it was measured, else the fastest library in `peer_ms`.
struct row {
  std::string suite;  ///< empty: the suite of the record
  std::string operation = "mxm";
  std::string graph;
  rig::int64 n = 0, nnz = 0;
  rig::int64 columns = 0;  ///< the record has them if they differ from n; 0: as n
  int features = 1;
  std::string semiring, type;
  std::string kernel;  ///< the kernel that was measured
  std::string chosen;  ///< the kernel that the library chooses if none is named
  int width = 0;  ///< entries that a sample keeps per row; 0: all. The record omits this and later
                  ///< members if unset
  int k = 0;      ///< elements that MaxK keeps per row of features; 0: all
  std::optional<double> kept_share;    ///< the kept share of A's entries, with repetitions
  std::optional<double> exact_ms;      ///< rig's exact kernel, with B in the same type
  std::optional<double> control_ms;    ///< the exact kernel on a matrix of the kept entries
  std::optional<double> error;         ///< Frobenius norm of C's difference to the exact product in
                                       ///< fp32, over the norm of that product
  std::optional<double> load_share;    ///< the share of `ms` that loading takes
  std::optional<double> published;     ///< the ratio of the published kernel
  std::optional<double> aggregate_ms;  ///< the part of `ms` in products with the graph
  std::optional<double> amdahl;        ///< the ratio if those products took no time
  std::optional<double> peak_bytes;    ///< the most memory that was held
  int ranks = 0;                       ///< of a product over ranks; 0: it is none
  std::optional<double> moved_share;   ///< of the rows that an all-gather of X moves
  std::optional<double> balance;       ///< the most that a rank receives, over the mean
  int threads = 0;                     ///< 0: those of the record
  double ms = 0;
  std::optional<double> prepare_ms;
  double bytes = 0;  ///< bytes read and written if nothing is cached; over devices, received most
  std::optional<double> share_of_ceiling;
  std::optional<double> best_cusparse_ms;
  std::optional<double> ratio;
  std::map<std::string, double> peer_ms;
  std::map<std::string, double> least_ms;  ///< of all contenders; the record omits it if empty
};

struct profile;

/// The results of one run of one suite. A line is printed when it is added.
class record {
 public:
  record(std::string suite, const options& given);

  void ceilings(std::map<std::string, double> measured) { ceilings_ = std::move(measured); }
  void device(std::string driver, std::string toolkit) {
    driver_ = std::move(driver);
    toolkit_ = std::move(toolkit);
  }
  /// Records the version of a name in `peer_ms`.
  void peer(const std::string& name, const std::string& version) { peers_[name] = version; }
  /// The share of the ceiling that `bytes` in `ms` reach, for a gather from a table of
  /// `table_bytes`.
  double share(double bytes, double ms, double table_bytes) const;

  void add(const row& line);
  /// Keeps a line without printing it.
  void keep(const row& line) { rows_.push_back(line); }
  /// A number of the summary; the run misses its target if the number is below `at_least`.
  void summarise(const std::string& name, double value, std::optional<double> at_least = {});
  /// A number of the summary; the run misses its target if the number exceeds `at_most`.
  void limit(const std::string& name, double value, double at_most);
  /// A missed target, or a failure; printed at once.
  void miss(const std::string& what);
  /// Runs `work`. What it throws, such as exhausted memory, is missed, and the suite goes on.
  void guarded(const std::string& where, const std::function<void()>& work);
  const std::vector<std::string>& missed() const { return missed_; }
  const std::string& commit() const { return commit_; }

  /// Of its rows of suites real and collection.
  std::vector<profile> profiles() const;

  /// The record as JSON.
  std::string text() const;
  /// Writes the record where the options say.
  void save() const;

 private:
  nlohmann::ordered_json rows_in_json() const;

  const options& given_;
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

/// A temporary folder, removed with its scope.
class scratch_folder {
 public:
  scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  ~scratch_folder();
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Several suites may share one function; if a command names them, they share its graphs.
struct suite {
  const char* name;
  const char* summary;
  void (*run)(const options&, record&);
};
std::span<const suite> suites();

void cpu(const options& given, record& out);

/// The part of suite cpu beside oneMKL, which is a suite of its own too.
void widths_suite(const options& given, record& out);
void analytics(const options& given, record& out);
void graphs(const options& given, record& out);
void io(const options& given, record& out);
void ranks_suite(const options& given, record& out);
void gnn_suite(const options& given, record& out);

/// $RIG_DATA, or else the folder beside the repository.
std::string data_folder();

/// The data sets that have a graph or a matrix, in alphabetical order.
std::vector<std::string> data_sets();

/// The graph of the data set with this name, or else a generated one.
rig::matrix<float> graph_of(const std::string& name);

/// The numbers of threads and rounds, or their defaults.
int threads_of(const options& given);
int repeat_of(const options& given);

double geometric_mean(std::span<const double> numbers);

/// A number with at most `digits` significant digits, or with a fixed number of decimals.
std::string digits(double number, int digits);

}  // namespace bench
