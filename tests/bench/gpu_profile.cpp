// Suite profile: nothing is timed, and the record has no rows. Each product runs once, after its
// structures and kernels are made.
// It runs in an NVTX range of its name, between start and stop of CUDA's profiler. So Nsight
// Compute measures it alone: tests/bench/profile.sh.

#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

#include "gpu_suites.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace bench::gpu {
namespace {

/// Opens a range of this name and the profiler, during its lifetime.
class marked {
 public:
  explicit marked(const std::string& name) {
    check(cudaProfilerStart(), "cudaProfilerStart");
    nvtxRangePushA(name.c_str());
  }
  ~marked() {
    nvtxRangePop();
    cudaProfilerStop();
  }
  marked(const marked&) = delete;
  marked& operator=(const marked&) = delete;
};

class profile : public suite {
 public:
  using suite::suite;

  void measure(product& of) override {
    const rig::matrix<float>& a = of.graph.weighted;
    auto with_indices = rig::indexed_dense<float>{
        rig::dense<float>::uninitialised(of.n(), of.features, rig::cuda()),
        rig::dense<rig::int32>::uninitialised(of.n(), of.features, rig::cuda())};
    const contender field[] = {
        {"plus_times", [&] { rig::mxm(of.c, rig::none, a, of.b, rig::plus_times<float>{}); }},
        {"max_second", [&] { rig::mxm(of.c, rig::none, a, of.b, rig::max_second<float>{}); }},
        {"mean_second", [&] { rig::mxm(of.c, rig::none, a, of.b, rig::mean_second<float>{}); }},
        {"arg_max_second",
         [&] { rig::mxm(with_indices, rig::none, a, of.b, rig::arg_max_second<float>{}); }},
    };
    for (const contender& one : field) {
      one.run();
      synchronise();
      const marked range(of.graph.name + ", F = " + std::to_string(of.features) + ", " + one.name);
      one.run();
      synchronise();
    }
  }
  void summarise() override {}
};

}  // namespace

std::unique_ptr<suite> make_profile(setting& with) { return std::make_unique<profile>(with); }

}  // namespace bench::gpu
