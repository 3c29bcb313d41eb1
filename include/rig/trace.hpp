#pragma once

/// @file
/// A line about each call: what it ran, how long it took, and why its kernel was chosen.

#include <functional>
#include <string>

namespace rig {

/// What is traced; a set.
enum class trace : unsigned char {
  off = 0,      ///< nothing
  profile = 1,  ///< a line when a call ends, with its time; on a GPU it waits for the device
  choice = 2,   ///< a line per kernel that a product chose from, with the reason
};
/// The union of two sets.
constexpr trace operator|(trace x, trace y) {
  return static_cast<trace>(static_cast<unsigned char>(x) | static_cast<unsigned char>(y));
}

/// Passes lines to `to`, one at a time, from the thread that calls rig; null: to stderr. `to` may
/// not call rig, and what it throws is dropped. RIG_VERBOSE=profile,choice does the same for a
/// process. A call that throws has no line. The fields of a line are separated by commas:
///
///     rig,exec,cpu,mxm,row,plus_times,float,A:3x4/5,B:4x2,ms:0.0021,GB/s:1.3
///     rig,choice,cpu,mxm,split,slower,no row is longer than 65536 entries: nothing to split
///
/// These are place, operation, kernel, semiring or operator, type of the result, and operands with
/// rows, columns and entries, as the operation reads them. GB/s counts the predicted traffic, as
/// `explain` does.
/// @throws error out_of_memory
void set_trace(trace what, std::function<void(const std::string&)> to = {});

}  // namespace rig
