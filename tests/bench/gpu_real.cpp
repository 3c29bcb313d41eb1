// Suites real and collection: sums and maxima by the library's own choice beside cuSPARSE, on the
// data sets and on the files below a folder.

#include <algorithm>
#include <cstdio>

#include "collection.hpp"
#include "gpu_suites.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace bench::gpu {
namespace {

class real : public suite {
 public:
  real(setting& with, const std::string& name, std::vector<std::string> names,
       std::vector<int> widths)
      : suite(with),
        name_(name),
        names_(std::move(names)),
        widths_(std::move(widths)),
        races_(name, widths_, with.given.graphs.empty() ? names_.size() : with.given.graphs.size(),
               with.out) {}

  std::vector<std::string> usual_graphs() const override { return names_; }
  std::vector<int> features() const override { return widths_; }

  void measure(product& of) override {
    const rig::sparse_operand a = csr_of(of.graph.weighted);
    const float* const b = of.b.data();
    float* const c = of.c.data();
    std::vector<peer> sums = spmm_peers("cusparse_", a, b, c, of.features);
    if (of.features == 1)
      for (peer& one : spmv_peers(a, b, c)) sums.push_back(std::move(one));
    compare(of, of.graph.weighted, rig::plus_times<float>{}, std::move(sums), rig::lowest<float>());
    compare(of, of.graph.pattern, rig::max_second<float>{}, {max_peer(a, b, c, of.features)},
            least_maximum);
  }

  void leave(const subject& graph) override { races_.end(graph.name, *graph.on_host); }

  void summarise() override {
    races_.summarise(name_ + "_over_cusparse", name_ + "_max_over_spmm_op");
  }

 private:
  /// Races the automatic choice and the peers, whose results may replace less than `least` by it.
  template <class S>
  void compare(product& of, const rig::matrix<float>& a, const S& semiring, std::vector<peer> peers,
               float least) {
    std::vector<contender> field = {{"rig", [&] { rig::mxm(of.c, rig::none, a, of.b, semiring); }}};
    field[0].run();
    verify(peers, of.c, sample(of.c), of, float_rounding, with_, least);
    with_.enter(peers, of, field);
    const std::vector<double> ms = with_.race(field);

    row line = with_.line(name_.c_str(), of, rig::is_ignoring_left<S> ? 0 : 4, 4);
    line.semiring = S::name;
    line.kernel = line.chosen = rig::explain(a, of.b, semiring).chosen;
    line.share_of_ceiling = with_.out.share(line.bytes, ms[0], 4.0 * a.columns() * of.features);
    races_.add(line, field, ms);
  }

  std::string name_;
  std::vector<std::string> names_;
  std::vector<int> widths_;
  comparison races_;
};

}  // namespace

std::unique_ptr<suite> make_real(setting& with) {
  std::vector<std::string> names = data_sets();
  if (names.empty()) std::printf("real: there are no data sets in %s\n", data_folder().c_str());
  const std::vector<int>& given = with.given.features;
  return std::make_unique<real>(with, "real", std::move(names),
                                given.empty() ? std::vector{32, 64, 128, 256} : given);
}

std::unique_ptr<suite> make_collection(setting& with) {
  return std::make_unique<real>(with, "collection", matrices_below(with.given.collection),
                                collection_widths(with.given));
}

}  // namespace bench::gpu
