// Suites exact and spmv: plus_times in fp32 beside cuSPARSE, by each of rig's kernels and by the
// one that the library chooses.

#include <algorithm>
#include <map>

#include "gpu_suites.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace bench::gpu {
namespace {

const rig::plus_times<float> sum;

/// Milliseconds for A's derived structures, on the host's clock until the device is done.
double prepare_time(const rig::matrix<float>& a) {
  std::vector<double> times;
  for (int i = 0; i < 6; ++i) {
    a.drop_derived();
    synchronise();
    times.push_back(wall_clock([&] {
      a.prepare();
      synchronise();
    }));
  }
  // The first time also contains the loading of the device code.
  std::sort(times.begin() + 1, times.end());
  return times[3];
}

struct outcome {
  std::string chosen;
  double chosen_ms = 0, best_ms = 0;  ///< the automatic choice, and rig's best kernel
  std::vector<std::pair<std::string, double>> named_ms;
  std::map<std::string, double> peer_ms;
};

/// Races rig's exact kernels, `vendor`, the automatic choice and the peers.
outcome compare(setting& with, product& of, std::vector<peer> peers) {
  const rig::matrix<float>& a = of.graph.weighted;
  // `vendor` serves only products that need not be reproducible.
  const rig::explanation told = rig::explain(a, of.b, sum, {.reproducible = false});
  std::vector<contender> field;
  const auto run_by = [&](const std::string& kernel) {
    return [&of, &a, desc = rig::descriptor{.kernel = kernel, .reproducible = kernel != "vendor"}] {
      rig::mxm(of.c, rig::none, a, of.b, sum, desc);
    };
  };
  field.push_back({"automatic", run_by("")});
  field[0].run();
  const std::vector<float> expected = sample(of.c);
  std::vector<peer> named;
  for (const rig::explained& one : told.kernels)
    if (one.where == rig::place::kind::cuda && !one.approximate &&
        one.says.says != rig::verdict::cannot)
      named.push_back({one.name, run_by(one.name), {}});
  verify(named, of.c, expected, of, float_rounding, with);
  verify(peers, of.c, expected, of, float_rounding, with);
  with.enter(named, of, field);
  const std::size_t ours = field.size();
  with.enter(peers, of, field);

  const std::vector<double> ms = with.race(field);
  outcome out;
  out.chosen = told.chosen;
  out.chosen_ms = out.best_ms = ms[0];
  for (std::size_t i = 1; i < ours; ++i) {
    out.named_ms.emplace_back(field[i].name, ms[i]);
    if (field[i].name != "vendor") out.best_ms = std::min(out.best_ms, ms[i]);
  }
  for (std::size_t i = ours; i < field.size(); ++i) {
    out.peer_ms[field[i].name] = ms[i];
    of.best_cusparse_ms = std::min(of.best_cusparse_ms.value_or(ms[i]), ms[i]);
  }
  return out;
}

/// A feature width that is no power of two. Its time is compared with the interpolation between the
/// powers of two below and above.
struct odd_width {
  int features, below = 0, above = 0;
};
/// A width without powers is only recorded; there is one for each launch configuration with scalar
/// loads.
constexpr odd_width odd_widths[] = {{3},  {13},           {33, 32, 64},    {47},  {65},
                                    {97}, {100, 64, 128}, {129, 128, 256}, {145}, {193}};

class exact : public suite {
 public:
  using suite::suite;

  std::vector<int> features() const override {
    std::vector<int> all = suite::features();
    if (!with_.given.features.empty()) return all;
    for (const odd_width& odd : odd_widths) all.push_back(odd.features);
    return all;
  }

  void meet(const subject& graph) override { prepare_ms_ = prepare_time(graph.weighted); }

  void measure(product& of) override {
    const rig::matrix<float>& a = of.graph.weighted;
    const outcome found = compare(
        with_, of, spmm_peers("cusparse_", csr_of(a), of.b.data(), of.c.data(), of.features));
    row line = with_.line("exact", of, 4, 4);
    line.chosen = found.chosen;
    line.prepare_ms = prepare_ms_;
    line.best_cusparse_ms = of.best_cusparse_ms;
    line.peer_ms = found.peer_ms;
    const auto add = [&](const std::string& operation, const std::string& kernel, double ms) {
      line.operation = operation;
      line.kernel = kernel;
      line.ms = ms;
      line.share_of_ceiling = with_.out.share(line.bytes, ms, a.columns() * 4.0 * of.features);
      if (of.best_cusparse_ms) line.ratio = *of.best_cusparse_ms / ms;
      with_.out.add(line);
    };
    const bool is_odd = std::any_of(std::begin(odd_widths), std::end(odd_widths),
                                    [&](auto& odd) { return odd.features == of.features; });
    add(is_odd ? "mxm, odd width" : "mxm", found.chosen, found.chosen_ms);
    for (const auto& [kernel, ms] : found.named_ms) add("mxm, kernel named", kernel, ms);
    times_[of.graph.name][of.features] = found.chosen_ms;
    if (is_odd) return;
    if (of.best_cusparse_ms) ratios_.push_back(*of.best_cusparse_ms / found.chosen_ms);
    ++rows_;
    if (found.chosen_ms <= 1.05 * found.best_ms) ++well_chosen_;
    if (of.features == 64) looks_.push_back(prepare_ms_ / std::max(0.06, 0.1 * found.chosen_ms));
  }

