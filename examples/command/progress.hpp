#pragma once

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace command {

/// A line on the standard error with the time that is left, if that is a terminal; it goes with the
/// object.
class progress {
 public:
  progress() : shown_(isatty(STDERR_FILENO) != 0) {}
  progress(const progress&) = delete;
  ~progress() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }
  void show(const std::string& what, double seconds_left) {
    if (!shown_) return;
    const double seconds = std::ceil(std::max(0.0, seconds_left));
    if (what == what_ && seconds == seconds_) return;
    what_ = what;
    seconds_ = seconds;
    std::fprintf(stderr, "\r\x1b[K%s, about %.0f s left", what.c_str(), seconds);
    std::fflush(stderr);
  }

 private:
  bool shown_;
  std::string what_;
  double seconds_ = -1;
};

}  // namespace command
