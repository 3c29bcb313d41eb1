// A child of fork has none of OpenMP's threads, so rig's loops must not wait for them.

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "rig/generate.hpp"
#include "rig/graph.hpp"
#include "rig/kernels/cpu/threads.hpp"
#include "rig/mxm.hpp"
#include "rig/quantized.hpp"
#include "rig/semirings.hpp"

namespace {

constexpr double much_work = 1e9;

/// The status of a child that runs `work`: 0 if it returns true, and a signal if it hangs.
int status_of_child(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(work() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

bool are_same(const rig::dense<float>& x, const rig::dense<float>& y) {
  const auto count = static_cast<std::size_t>(x.rows()) * static_cast<std::size_t>(x.columns());
  return std::memcmp(x.data(), y.data(), count * sizeof(float)) == 0;
}

TEST_CASE("a child of a process with one thread starts its own threads") {
  CHECK(status_of_child([] { return rig::on_cpu::threads_for(much_work, 3) == 3; }) == 0);
}

TEST_CASE("a child of a process with several threads works on one") {
  const rig::matrix<float> a = rig::generate::rmat(10, 16);
  const rig::dense<float> b(a.columns(), 64, 0.3f);
  const rig::descriptor desc{.threads = 3};
  const auto c = rig::mxm(a, b, rig::plus_times<float>{}, desc);
  REQUIRE(rig::on_cpu::threads_for(much_work, 3) == 3);
  CHECK(status_of_child([&] {
          return are_same(c, rig::mxm(a, b, rig::plus_times<float>{}, desc)) &&
                 rig::maxk(b, 8, desc).k() == 8 && rig::quantized::from(b).rows() == b.rows() &&
                 rig::symmetrise(rig::generate::rmat(10, 16)).rows() == a.rows();
        }) == 0);
  CHECK(status_of_child([] {  // and so does the child of a child
          return status_of_child([] { return rig::on_cpu::threads_for(much_work, 3) == 1; }) == 0;
        }) == 0);
  CHECK(rig::on_cpu::threads_for(much_work, 3) == 3);
  CHECK(are_same(c, rig::mxm(a, b, rig::plus_times<float>{}, desc)));
}

}  // namespace
