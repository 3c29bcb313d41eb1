// The number of threads follows the work.

#include <doctest/doctest.h>
#include <omp.h>

#include <filesystem>
#include <vector>

#include "child.hpp"
#include "rig/generate.hpp"
#include "rig/rig.hpp"

namespace {

std::ptrdiff_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

TEST_CASE("a step on few entries of a large matrix wakes no threads") {
  if (result_of(start_child("few entries")) != 0) FAIL("it woke threads");
}
TEST_CASE("few entries" * doctest::skip()) {
  omp_set_num_threads(1);
  const auto a = rig::generate::uniform(20000, 20);
  const std::vector<rig::index> seventh{7};
  REQUIRE(threads_of_process() == 1);
  const rig::descriptor desc{.threads = 3};
  CHECK(rig::extract_row(a, 7, desc).nnz() > 0);
  CHECK(rig::extract(a, seventh, seventh, desc).nnz() <= 1);
  CHECK(threads_of_process() == 1);
  static_cast<void>(rig::extract(a, rig::range{0, 15000}, rig::all, desc));
  CHECK(threads_of_process() == 3);
}

}  // namespace
