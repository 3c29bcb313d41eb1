// The number of threads follows the work, the cores that the process may use, and their load.

#include "rig/kernels/cpu/threads.hpp"

#include <doctest/doctest.h>
#include <omp.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "child.hpp"
#include "cpu/quota.hpp"
#include "io/files.hpp"
#include "rig/generate.hpp"
#include "rig/rig.hpp"

namespace {

using rig::on_cpu::parallel_work;
using rig::on_cpu::threads_for;

std::ptrdiff_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// A folder with files of /proc and /sys.
struct fake_root {
  std::string path = scratch() / "root";
  fake_root() { std::filesystem::remove_all(path); }
  void file(const std::string& name, const std::string& text) const {
    const std::filesystem::path at = path + name;
    std::filesystem::create_directories(at.parent_path());
    std::ofstream(at) << text;
  }
  double cores() const { return rig::on_cpu::cores_of_quota(path.c_str()); }
};

TEST_CASE("the quota of a control group of version 2: the least of it and its parents") {
  const fake_root root;
  CHECK(root.cores() == 0);
  root.file("/proc/self/cgroup", "0::/pod/container\n");
  CHECK(root.cores() == 0);
  root.file("/sys/fs/cgroup/pod/container/cpu.max", "max 100000\n");
  CHECK(root.cores() == 0);
  root.file("/sys/fs/cgroup/pod/cpu.max", "350000 100000\n");
  CHECK(root.cores() == 3.5);
  root.file("/sys/fs/cgroup/pod/container/cpu.max", "50000 100000\n");
  CHECK(root.cores() == 0.5);
}

TEST_CASE("the quota of a control group of version 1") {
  const fake_root root;
  root.file("/proc/self/cgroup",
            "9:cpuset:/a\n4:cpu,cpuacct:/docker/0123\n1:name=systemd:/\n0::/\n");
  root.file("/sys/fs/cgroup/cpu/docker/0123/cpu.cfs_quota_us", "-1\n");
  root.file("/sys/fs/cgroup/cpu/docker/0123/cpu.cfs_period_us", "100000\n");
  CHECK(root.cores() == 0);
  // A container sees its own group as the root.
  root.file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
  root.file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  CHECK(root.cores() == 2);
  root.file("/proc/self/cgroup", "9:cpuset:/\n3:cpuacct:/\n");
  CHECK(root.cores() == 0);
}

TEST_CASE("the affinity mask and the work bound the number of threads") {
  CHECK(threads_for(parallel_work - 1) == 1);
  CHECK(threads_for(parallel_work) <= 2);
  CHECK(threads_for(1e12) <= omp_get_num_procs());
  cpu_set_t usual, one;
  REQUIRE(sched_getaffinity(0, sizeof(usual), &usual) == 0);
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &usual)) CPU_SET(cpu, &one);
  REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  const auto until_it_is_read = std::chrono::milliseconds(20);
  std::this_thread::sleep_for(until_it_is_read);
  CHECK(threads_for(1e12) == 1);
  CHECK(threads_for(1e12, 3) == 3);
  REQUIRE(sched_setaffinity(0, sizeof(usual), &usual) == 0);
  std::this_thread::sleep_for(until_it_is_read);
}

TEST_CASE("a thread that waits for cores gets small teams, except for long regions") {
  const int cores = omp_get_num_procs();
  std::vector<std::jthread> others;
  std::atomic<bool> ends = false;
  for (int k = 0; k < 2 * cores; ++k)
    others.emplace_back([&] {
      while (!ends) continue;
    });
  constexpr double work = 1e6;
  const auto start = std::chrono::steady_clock::now();
  while (threads_for(work) > 1 &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(20))
    continue;
  if (std::filesystem::exists("/proc/thread-self/schedstat")) CHECK(threads_for(work) == 1);
  CHECK(threads_for(1e12) == std::min(omp_get_max_threads(), cores));
  ends = true;
}

TEST_CASE("a step on few entries of a large matrix wakes no threads") {
  if (result_of(start_child("few entries")) != 0) FAIL("it woke threads");
}
TEST_CASE("few entries" * doctest::skip()) {
  omp_set_num_threads(1);
  const auto a = rig::generate::uniform(20000, 20);
  const rig::dense<float> b(1, 100, 1.0f);
  rig::dense<float> c(5000, 100, 2.0f);
  const std::vector<rig::index> seventh{7};
  REQUIRE(threads_of_process() == 1);
  const rig::descriptor desc{.threads = 3};
  CHECK(rig::extract_row(a, 7, desc).nnz() > 0);
  CHECK(rig::extract(a, seventh, seventh, desc).nnz() <= 1);
  rig::assign(c, rig::none, b, seventh, rig::all, desc);
  CHECK(c(6, 99) == 2);
  CHECK(c(7, 99) == 1);
  CHECK(threads_of_process() == 1);
  static_cast<void>(rig::extract(a, rig::range{0, 15000}, rig::all, desc));
  CHECK(threads_of_process() == 3);
}

TEST_CASE("an instruction set that no machine has is an error before the threads start") {
  if (result_of(start_child("no such instruction set")) != 0) FAIL("the child failed");
}
TEST_CASE("no such instruction set" * doctest::skip()) {
  setenv("RIG_ISA", "sse9", 1);
  const rig::dense<rig::half> x(300, 300, rig::half(1.0f));
  CHECK_THROWS_WITH_AS(rig::apply<float>(x, rig::unary::square), doctest::Contains("sse9"),
                       rig::error);
}

}  // namespace
