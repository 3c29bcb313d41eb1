// Calls borrow handles of cuSPARSE from the process, so threads that end leave none behind.

#include <dlfcn.h>

#include <atomic>
#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

#include "gpu_cases.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace {

using create_function = int (*)(void**);
create_function create = nullptr;
std::atomic<int> created = 0;

int count_and_create(void** handle) {
  ++created;
  return create(handle);
}

}  // namespace

/// The library finds cusparseCreate by this function, because a program's own come first.
extern "C" void* dlsym(void* library, const char* name) noexcept {
  using find_function = void* (*)(void*, const char*);
  static const auto find = [] {
    void* found_in_libc = nullptr;
    for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"})
      if (found_in_libc == nullptr) found_in_libc = dlvsym(RTLD_NEXT, "dlsym", version);
    return reinterpret_cast<find_function>(found_in_libc);
  }();
  void* const found = find(library, name);
  if (found == nullptr || std::strcmp(name, "cusparseCreate") != 0) return found;
  create = reinterpret_cast<create_function>(found);
  return reinterpret_cast<void*>(&count_and_create);
}

namespace {

void multiply(const rig::matrix<float>& a, const rig::dense<float>& b) {
  rig::mxm(a, b, rig::plus_times<float>{}, {.kernel = "vendor", .reproducible = false});
}

TEST_CASE("threads that follow each other use one handle, four at once use four") {
  const rig::matrix<float> a = hubs(500).to(gpu);
  const rig::dense<float> b = waves(500, 32).to(gpu);
  for (int i = 0; i < 100; ++i) std::thread([&] { multiply(a, b); }).join();
  CHECK(created == 1);
  constexpr int at_once = 4;
  for (int round = 0; round < 25; ++round) {
    std::barrier together(at_once);
    std::vector<std::jthread> threads;
    for (int i = 0; i < at_once; ++i)
      threads.emplace_back([&] {
        together.arrive_and_wait();
        multiply(a, b);
      });
  }
  CHECK(created <= at_once);
}

}  // namespace
