// A debug build without OpenMP: products over builtin semirings run the library's code.

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "rig/generate.hpp"
#include "rig/rig.hpp"

#if defined(__OPTIMIZE__) || defined(_OPENMP)
#error "this file is to be compiled without optimisation and without OpenMP"
#endif

namespace {

/// Whether a function lies in the library, not in this program.
template <class Result, class... Arguments>
bool is_in_library(Result (*function)(Arguments...)) {
  Dl_info info;
  return dladdr(reinterpret_cast<void*>(function), &info) != 0 &&
         std::filesystem::path(info.dli_fname).filename().string().starts_with("librig");
}

template <class S>
void check_in_library() {
  CAPTURE(S::name);
  CHECK(is_in_library(&rig::on_cpu::run<S>));
  CHECK(is_in_library(rig::product_of<S>.multiply_cpu));
  CHECK(is_in_library(rig::column_product_of<S>.multiply_cpu));
}

TEST_CASE("kernels of builtin semirings are the library's") {
#define RIG_BUILTIN(semiring, type) check_in_library<rig::semiring<type>>();
#include "rig/builtin.def"
#undef RIG_BUILTIN
}

std::ptrdiff_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

TEST_CASE("a builtin product with a sparse result works on several threads") {
  const auto a = rig::generate::cliques(1200, 100);
  const auto threads = threads_of_process() + 2;  // more than the generator left
  const auto c = rig::mxm(a, a, rig::plus_times<float>{}, {.threads = threads});
  CHECK(threads_of_process() == threads);
  for (rig::index j = 0; j < 100; ++j) CHECK(rig::at(c, 1, j) == (j == 1 ? 99 : 98));
}

}  // namespace
