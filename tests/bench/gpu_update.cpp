// Suite update: a product and its dense update in one call, beside rig's product and cuBLAS in both
// orders.

#include <cublas_v2.h>

#include <algorithm>

#include "gpu_suites.hpp"
#include "rig/mxm_update.hpp"
#include "rig/semirings.hpp"

namespace bench::gpu {
namespace {

const rig::plus_times<float> sum;

/// The graph of the target, and its widths.
constexpr const char* target_graph = "arxiv-like";
constexpr int target_features = 64;

/// C = X · W by cuBLAS in fp32, in the stream of rig.
class dense_product {
 public:
  dense_product() { cublasCreate(&handle_); }
  ~dense_product() { cublasDestroy(handle_); }
  dense_product(const dense_product&) = delete;

  void operator()(rig::dense<float>& c, const rig::dense<float>& x,
                  const rig::dense<float>& w) const {
    constexpr float one = 1, zero = 0;
    cublasSetStream(handle_, stream());
    cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, c.columns(), c.rows(), x.columns(), &one,
                w.data(), w.columns(), x.data(), x.columns(), &zero, c.data(), c.columns());
  }

 private:
  cublasHandle_t handle_ = nullptr;
};

class update : public suite {
 public:
  explicit update(setting& with) : suite(with) {
    with.out.peer("cublas", with_version("cuBLAS", cublasGetProperty));
  }

  std::vector<int> features() const override {
    return with_.given.features.empty() ? std::vector{32, 64, 128} : with_.given.features;
  }
  void meet(const subject& graph) override { graph.weighted.prepare(); }

  void measure(product& of) override {
    const rig::matrix<float>& a = of.graph.weighted;
    const int f = of.features;
    const auto like = [&](rig::index rows) {
      return rig::dense<float>::uninitialised(rows, f, rig::cuda());
    };
    auto w = like(f), updated = like(of.b.rows()), by_parts = like(of.n());
    fill_random(w.data(), rig::int64{f} * f, 11);
    const auto product_first = [&] {
      rig::mxm(of.c, rig::none, a, of.b, sum);
      multiply_(by_parts, of.c, w);
    };
    product_first();
    const std::vector<float> expected = sample(by_parts);
    std::vector<peer> ours = {{"update", [&] { rig::mxm_update(by_parts, a, of.b, w, sum); }, {}}};
    verify(ours, by_parts, expected, of, float_rounding * f, with_);
    if (!ours[0].error.empty()) return;

    const std::vector<contender> field = {
        {"update", ours[0].run},
        {"product, then update", product_first},
        {"update, then product",
         [&] {
           multiply_(updated, of.b, w);
           rig::mxm(by_parts, rig::none, a, updated, sum);
         }},
        {"product", [&] { rig::mxm(of.c, rig::none, a, of.b, sum); }}};
    const std::vector<double> ms = with_.race(field);
    row line = with_.line("update", of, 4, 4);
    line.operation = "mxm_update";
    line.kernel = line.chosen = "update";
    line.ms = ms[0];
    line.peer_ms = {
        {"product_then_update", ms[1]}, {"update_then_product", ms[2]}, {"product_alone", ms[3]}};
    line.ratio = std::min(ms[1], ms[2]) / ms[0];
    with_.out.add(line);
    ratios_.push_back(*line.ratio);
    if (of.graph.name == target_graph && f == target_features) on_target_ = line.ratio;
  }

  void summarise() override {
    sum_up("update_over_separate_calls", ratios_, {}, {});
    if (on_target_)
      with_.out.summarise("update_over_separate_calls_arxiv_like_64", *on_target_, 1.05);
  }

 private:
  dense_product multiply_;
  std::vector<double> ratios_;
  std::optional<double> on_target_;
};

}  // namespace

std::unique_ptr<suite> make_update(setting& with) { return std::make_unique<update>(with); }

}  // namespace bench::gpu
