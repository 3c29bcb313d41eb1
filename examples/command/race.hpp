#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rig/place.hpp"

// Times of calls that take turns, as bench and tune print them.

namespace command {

struct contender {
  std::string name;
  std::function<void()> run;
};

/// The milliseconds of one contender.
struct timing {
  std::string name;
  double mean = 0, sigma = 0, least = 0, most = 0;
  int runs = 0;
};

/// How many times as fast the first is as the second, and the standard deviation of that.
struct ratio {
  double times = 1, sigma = 0;
  ratio(const timing& fast, const timing& slow);
  /// "1.23 ± 0.02 times as fast as"
  std::string text() const;
};

struct race_options {
  double seconds = 3;        ///< of the whole race, after a run of each that does not count
  double seconds_after = 0;  ///< of the races to come, for the time that is left
  int least_runs = 5;        ///< of each, however long they take
};

/// Times the contenders, which take turns, so that a change in the machine's load meets all alike.
/// The fastest comes first.
std::vector<timing> race(const std::vector<contender>& field, rig::place where,
                         const std::string& what, const race_options& options);

/// The table of a race for people, and its JSON text.
std::string table_of(const std::vector<timing>& times);
std::string json_of(const std::vector<timing>& times);

}  // namespace command