  void summarise() override {
    sum_up("exact_over_cusparse", ratios_, 1.45, 1.05);
    if (rows_ > 0)
      with_.out.summarise("exact_choice_within_5_percent",
                          static_cast<double>(well_chosen_) / rows_, 0.95);
    for (const odd_width& odd : odd_widths) limit_odd(odd);
    if (looks_.empty()) return;
    const double worst = *std::max_element(looks_.begin(), looks_.end());
    with_.out.summarise("exact_prepare_over_allowed_greatest", worst);
    if (worst > 1) with_.out.miss("prepare takes more than 60 us and 10 % of a product at F = 64");
  }

 private:
  void limit_odd(const odd_width& of) {
    double greatest = 0;
    for (const auto& [graph, ms] : times_) {
      if (ms.count(of.features) + ms.count(of.below) + ms.count(of.above) < 3) continue;
      const double along = static_cast<double>(of.features - of.below) / (of.above - of.below);
      const double even = ms.at(of.below) + along * (ms.at(of.above) - ms.at(of.below));
      greatest = std::max(greatest, ms.at(of.features) / even);
    }
    if (greatest > 0)
      with_.out.limit("exact_" + std::to_string(of.features) + "_over_interpolated_greatest",
                      greatest, 1.25);
  }

  double prepare_ms_ = 0;
  std::map<std::string, std::map<int, double>> times_;  ///< by graph and feature width
  std::vector<double> ratios_, looks_;
  int rows_ = 0, well_chosen_ = 0;
};

class spmv : public suite {
 public:
  using suite::suite;

  std::vector<std::string> usual_graphs() const override {
    std::vector<std::string> names = suite::usual_graphs();
    // 10⁸ entries with vectors that fit in the L1 cache, in the L2 cache and in neither; then power
    // laws.
    names.insert(names.end(), {"uniform:32768:3400", "uniform:262144:400", "uniform:3276800:32",
                               "rmat:20:16", "rmat:22:16"});
    return names;
  }
  std::vector<int> features() const override { return {1}; }

  void measure(product& of) override {
    const rig::matrix<float>& a = of.graph.weighted;
    const outcome found = compare(with_, of, spmv_peers(csr_of(a), of.b.data(), of.c.data()));
    row line = with_.line("spmv", of, 4, 4);
    // The least traffic: A once, and each element of B and C once.
    line.bytes = 8.0 * static_cast<double>(of.nnz()) + 4.0 * (a.rows() + 1.0) + 4.0 * a.columns() +
                 4.0 * a.rows();
    line.chosen = found.chosen;
    line.best_cusparse_ms = of.best_cusparse_ms;
    line.peer_ms = found.peer_ms;
    const auto add = [&](const std::string& operation, const std::string& kernel, double ms) {
      line.operation = operation;
      line.kernel = kernel;
      line.ms = ms;
      line.share_of_ceiling = line.bytes / (ms * 1e6) / with_.ceilings.at("copy");
      if (of.best_cusparse_ms) line.ratio = *of.best_cusparse_ms / ms;
      with_.out.add(line);
      return *line.share_of_ceiling;
    };
    const double share = add("mxv", found.chosen, found.chosen_ms);
    for (const auto& [kernel, ms] : found.named_ms) add("mxv, kernel named", kernel, ms);
    if (of.best_cusparse_ms) ratios_.push_back(*of.best_cusparse_ms / found.chosen_ms);
    if (of.graph.name.starts_with("uniform:") && of.nnz() >= 100'000'000) uniform_.push_back(share);
    if (of.graph.name.starts_with("rmat:")) rmat_.push_back(share);
  }

  void summarise() override {
    sum_up("spmv_over_cusparse", ratios_, {}, {});
    sum_up("spmv_share_of_copy_uniform", uniform_, {}, 0.85);
    sum_up("spmv_share_of_copy_rmat", rmat_, {}, 0.70);
  }

 private:
  std::vector<double> ratios_, uniform_, rmat_;
};

}  // namespace

std::unique_ptr<suite> make_exact(setting& with) { return std::make_unique<exact>(with); }
std::unique_ptr<suite> make_spmv(setting& with) { return std::make_unique<spmv>(with); }

}  // namespace bench::gpu
