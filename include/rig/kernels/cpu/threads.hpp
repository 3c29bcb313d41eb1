#pragma once

// The only rule for the number of threads of a parallel region.

namespace rig::on_cpu {

/// Below this many multiply-adds, one thread is faster than waking a second.
inline constexpr double parallel_work = 65536;

/// The number of threads for work of `work` multiply-adds: `asked`, or as many as OpenMP is told to
/// provide if that is more than its default, or else as many as OpenMP, the affinity mask and the
/// quota of the control group allow, the work pays for, and a busy machine has cores for. So two
/// calls may differ. At most 256, or the machine's processors if there are more, because OpenMP
/// ends the process if it cannot start a thread. One in a forked child whose parent had threads,
/// because OpenMP would wait for them. Throws error: range (RIG_ISA).
int threads_for(double work, int asked = 0);

/// Refuses to compile the loops over S without OpenMP, where they would work on one thread.
template <class S>
constexpr void require_openmp() {
#ifndef _OPENMP
  static_assert(
      sizeof(S) == 0,
      "loops over a semiring that is not compiled ahead run on OpenMP's threads: compile with "
      "-fopenmp");
#endif
}

}  // namespace rig::on_cpu
