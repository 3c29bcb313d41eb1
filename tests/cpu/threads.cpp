// The number of threads follows the work, the cores that the process may use, and their load.

#include "rig/kernels/cpu/threads.hpp"

#include <doctest/doctest.h>
#include <omp.h>
#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

#include "child.hpp"
#include "cpu/free_cores.hpp"
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

/// A thread of a process with eight cores; `pass` is a time of which it waits a share for a core.
struct busy_thread {
  static constexpr rig::int64 ms = 1'000'000;
  rig::on_cpu::free_cores cores;
  rig::on_cpu::thread_times times{};
  void pass(int milliseconds, double share_waited, int of_process = 8) {
    for (int k = 0; k < milliseconds; k += 10) {
      times.now += 10 * ms;
      times.waited += static_cast<rig::int64>(share_waited * 10 * ms);
      times.ran += static_cast<rig::int64>((1 - share_waited) * 10 * ms);
      if (cores.is_due(times.now)) cores.check(times, of_process);
    }
  }
};

TEST_CASE("a thread that waits for cores gets small teams, except for long regions") {
  busy_thread t;
  t.pass(10, 0);
  CHECK(t.cores.count(false) == 8);
  t.pass(10, 0.6);  // one slice says little
  CHECK(t.cores.count(false) == 8);
  t.pass(10, 0.6);
  CHECK(t.cores.count(false) == 4);
  t.pass(10, 0.6);
  CHECK(t.cores.count(false) == 2);
  t.pass(1000, 0.6);
  CHECK(t.cores.count(false) == 1);
  CHECK(t.cores.count(true) == 8);
  t.pass(10, 0.6, 3);
  CHECK(t.cores.count(true) == 3);
}

TEST_CASE("teams grow again when the thread waits little") {
  busy_thread t;
  t.pass(1000, 0.6);
  REQUIRE(t.cores.count(false) == 1);
  t.pass(200, 0.05);
  CHECK(t.cores.count(false) == 1);  // each halving has made it more patient
  t.pass(4000, 0.05);
  CHECK(t.cores.count(false) == 8);
}

TEST_CASE("a thread that waits a little keeps its teams") {
  busy_thread t;
  t.pass(4000, 0.2);
  CHECK(t.cores.count(false) == 8);
}

