// The number of threads of a parallel region: by its work, by the cores that the process may use,
// and by how long the calling thread waits for one.

#include "rig/kernels/cpu/threads.hpp"

#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "cpu/free_cores.hpp"
#include "cpu/measured.hpp"
#include "cpu/quota.hpp"
#include "rig/kernels/cpu/isa.hpp"

namespace rig::on_cpu {
namespace {

/// Whether this process is a forked child whose parent had threads. The child inherits OpenMP's
/// pool without its threads, and would wait for them.
std::atomic<bool> parent_had_threads = false, lost_threads = false;

[[maybe_unused]] const int watches_forks = pthread_atfork(
    [] {
      // A folder's link count is its subfolders plus two; this folder has one subfolder per thread.
      struct stat tasks;
      parent_had_threads = stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink != 3;
    },
    nullptr, [] { lost_threads = lost_threads || parent_had_threads; });

/// The threads that OpenMP provides unless the program sets another number.
const int openmps_default = omp_get_num_procs();

int64 nanoseconds(clockid_t clock) {
  timespec now;
  return clock_gettime(clock, &now) == 0 ? int64{now.tv_sec} * 1'000'000'000 + now.tv_nsec : 0;
}

/// How long the calling thread was ready to run, and had no core.
int64 waited_for_core() {
  const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[64];
  const auto length = read(file, text, sizeof(text) - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = '\0';
  long long ran = 0, waited = 0;
  return std::sscanf(text, "%lld %lld", &ran, &waited) == 2 ? waited : 0;
}

/// The cores that the calling thread's teams can count on now.
int cores_of_teams(bool is_long) {
  static thread_local free_cores cores;
  const int64 now = nanoseconds(CLOCK_MONOTONIC);
  if (cores.is_due(now)) {
    static const double quota = cores_of_quota();
    int allowed = omp_get_num_procs();  // of the affinity mask
    if (quota > 0) allowed = static_cast<int>(std::clamp<double>(quota, 1, allowed));
    cores.check({now, nanoseconds(CLOCK_THREAD_CPUTIME_ID), waited_for_core()}, allowed);
  }
  return cores.count(is_long);
}

}  // namespace

int threads_for(double work, int asked) {
  instruction_set();  // throws here if RIG_ISA is invalid, because no thread may
  if (work < parallel_work || lost_threads) return 1;
  static const int most = std::max(256, omp_get_num_procs());
  const int given = asked > 0 ? asked : omp_get_max_threads();
  if (asked > 0 || given > openmps_default) return std::min(given, most);
  const int usual = std::min(given, cores_of_teams(work >= measured::long_work));
  return static_cast<int>(std::min<double>(std::min(usual, most), work / (parallel_work / 2)));
}

}  // namespace rig::on_cpu
