#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu.hpp"
#include "gpu_peers.hpp"
#include "rig/dense.hpp"
#include "rig/matrix.hpp"

namespace bench::gpu {

/// A graph, on the GPU.
struct subject {
  std::string name;
  std::shared_ptr<const rig::pattern> on_host;
  rig::matrix<float> weighted;  ///< random values
  rig::matrix<float> pattern;   ///< the same pattern and derived structures, every entry 1
};

/// A graph under a name, with random values.
subject make_subject(const std::string& name, const rig::matrix<float>& graph);

/// C = A·B on a subject: B in (-0.5, 0.5); each contender overwrites C.
struct product {
  const subject& graph;
  int features;
  rig::dense<float> b, c;
  std::optional<double> best_cusparse_ms;  ///< fp32, once measured

  product(const subject& graph, int features);
  rig::int64 nnz() const { return graph.weighted.nnz(); }
  rig::index n() const { return graph.weighted.rows(); }
};

/// A contender whose time ends when the device is done, for work that also waits for it.
contender until_done(std::string name, std::function<void()> work);

/// The state that all suites of a run share.
struct setting {
  const options& given;
  record& out;
  std::map<std::string, double> ceilings;

  /// A line with the facts of a product. `entry_bytes` are the bytes of values per entry,
  /// `element_bytes` those of an element.
  row line(const char* suite, const product& of, double entry_bytes, double element_bytes) const;
  /// Races the contenders of `field`; returns the milliseconds of each.
  std::vector<double> race(std::span<const contender> field) const;
  /// Adds the peers that work to `field`; the record keeps the errors of the others.
  void enter(const std::vector<peer>& peers, const product& at, std::vector<contender>& field);
  /// The fastest of cuSPARSE's fp32 algorithms; races them if that has not happened yet.
  std::optional<double> best_cusparse(product& of);
};

/// A suite of the GPU. The run makes each graph once, and the suites take turns on it.
class suite {
 public:
  explicit suite(setting& with) : with_(with) {}
  virtual ~suite() = default;
  virtual std::vector<std::string> usual_graphs() const;
  virtual std::vector<int> features() const;  ///< the given widths, or else 32, 64, 128, 256
  virtual void meet(const subject&) {}        ///< before the products with it
  virtual void measure(product& of) = 0;
  virtual void leave(const subject&) {}  ///< after the products with it
  virtual void summarise() = 0;

 protected:
  /// Adds geometric mean and minimum of `numbers` to the summary, with their targets.
  void sum_up(const std::string& name, const std::vector<double>& numbers,
              std::optional<double> mean_at_least, std::optional<double> least_at_least);
  setting& with_;
};

std::unique_ptr<suite> make_exact(setting& with);
std::unique_ptr<suite> make_max(setting& with);
std::unique_ptr<suite> make_types(setting& with);
std::unique_ptr<suite> make_sampled(setting& with);
std::unique_ptr<suite> make_maxk(setting& with);
std::unique_ptr<suite> make_spmv(setting& with);
std::unique_ptr<suite> make_start(setting& with);
std::unique_ptr<suite> make_profile(setting& with);
std::unique_ptr<suite> make_real(setting& with);
std::unique_ptr<suite> make_collection(setting& with);
std::unique_ptr<suite> make_graph(setting& with);
std::unique_ptr<suite> make_spgemm(setting& with);
std::unique_ptr<suite> make_hybrid(setting& with);
std::unique_ptr<suite> make_search(setting& with);
std::unique_ptr<suite> make_gap(setting& with);
std::unique_ptr<suite> make_update(setting& with);

/// Elements of some rows of C: from its start, middle and end.
template <class T>
std::vector<float> sample(const rig::dense<T>& c);

/// The allowed rounding of a sum of fp32 products; half and bfloat16 round more when stored.
constexpr double float_rounding = 1e-6;

/// Runs a peer on an emptied C and compares samples. If they differ by more than `rounding` per
/// term, the peer gets an error instead of a time, and the record misses. Results below `least`
/// count as `least`, and so does a NaN, as in a row without entries that a peer does not write.
template <class T>
void verify(std::vector<peer>& peers, rig::dense<T>& c, const std::vector<float>& expected,
            const product& at, double rounding, setting& with, float least = rig::lowest<float>());

/// The least result that cusparseSpMMOp gives: it starts some of its sums with 0 for every
/// operation, so a negative maximum may become 0.
constexpr float least_maximum = 0;

std::vector<rig::index> sampled_rows(rig::index rows);

/// Measured in a process of its own for suite start: prints the milliseconds of the first and the
/// second call. `semiring` is "ahead" or "run_time".
int start_child(const std::string& semiring);

}  // namespace bench::gpu

namespace bench {

/// Runs all suites of the GPU that `given` names.
void gpu_suites(const options& given, record& out);

/// Fits the selector of `hybrid` to synthetic windows, and writes it into the tuning table.
void tune_windows(const options& given, record& out);

/// Races the plans of each row of the tuning table that the graphs meet, and writes the table.
void tune(const options& given, record& out);

}  // namespace bench