TEST_CASE("times are read again only after some time") {
  busy_thread t;
  t.pass(10, 0);
  CHECK(!t.cores.is_due(t.times.now));
  CHECK(!t.cores.is_due(t.times.now + 3 * busy_thread::ms));
  CHECK(t.cores.is_due(t.times.now + 4 * busy_thread::ms));
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

/// The threads that OpenMP starts for `work`, in a process that has one thread.
void check_threads(std::ptrdiff_t expected,
                   const std::function<void(const rig::descriptor&)>& work) {
  REQUIRE(threads_of_process() == 1);
  work({.threads = 3});
  CHECK(threads_of_process() == expected);
}
/// A row of 200000 entries, and others of 20 entries.
rig::matrix<float> with_a_long_row() {
  std::vector<int> rows, columns;
  for (int k = 0; k < 200000; ++k) rows.push_back(0), columns.push_back(k);
  for (int k = 0; k < 400000; ++k) rows.push_back(1 + k / 20), columns.push_back(k % 20);
  return rig::matrix<float>::from_positions(20001, 200000, rows, columns);
}
/// Three places of a matrix of 20001 rows, in rows after the first.
rig::matrix<float> three_places(int columns) {
  const std::vector<int> rows{5, 7, 20000}, places{0, columns - 1, 0};
  return rig::matrix<float>::from_positions(20001, columns, rows, places);
}

TEST_CASE("dense products under a mask of few entries wake no threads") {
  for (const std::string test :
       {"few places", "few places of a column", "few places and a long row", "many places",
        "few forbidden places"})
    if (result_of(start_child(test)) != 0) FAIL((test + ": another number of threads"));
}
TEST_CASE("few places" * doctest::skip()) {
  omp_set_num_threads(1);
  const auto a = with_a_long_row(), mask = three_places(2);
  const rig::dense<float> b(200000, 2, 1.0f);
  rig::dense<float> c(20001, 2, 0.0f);
  for (const char* kernel : {"row", "split", ""})
    check_threads(1, [&](rig::descriptor desc) {
      desc.kernel = kernel;
      rig::mxm(c, rig::accumulator::plus, a, b, rig::plus_times<float>{}, rig::structure(mask),
               desc);
    });
  CHECK(c(5, 0) == 60);
  CHECK(c(20000, 0) == 60);
  CHECK(c(5, 1) == 0);
}
TEST_CASE("few places of a column" * doctest::skip()) {
  omp_set_num_threads(1);
  const auto a = with_a_long_row();
  const std::vector<int> rows{5, 7, 20000};
  const auto mask = rig::vector<bool>::from_indices(20001, rows);
  const rig::dense<float> u(200000, 1, 1.0f);
  check_threads(1, [&](const rig::descriptor& desc) {
    CHECK(rig::mxv(a, u, rig::plus_times<float>{}, rig::structure(mask), desc)(7, 0) == 20);
  });
}
TEST_CASE("few places and a long row" * doctest::skip()) {
  omp_set_num_threads(1);
  const auto a = with_a_long_row();
  const std::vector<int> rows{0, 7}, columns{1, 1};
  const auto mask = rig::matrix<float>::from_positions(20001, 2, rows, columns);
  const rig::dense<float> b(200000, 2, 1.0f);
  check_threads(3, [&](const rig::descriptor& desc) {
    const auto c = rig::mxm(a, b, rig::plus_times<float>{}, rig::structure(mask), desc);
    CHECK(c(0, 1) == 200000);
    CHECK(c(0, 0) == 0);
  });
}
TEST_CASE("many places" * doctest::skip()) {
  omp_set_num_threads(1);
  const auto a = with_a_long_row();
  const rig::dense<float> b(200000, 1, 1.0f);
  const auto mask = rig::matrix<float>::from(rig::dense<float>(20001, 1, 1.0f));
  check_threads(3, [&](const rig::descriptor& desc) {
    rig::mxm(a, b, rig::plus_times<float>{}, rig::structure(mask), desc);
  });
}
TEST_CASE("few forbidden places" * doctest::skip()) {
  omp_set_num_threads(1);
  const auto a = with_a_long_row(), mask = three_places(1);
  const rig::dense<float> b(200000, 1, 1.0f);
  check_threads(3, [&](const rig::descriptor& desc) {
    rig::mxm(a, b, rig::plus_times<float>{}, rig::complement(rig::structure(mask)), desc);
  });
}

TEST_CASE("a pull under a mask of few entries wakes no threads") {
  for (const std::string test : {"pull few places", "pull all places"})
    if (result_of(start_child(test)) != 0) FAIL((test + ": another number of threads"));
}
TEST_CASE("pull few places" * doctest::skip()) {
  omp_set_num_threads(1);
  const auto a = rig::generate::uniform(20000, 20);
  const auto from = rig::extract_row(a, 7).as_row();
  const rig::vector<float> u(from);
  const auto whole = rig::vxm(u, a, rig::plus_times<float>{}, {.kernel = "push"});
  const std::vector<int> places{3, whole.indices()[0], 19999};
  const auto mask = rig::vector<bool>::from_indices(20000, places);
  check_threads(1, [&](rig::descriptor desc) {
    desc.kernel = "pull";
    const auto found = rig::vxm(u, a, rig::plus_times<float>{}, rig::structure(mask), desc);
    CHECK(found.nnz() >= 1);
  });
}
TEST_CASE("pull all places" * doctest::skip()) {
  omp_set_num_threads(1);
  const auto a = rig::generate::uniform(20000, 20);
  const auto u = rig::extract_row(a, 7);
  check_threads(3, [&](rig::descriptor desc) {
    desc.kernel = "pull";
    rig::vxm(u, a, rig::plus_times<float>{}, desc);
  });
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
