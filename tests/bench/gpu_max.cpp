// Suites max and types: maxima, which no vendor serves, and features of half the bytes.

#include <algorithm>

#include "gpu_suites.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace bench::gpu {
namespace {

const rig::plus_times<float> sum;

class max : public suite {
 public:
  using suite::suite;

  void measure(product& of) override {
    const rig::matrix<float>& weighted = of.graph.weighted;
    const rig::matrix<float>& a = of.graph.pattern;
    auto with_indices = rig::indexed_dense<float>{
        rig::dense<float>::uninitialised(of.n(), of.features, rig::cuda()),
        rig::dense<rig::int32>::uninitialised(of.n(), of.features, rig::cuda())};
    std::vector<contender> field = {
        {"plus_times", [&] { rig::mxm(of.c, rig::none, weighted, of.b, sum); }},
        {"max_second", [&] { rig::mxm(of.c, rig::none, a, of.b, rig::max_second<float>{}); }},
        {"min_second", [&] { rig::mxm(of.c, rig::none, a, of.b, rig::min_second<float>{}); }},
        {"mean_second", [&] { rig::mxm(of.c, rig::none, a, of.b, rig::mean_second<float>{}); }},
        {"arg_max_second",
         [&] { rig::mxm(with_indices, rig::none, a, of.b, rig::arg_max_second<float>{}); }},
    };
    std::vector<peer> op = {max_peer(csr_of(weighted), of.b.data(), of.c.data(), of.features)};
    field[1].run();
    verify(op, of.c, sample(of.c), of, 0, with_, least_maximum);
    with_.enter(op, of, field);
    const std::vector<double> ms = with_.race(field);

    const std::string chosen[] = {rig::explain(a, of.b, rig::max_second<float>{}).chosen,
                                  rig::explain(a, of.b, rig::min_second<float>{}).chosen,
                                  rig::explain(a, of.b, rig::mean_second<float>{}).chosen,
                                  rig::explain(a, of.b, rig::arg_max_second<float>{}).chosen};
    row line = with_.line("max", of, 0, 4);
    line.peer_ms["rig_plus_times"] = ms[0];
    for (std::size_t i = 1; i < 5; ++i) {
      line.semiring = field[i].name;
      line.kernel = line.chosen = chosen[i - 1];
      line.ms = ms[i];
      if (i == 4) line.bytes += 4.0 * of.n() * of.features;
      line.share_of_ceiling = with_.out.share(line.bytes, line.ms, 4.0 * a.columns() * of.features);
      line.ratio.reset();
      line.peer_ms.erase("cusparse_spmm_op");
      if (i == 1 && field.size() > 5) {
        line.peer_ms["cusparse_spmm_op"] = ms[5];
        line.ratio = ms[5] / ms[1];
        over_op_.push_back(*line.ratio);
      }
      with_.out.add(line);
    }
    max_.push_back(ms[0] / ms[1]);
    min_.push_back(ms[0] / ms[2]);
    mean_.push_back(ms[0] / ms[3]);
    // Arg-max writes twice as much as max. If the writes bind, its target is a share of the
    // bandwidth.
    const double must_move = 4.0 * (static_cast<double>(of.nnz()) + of.n() + 1.0 +
                                    of.features * (a.columns() + 2.0 * of.n()));
    const double share = must_move / (ms[4] * 1e6) / with_.ceilings.at("copy");
    arg_over_max_.push_back(ms[1] / ms[4]);
    ++rows_;
    if (ms[4] <= 1.35 * ms[1] || share >= 0.8) ++arg_in_time_;
  }

  void summarise() override {
    sum_up("max_over_sum", max_, 1.0, 0.95);
    sum_up("min_over_sum", min_, 1.0, 0.95);
    sum_up("mean_over_sum", mean_, {}, 1 / 1.03);
    sum_up("max_over_spmm_op", over_op_, 2.0, {});
    sum_up("arg_max_over_max", arg_over_max_, {}, {});
    if (rows_ > 0)
      with_.out.summarise("arg_max_rows_in_time", static_cast<double>(arg_in_time_) / rows_, 1.0);
  }

