#pragma once

#include <functional>

#include "rig/explain.hpp"
#include "rig/scalar.hpp"

namespace rig {

struct problem;

/// The types of values that threads exchange as a whole, and that have an order.
template <class T>
inline constexpr bool is_number = is_float<T> || is_integer<T> || is_same<T, bool>;

/// What `closure` adds to a problem, whose C holds x before and the fixed point after.
struct closing {
  void (*run_cpu)(const problem&) = nullptr;  ///< the CPU's loop over the semiring
  double width = 0;                           ///< of a bucket; 0: none
  bool is_ordered = false;                    ///< ⊕ is a minimum or a maximum of numbers
  const std::function<void(int, int64)>* progress = nullptr;
  int64 rounds = 0;       ///< made
  bool diverges = false;  ///< values still change after more rounds than nodes
};

/// Hop 1 of `closure`: checks the problem, chooses a kernel and runs it. Throws error(range) if
/// values do not settle.
void run_closing(problem& p);
/// The kernels' answers.
explanation explain_closing(problem& p);

}  // namespace rig
