#pragma once

// The one rule for how many threads a parallel region starts.

namespace rig::on_cpu {

/// Below this many multiply-adds one thread is faster than waking a second.
inline constexpr double parallel_work = 65536;

/// Threads for work that takes as long as so many multiply-adds: `asked`, or where that is 0 as
/// many as OpenMP gives. OpenMP ends the process where it cannot start a thread, so a wild number
/// does not reach it: at most 256, or the machine's processors where there are more. One in the
/// child of a process that had threads when it was forked: OpenMP would wait for these.
int threads_for(double work, int asked = 0);

}  // namespace rig::on_cpu
