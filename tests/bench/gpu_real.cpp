// Suite real: sums and maxima on the graphs of the data sets, by the library's own choice beside
// cuSPARSE.

#include <algorithm>
#include <cstdio>

#include "gpu_suites.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace bench::gpu {
namespace {

class real : public suite {
 public:
  explicit real(setting& with) : suite(with), names_(data_sets()) {
    if (names_.empty()) std::printf("real: there are no data sets in %s\n", data_folder().c_str());
  }

  std::vector<std::string> usual_graphs() const override { return names_; }

  void measure(product& of) override {
    const rig::sparse_operand a = csr_of(of.graph.weighted);
    const float* const b = of.b.data();
    float* const c = of.c.data();
    compare(of, of.graph.weighted, rig::plus_times<float>{},
            spmm_peers("cusparse_", a, b, c, of.features), rig::lowest<float>(), sums_);
    compare(of, of.graph.pattern, rig::max_second<float>{}, {max_peer(a, b, c, of.features)},
            least_maximum, maxima_);
  }

  void summarise() override {
    sum_up("real_over_cusparse", sums_, {}, {});
    sum_up("real_max_over_spmm_op", maxima_, {}, {});
  }

 private:
  /// Races the automatic choice and the peers, whose results may replace less than `least` by it.
  template <class S>
  void compare(product& of, const rig::matrix<float>& a, const S& semiring, std::vector<peer> peers,
               float least, std::vector<double>& ratios) {
    std::vector<contender> field = {{"rig", [&] { rig::mxm(of.c, rig::none, a, of.b, semiring); }}};
    field[0].run();
    verify(peers, of.c, sample(of.c), of, float_rounding, with_, least);
    with_.enter(peers, of, field);
    const std::vector<double> ms = with_.race(field);

    row line = with_.line("real", of, rig::is_ignoring_left<S> ? 0 : 4, 4);
    line.semiring = S::name;
    line.kernel = line.chosen = rig::explain(a, of.b, semiring).chosen;
    line.ms = ms[0];
    line.share_of_ceiling = with_.out.share(line.bytes, ms[0], 4.0 * a.columns() * of.features);
    for (std::size_t i = 1; i < field.size(); ++i) line.peer_ms[field[i].name] = ms[i];
    if (field.size() > 1) {
      line.ratio = *std::min_element(ms.begin() + 1, ms.end()) / ms[0];
      ratios.push_back(*line.ratio);
    }
    with_.out.add(line);
  }

  std::vector<std::string> names_;
  std::vector<double> sums_, maxima_;
};

}  // namespace

std::unique_ptr<suite> make_real(setting& with) { return std::make_unique<real>(with); }

}  // namespace bench::gpu