 private:
  std::vector<double> max_, min_, mean_, over_op_, arg_over_max_;
  int rows_ = 0, arg_in_time_ = 0;
};

class types : public suite {
 public:
  using suite::suite;

  void meet(const subject& graph) override {
    const rig::matrix<float>& a = graph.weighted;
    for (small_type* const of : {&half_, &bfloat16_}) {
      of->values = rig::buffer::allocate(static_cast<std::size_t>(a.nnz()) * 2, rig::cuda());
      round_to(of->stored, a.values(), of->values.data(), a.nnz());
    }
  }

  void measure(product& of) override {
    const std::optional<double> best = with_.best_cusparse(of);
    {
      const contender only[] = {
          {"rig", [&] { rig::mxm(of.c, rig::none, of.graph.weighted, of.b, sum); }}};
      row line = with_.line("types", of, 4, 4);
      line.kernel = line.chosen = rig::explain(of.graph.weighted, of.b, sum).chosen;
      add(line, of, with_.race(only)[0], best, 4);
    }
    measure_as<rig::half>(of, half_, best);
    measure_as<rig::bfloat16>(of, bfloat16_, best);
  }

  void summarise() override {
    for (const small_type* const of : {&half_, &bfloat16_}) {
      sum_up(std::string(of->name) + "_over_cusparse_float", of->over_float, 2.0, {});
      sum_up(std::string(of->name) + "_over_cusparse_" + of->name, of->over_own, 1.3, {});
    }
  }

 private:
  struct small_type {
    const char* name;
    rig::type stored;
    double rounding;  ///< per term: rounding of A's value, which cuSPARSE stores in this type too,
                      ///< and of the result
    rig::buffer values;
    std::vector<double> over_float, over_own;  ///< F ≥ 64
  };

  template <class T>
  void measure_as(product& of, small_type& as, const std::optional<double>& best) {
    const rig::matrix<float>& a = of.graph.weighted;
    auto b = rig::dense<T>::uninitialised(a.columns(), of.features, rig::cuda());
    auto c = rig::dense<T>::uninitialised(a.rows(), of.features, rig::cuda());
    round_to(as.stored, of.b.data(), b.data(), rig::int64{a.columns()} * of.features);
    std::vector<contender> field = {{"rig", [&] { rig::mxm(c, rig::none, a, b, sum); }}};
    field[0].run();
    const std::vector<float> expected = sample(c);
    rig::sparse_operand stored = csr_of(a);
    stored.values = as.values.data();
    stored.value_type = as.stored;
    stored.value_bytes = sizeof(T);
    std::vector<peer> peers = spmm_peers(std::string("cusparse_") + as.name + "_", stored, b.data(),
                                         c.data(), of.features);
    verify(peers, c, expected, of, as.rounding, with_);
    with_.enter(peers, of, field);
    const std::vector<double> ms = with_.race(field);

    row line = with_.line("types", of, 4, 2);
    line.type = as.name;
    line.kernel = line.chosen = rig::explain(a, b, sum).chosen;
    for (std::size_t i = 1; i < field.size(); ++i) line.peer_ms[field[i].name] = ms[i];
    add(line, of, ms[0], best, 2);
    if (of.features < 64) return;
    if (best) as.over_float.push_back(*best / ms[0]);
    if (field.size() > 1)
      as.over_own.push_back(*std::min_element(ms.begin() + 1, ms.end()) / ms[0]);
  }

  void add(row& line, const product& of, double ms, const std::optional<double>& best,
           double element_bytes) {
    line.ms = ms;
    line.share_of_ceiling =
        with_.out.share(line.bytes, ms, element_bytes * of.graph.weighted.columns() * of.features);
    line.best_cusparse_ms = best;
    if (best) line.ratio = *best / ms;
    with_.out.add(line);
  }

  small_type half_{"half", rig::type::half, 1e-3, {}, {}, {}};
  small_type bfloat16_{"bfloat16", rig::type::bfloat16, 8e-3, {}, {}, {}};
};

}  // namespace

std::unique_ptr<suite> make_max(setting& with) { return std::make_unique<max>(with); }
std::unique_ptr<suite> make_types(setting& with) { return std::make_unique<types>(with); }

}  // namespace bench::gpu
