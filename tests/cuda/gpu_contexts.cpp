// Every call while a context of the caller is current, in which no memory, stream or kernel of rig
// exists: as on another device, a call that does not make its own current fails.

#include <cuda.h>
#include <dlfcn.h>

#include <cstring>

#include "gpu_cases.hpp"
#include "operation_cases.hpp"
#include "rig/algorithms/components.hpp"
#include "rig/algorithms/kcore.hpp"
#include "rig/algorithms/mis.hpp"
#include "rig/graph.hpp"
#include "rig/semirings.hpp"

namespace {

template <class Function>
Function* driver(const char* name) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  REQUIRE(library != nullptr);
  void* const found = dlsym(library, name);
  REQUIRE(found != nullptr);
  Function* out = nullptr;
  std::memcpy(&out, &found, sizeof(out));
  return out;
}

/// A context of the caller on rig's device, current while this lives.
class other_context {
 public:
  other_context() {
    REQUIRE(driver<CUresult(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2")(
                &made_, 0, gpu.device) == CUDA_SUCCESS);
  }
  other_context(const other_context&) = delete;
  ~other_context() { driver<CUresult(CUcontext)>("cuCtxDestroy_v2")(made_); }
  bool is_current() const {
    CUcontext now = nullptr;
    driver<CUresult(CUcontext*)>("cuCtxGetCurrent")(&now);
    return now == made_;
  }

 private:
  CUcontext made_ = nullptr;
};

TEST_CASE("a full vector") {
  const auto column = waves(3000, 2), there = column.to(gpu);
  const auto part = rig::dense<float>::view(there.data() + 1, 3000, 1, 2, gpu);
  const other_context current;
  const auto v = rig::vector<float>::from(part).to(rig::cpu());
  REQUIRE(v.nnz() == 3000);
  for (int i = 0; i < 3000; ++i) {
    REQUIRE(v.indices()[i] == i);
    REQUIRE(v.value(i) == column(i, 1));
  }
  CHECK(current.is_current());
}

TEST_CASE("every operation") {
  const auto here = each_operation(rig::cpu()).outcomes;
  const other_context current;
  const auto there = each_operation(gpu).outcomes;
  CHECK(current.is_current());
  REQUIRE(here.size() == there.size());
  for (std::size_t k = 0; k < here.size(); ++k) {
    CAPTURE(here[k].name);
    CHECK(here[k].entries == there[k].entries);
    CHECK(here[k].sum == doctest::Approx(there[k].sum));
  }
}

TEST_CASE("products and algorithms") {
  const auto a = hubs(2500);
  const auto graph = rig::symmetrise(a).with_value(true);
  const auto b = waves(2500, 48);
  const auto wanted = rig::mxm(a, b, rig::max_second<float>{});
  const auto turned = rig::mxm(a, b, rig::max_second<float>{}, {.transpose_a = true});
  const int cores = rig::kcore(graph).most;
  const auto alone = rig::mis(graph).set.nnz(),
             parts = rig::components(graph, {.symmetric = true}).count;
  const other_context current;
  const auto on_gpu = a.to(gpu);
  const auto graph_there = graph.to(gpu);
  const auto features = b.to(gpu);
  for (const char* kernel : {"row", "split"})
    CHECK(distance(wanted, rig::mxm(on_gpu, features, rig::max_second<float>{}, {.kernel = kernel})
                               .to(rig::cpu())) == 0);
  CHECK(distance(turned, rig::mxm(on_gpu, features, rig::max_second<float>{}, {.transpose_a = true})
                             .to(rig::cpu())) == 0);
  rig::mxm(on_gpu, rig::maxk(features, 7), rig::max_second<float>{});
  on_gpu.prepare({.kernel = "spmv_panels"});
  on_gpu.prepare({.kernel = "hybrid"});
  on_gpu.prepare({.transpose_a = true, .kernel = "maxk_backward"});
  CHECK(rig::kcore(graph_there).most == cores);
  CHECK(rig::mis(graph_there).set.nnz() == alone);
  CHECK(rig::components(graph_there, {.symmetric = true}).count == parts);
  CHECK(current.is_current());
}

}  // namespace
