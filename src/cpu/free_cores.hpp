#pragma once

// How many cores a thread's teams can count on, from the times of the thread. Not API.

#include <algorithm>

#include "cpu/measured.hpp"
#include "rig/scalar.hpp"

namespace rig::on_cpu {

/// What the system says of a thread, in nanoseconds.
struct thread_times {
  int64 now;     ///< of a clock that never goes back
  int64 ran;     ///< how long the thread had a core
  int64 waited;  ///< how long it was ready to run, and had none
};

/// The cores that a thread's teams can count on. On a busy machine a team waits at each barrier for
/// the thread that has no core, a slice of the scheduler long. So a thread that waits for cores
/// itself halves its teams, and doubles them when it has waited little for some time.
class free_cores {
 public:
  /// Whether the last check is some time ago.
  bool is_due(int64 now) const { return now - checked_ >= measured::check_interval; }
  /// Takes new times of the thread, and the number of cores that the process may use.
  void check(const thread_times& of, int cores) {
    checked_ = of.now;
    cores_ = cores;
    const int64 ready = of.ran - ran_ + of.waited - waited_;
    if (ready < measured::judged_time) return;
    const double share = static_cast<double>(of.waited - waited_) / static_cast<double>(ready);
    share_ +=
        (share - share_) * std::min(1.0, static_cast<double>(ready) / measured::waiting_memory);
    ran_ = of.ran;
    waited_ = of.waited;
    judge(ready);
  }
  /// `is_long`: the region takes more than a slice, so that a wait at its end costs little.
  int count(bool is_long) const { return std::max(1, is_long ? cores_ : cores_ >> halvings_); }

 private:
  void judge(int64 ready) {
    using namespace measured;
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
  int64 calm_for_ = 0, patience_ = measured::least_patience;
  double share_ = 0;  ///< of the time in which the thread could run, that it waited
};

}  // namespace rig::on_cpu
