// Suite hybrid: windows on Tensor cores beside rig's other kernels of the same precision.

#include <algorithm>

#include "cuda/tuned.hpp"
#include "gpu_suites.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace bench::gpu {
namespace {

const rig::plus_times<float> sum;

/// Graphs whose windows of 16 rows are dense.
constexpr const char* dense_graphs[] = {"cliques:524288:16", "cliques:262144:32",
                                        "cliques:131072:64", "banded:262149:16",
                                        "banded:131077:32",  "banded:65541:64"};

/// From dense to sparse windows: 5 to 20 % of a band's entries.
constexpr const char* thinned_graphs[] = {"20%/banded:65541:64", "15%/banded:65541:64",
                                          "10%/banded:65541:64", "5%/banded:65541:64"};

/// Graphs in an order that hides their communities, and after LOA.
constexpr const char* reordered_graphs[] = {
    "shuffled/collab-condmat2005", "loa/shuffled/collab-condmat2005", "shuffled/facebook-pages",
    "loa/shuffled/facebook-pages", "loa/shuffled/soc-slashdot0902",   "loa/arxiv-like-shuffled",
};

/// A selector that sends every window to Tensor cores.
const std::string selects_all = "hybrid,,bias=1000000 per_column=0 per_density=0";

bool is_dense(const std::string& graph) {
  return graph.starts_with("cliques:") || graph.starts_with("banded:");
}

class hybrid : public suite {
 public:
  using suite::suite;

  std::vector<std::string> usual_graphs() const override {
    std::vector<std::string> names(std::begin(dense_graphs), std::end(dense_graphs));
    for (const std::string& name : suite::usual_graphs()) names.push_back(name);
    names.insert(names.end(), std::begin(thinned_graphs), std::end(thinned_graphs));
    for (const std::string& name : data_sets()) names.push_back(name);
    if (!data_sets().empty())
      names.insert(names.end(), std::begin(reordered_graphs), std::end(reordered_graphs));
    return names;
  }

  void meet(const subject& graph) override {
    const rig::matrix<float>& a = graph.weighted;
    a.prepare();
    std::vector<double> times;
    for (int i = 0; i < 4; ++i) {
      a.drop_derived();
      a.prepare();
      synchronise();
      times.push_back(wall_clock([&] {
        a.prepare({.kernel = "hybrid"});
        synchronise();
      }));
    }
    // The first time also contains the loading of the device code.
    std::sort(times.begin() + 1, times.end());
    build_ms_ = times[2];
    const double csr = 4.0 * static_cast<double>(a.nnz()) + 4.0 * (a.rows() + 1.0);
    for (const rig::derived_info& one : a.derived_structures())
      if (one.name == "windows") memory_.push_back(static_cast<double>(one.bytes) / csr);
  }

  void measure(product& of) override {
    const rig::matrix<float>&weighted = of.graph.weighted, &iso = of.graph.pattern;
    const rig::descriptor tf32 = {.precision = rig::precision::tf32};
    measure_as(of, weighted, of.b, of.c, "float", tf32, 2e-3);
    measure_as(of, iso, of.b, of.c, "float iso", tf32, 1e-3);
    measure_rounded<rig::half>(of, "half", 1e-3);
    measure_rounded<rig::bfloat16>(of, "bfloat16", 8e-3);
  }

  void summarise() override {
    sum_up("hybrid_over_row", ordinary_, {}, 0.98);
    sum_up("hybrid_over_row_dense_windows", dense_, {}, 1.3);
    if (wins_ + losses_ > 0)
      with_.out.summarise("hybrid_choice_within_5_percent",
                          static_cast<double>(wins_) / (wins_ + losses_), 0.95);
    if (!builds_.empty())
      with_.out.limit("hybrid_build_over_product_greatest",
                      *std::max_element(builds_.begin(), builds_.end()), 10);
    if (!memory_.empty())
      with_.out.limit("hybrid_memory_over_csr_greatest",
                      *std::max_element(memory_.begin(), memory_.end()), 1.3);
  }

 private:
  /// B and C in a type of two bytes, with and without values of A.
  template <class T>
  void measure_rounded(product& of, const std::string& name, double rounding) {
    const rig::matrix<float>&weighted = of.graph.weighted, &iso = of.graph.pattern;
    auto b = rig::dense<T>::uninitialised(weighted.columns(), of.features, rig::cuda());
    auto c = rig::dense<T>::uninitialised(weighted.rows(), of.features, rig::cuda());
    round_to(rig::type_of<T>, of.b.data(), b.data(), rig::int64{weighted.columns()} * of.features);
    measure_as(of, weighted, b, c, name, {}, rounding);
    measure_as(of, iso, b, c, name + " iso", {}, rounding);
  }

  /// Races `hybrid`, the choice between it and the others, and the others that serve unnamed.
  template <class T>
  void measure_as(product& of, const rig::matrix<float>& a, const rig::dense<T>& b,
                  rig::dense<T>& c, const std::string& type, const rig::descriptor& desc,
                  double rounding) {
    const auto run_by = [&](const std::string& kernel) {
      rig::descriptor named = desc;
      named.kernel = kernel;
      return [&a, &b, &c, named] { rig::mxm(c, rig::none, a, b, sum, named); };
    };
    const auto without_selector = [&, run = run_by("hybrid")] {
      const rig::on_cuda::tuning_scope in_use(selects_all_);
      run();
    };
    run_by("row")();
    const std::vector<float> expected = sample(c);
    std::vector<peer> ours = {{"hybrid", run_by("hybrid"), {}},
                              {"hybrid without selector", without_selector, {}}};
    verify(ours, c, expected, of, rounding, with_);
    if (!ours[0].error.empty()) return;
    std::vector<contender> field = {{"hybrid", run_by("hybrid")},
                                    {"automatic", run_by("")},
                                    {"row", run_by("row")},
                                    {"split", run_by("split")},
                                    {"hybrid without selector", without_selector}};
    const std::vector<double> ms = with_.race(field);
    const double best = std::min(ms[2], ms[3]);

    row line = with_.line("hybrid", of, a.values() == nullptr ? 0 : 4, sizeof(T));
    line.type = type;
    line.kernel = "hybrid";
    line.chosen = rig::explain(a, b, sum, desc).chosen;
    line.ms = ms[0];
    line.prepare_ms = build_ms_;
    line.peer_ms = {{"rig_row", ms[2]},
                    {"rig_split", ms[3]},
                    {"rig_automatic", ms[1]},
                    {"rig_hybrid_without_selector", ms[4]}};
    line.share_of_ceiling =
        with_.out.share(line.bytes, ms[0], sizeof(T) * 1.0 * a.columns() * of.features);
    line.ratio = best / ms[0];
    with_.out.add(line);
    (is_dense(of.graph.name) ? dense_ : ordinary_).push_back(*line.ratio);
    ++(ms[1] <= 1.05 * std::min(best, ms[0]) ? wins_ : losses_);
    if (of.features == 64) builds_.push_back(build_ms_ / best);
  }

  const rig::on_cuda::tuning_table selects_all_{"without selector", tuned::text_of({selects_all})};
  double build_ms_ = 0;
  std::vector<double> ordinary_, dense_, builds_, memory_;
  int wins_ = 0, losses_ = 0;
};

}  // namespace

std::unique_ptr<suite> make_hybrid(setting& with) { return std::make_unique<hybrid>(with); }

}  // namespace bench::gpu
