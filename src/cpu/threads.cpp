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

#include "cpu/quota.hpp"
#include "rig/kernels/cpu/isa.hpp"
#include "rig/scalar.hpp"

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

/// The threads that OpenMP provides unless it is told another number.
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

/// The cores that the calling thread's teams can count on. On a busy machine a team waits at each
/// barrier for the thread that has no core, a slice of the scheduler long. So a thread that waits
/// for cores itself halves its teams, and doubles them when it has waited little for some time.
class free_cores {
 public:
  /// `is_long`: the region takes more than a slice, so that a wait at its end costs little.
  int count(bool is_long) {
    const int64 now = nanoseconds(CLOCK_MONOTONIC);
    if (now - checked_ >= interval) check(now);
    return std::max(1, is_long ? cores_ : cores_ >> halvings_);
  }

 private:
  static constexpr int64 ms = 1'000'000, interval = 4 * ms, judged = 8 * ms,
                         least_patience = 50 * ms, most_patience = 1600 * ms;
  static constexpr double memory = 32 * ms, crowded = 0.25, calm = 0.125;  // docs/lab/cpu.md

  void check(int64 now) {
    static const double quota = cores_of_quota();
    checked_ = now;
    cores_ = omp_get_num_procs();  // of the affinity mask
    if (quota > 0) cores_ = static_cast<int>(std::clamp<double>(quota, 1, cores_));
    const int64 ran = nanoseconds(CLOCK_THREAD_CPUTIME_ID), waited = waited_for_core();
    const int64 ready = ran - ran_ + waited - waited_;
    if (ready < judged) return;
    const double share = static_cast<double>(waited - waited_) / static_cast<double>(ready);
    share_ += (share - share_) * std::min(1.0, static_cast<double>(ready) / memory);
    ran_ = ran;
    waited_ = waited;
    judge(ready);
  }
  void judge(int64 ready) {
    calm_for_ = share_ < calm ? calm_for_ + ready : 0;
    if (share_ > crowded && cores_ >> halvings_ > 1) {
      ++halvings_;
      share_ = calm;  // so that the next step needs its own evidence
      patience_ = std::min(2 * patience_, most_patience);
    } else if (calm_for_ >= patience_) {
      if (halvings_ == 0)
        patience_ = least_patience;
      else
        --halvings_;
      calm_for_ = 0;
    }
  }

  int cores_ = 1, halvings_ = 0;
  int64 checked_ = 0, ran_ = 0, waited_ = 0;
  int64 calm_for_ = 0, patience_ = least_patience;
  double share_ = 0;  ///< of the time in which the thread could run, that it waited
};

}  // namespace

int threads_for(double work, int asked) {
  instruction_set();  // throws here if RIG_ISA is invalid, because no thread may
  if (work < parallel_work || lost_threads) return 1;
  static const int most = std::max(256, omp_get_num_procs());
  const int given = asked > 0 ? asked : omp_get_max_threads();
  if (asked > 0 || given > openmps_default) return std::min(given, most);
  // A region of so many multiply-adds takes several slices of a scheduler (docs/lab/cpu.md).
  constexpr double long_work = 1 << 25;
  static thread_local free_cores cores;
  const int usual = std::min(given, cores.count(work >= long_work));
  return static_cast<int>(std::min<double>(std::min(usual, most), work / (parallel_work / 2)));
}

}  // namespace rig::on_cpu
