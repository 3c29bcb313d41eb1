// Suite spgemm: squares of sparse matrices beside cuSPARSE, and products for triangle counts under
// a mask beside the whole product.

#include <algorithm>

#include "gpu_suites.hpp"
#include "rig/rearrange.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace bench::gpu {
namespace {

using rig::int64;

class spgemm : public suite {
 public:
  using suite::suite;

  std::vector<std::string> usual_graphs() const override {
    std::vector<std::string> names = {"rmat:14:16", "rmat:15:16", "rmat:16:16", "uniform:262144:8",
                                      "grid:512:512"};
    for (const std::string& name : data_sets())
      if (name == "web-cnr2000" || name == "mesh-mdual") names.push_back(name);
    return names;
  }
  std::vector<int> features() const override { return {1}; }

  void measure(product& of) override {
    square(of);
    triangles(of);
  }

  void summarise() override {
    sum_up("spgemm_over_cusparse", over_cusparse_, 1.3, 1.0);
    if (!over_unmasked_.empty())
      with_.out.summarise("triangles_masked_over_unmasked_least",
                          *std::min_element(over_unmasked_.begin(), over_unmasked_.end()), 3);
  }

 private:
  /// C = A·A. All contenders allocate C, and wait for its number of entries.
  void square(product& of) {
    const rig::matrix<float>& a = of.graph.weighted;
    const rig::plus_times<float> algebra;
    std::vector<contender> field = {until_done("rig", [&] { rig::mxm(a, a, algebra); })};
    const int64 nnz = rig::mxm(a, a, algebra).nnz();
    enter_alike(spgemm_peers(csr_of(a), csr_of(a)), nnz, of, field);
    const std::vector<double> ms = bench::race(field, repeat_of(with_.given));

    row line = with_.line("spgemm", of, 4, 4);
    line.operation = "A·A";
    line.kernel = line.chosen = rig::explain(a, a, algebra).chosen;
    line.bytes = 2 * bytes_of(a.nnz(), of) + bytes_of(nnz, of);
    line.ms = ms[0];
    for (std::size_t i = 1; i < field.size(); ++i) line.peer_ms[field[i].name] = ms[i];
    if (field.size() > 1) {
      line.best_cusparse_ms = *std::min_element(ms.begin() + 1, ms.end());
      line.ratio = *line.best_cusparse_ms / ms[0];
      over_cusparse_.push_back(*line.ratio);
    }
    with_.out.add(line);
  }

  /// Adds the peers whose product has `nnz` entries to `field`.
  void enter_alike(const std::vector<sparse_peer>& all, int64 nnz, const product& of,
                   std::vector<contender>& field) {
    std::vector<peer> peers;
    for (const sparse_peer& one : all) {
      peers.push_back(one);
      if (!one.error.empty() || *one.nnz == nnz) continue;
      peers.back().error =
          "it has " + std::to_string(*one.nnz) + " entries where rig has " + std::to_string(nnz);
      with_.out.miss(one.name + " (" + of.graph.name + "): " + peers.back().error);
    }
    with_.enter(peers, of, field);
  }

  /// L⟨L⟩ = L·Lᵀ, where L are the entries below the diagonal, beside L·Lᵀ and then the mask.
  void triangles(product& of) {
    const rig::matrix<float>& a = of.graph.pattern;
    const auto both = rig::ewise_add(a, rig::transpose(a), rig::binary::maximum);
    const auto l = rig::select(both, rig::selection::lower, -1).with_value(1.0f);
    const rig::plus_pair<float> pairs;
    const rig::descriptor by_transpose{.transpose_b = true};
    l.prepare({.transpose_a = true});
    const auto masked = [&] { return rig::mxm(l, l, pairs, rig::structure(l), by_transpose); };
    const auto whole = [&] {
      return rig::apply(rig::mxm(l, l, pairs, by_transpose), rig::unary::identity,
                        rig::structure(l));
    };
    const int64 nnz = masked().nnz(), nnz_of_whole = whole().nnz();
    if (nnz != nnz_of_whole)
      rig::fail(rig::errc::range, {"triangles: the masked product has ", nnz,
                                   " entries, the whole one has ", nnz_of_whole, " in the mask"});
    const contender field[] = {until_done("masked", masked), until_done("unmasked", whole)};
    const std::vector<double> ms = bench::race(field, repeat_of(with_.given));

    row line = with_.line("spgemm", of, 0, 4);
    line.operation = "triangles L·Lᵀ";
    line.semiring = pairs.name;
    line.kernel = line.chosen = rig::explain(l, l, pairs, rig::structure(l), by_transpose).chosen;
    line.bytes = 12.0 * (static_cast<double>(l.nnz()) + of.n()) + bytes_of(nnz, of);
    line.ms = ms[0];
    line.ratio = ms[1] / ms[0];
    line.peer_ms[field[1].name] = ms[1];
    with_.out.add(line);
    over_unmasked_.push_back(*line.ratio);
  }

  /// The bytes of a matrix of floats.
  static double bytes_of(int64 nnz, const product& of) {
    return 8 * static_cast<double>(nnz) + 4.0 * of.n();
  }

  std::vector<double> over_cusparse_, over_unmasked_;
};

}  // namespace

std::unique_ptr<suite> make_spgemm(setting& with) { return std::make_unique<spgemm>(with); }

}  // namespace bench::gpu
