// A process that uses the second GPU alone creates no context on the first.

#include <dlfcn.h>

#include <cstring>
#include <optional>
#include <thread>

#include "gpu_cases.hpp"
#include "rig/algorithms/kcore.hpp"
#include "rig/algorithms/mis.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"

RIG_SEMIRING(
    twice_the_greatest, using left = float; using right = float; using accum = float;
    static constexpr float zero() { return -1e30f; } static constexpr float add(float x, float y) {
      return x < y ? y : x;
    } static constexpr float multiply(float, float b) { return 2 * b; });

namespace {

const rig::place second = [] {
  if (gpu.device == 0 && rig::devices().size() < 3) {
    std::puts("SKIPPED: one CUDA device here, this needs two");
    std::exit(77);
  }
  return rig::cuda(1);
}();

/// True if the device has a context. The driver's query creates none.
bool is_active(int device) {
  int (*state)(int, unsigned*, int*) = nullptr;
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  REQUIRE(library != nullptr);
  void* const found = dlsym(library, "cuDevicePrimaryCtxGetState");
  REQUIRE(found != nullptr);
  std::memcpy(&state, &found, sizeof(state));
  unsigned flags = 0;
  int active = -1;
  REQUIRE(state(device, &flags, &active) == 0);
  return active != 0;
}

TEST_CASE("the first device gets no context from work on the second") {
  REQUIRE(!is_active(0));
  const auto a = banded(2000);
  const auto b = waves(2000, 48);
  const auto want = rig::mxm(a, b, rig::max_second<float>{});
  std::optional<rig::dense<float>> made;
  {
    const auto there = a.to(second);
    const auto features = b.to(second);
    made = rig::mxm(there, features, rig::max_second<float>{});
    CHECK(distance(want, made->to(rig::cpu())) == 0);
    rig::mxm(there, features, twice_the_greatest{}, {.transpose_a = true, .transpose_b = false});
    rig::mxm(there, rig::maxk(features, 5), rig::max_second<float>{});
    there.prepare({.transpose_a = true, .kernel = "maxk_backward"});
    CHECK(rig::vector<float>::from(rig::dense<float>::view(features.data(), 2000, 1, 48, second))
              .to(rig::cpu())
              .nnz() == 2000);
    CHECK(rig::kcore(there).most == rig::kcore(a).most);
    CHECK(rig::mis(there).set.nnz() == rig::mis(a).set.nnz());
    const rig::dense<float> copied = *made;
    CHECK(distance(want, copied.to(rig::cpu())) == 0);
  }
  CHECK(!is_active(0));
  // A thread without earlier CUDA calls frees the result.
  std::thread([&] { made.reset(); }).join();
  rig::synchronise(second);
  CHECK(is_active(1));
  CHECK(!is_active(0));
}

}  // namespace
