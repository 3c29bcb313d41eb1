#pragma once

/// @file
/// Why a kernel is chosen: what `explain` returns.

#include <string>
#include <vector>

#include "rig/place.hpp"

namespace rig {

/// Whether a kernel can serve a problem.
enum class verdict : unsigned char {
  can,     ///< it serves
  slower,  ///< it serves, and runs only if it is named or no other kernel can
  cannot,  ///< it does not serve
};

/// A kernel's answer to a problem.
struct answer {
  verdict says = verdict::can;  ///< whether it serves
  std::string reason;           ///< why slower or cannot; filled if problem::reasons is set
  double seconds = 0;           ///< the cost model's estimate; only its order among kernels matters
  std::string plan =
      {};  ///< the launch plan, its tuning table and that row's measured time; if any
};

/// One kernel's answer to one problem.
struct explained {
  std::string name;                      ///< the kernel's name
  place::kind where = place::kind::cpu;  ///< the kind of place it runs in
  bool approximate = false;              ///< whether it runs only by name
  bool chosen = false;                   ///< whether it would run
  answer says;                           ///< its answer
  double bytes = 0;  ///< predicted traffic from caches or memory; 0 if the kernel cannot serve
};

/// The kernel chosen for a problem, and every kernel's answer.
/// @code
/// const rig::explanation why = rig::explain(A, B, rig::plus_times<float>{});
/// std::printf("%s: %s\n%s", why.chosen.c_str(), why.reason.c_str(), why.text().c_str());
/// @endcode
struct explanation {
  std::string operation;           ///< the problem in words
  std::vector<explained> kernels;  ///< the kernels for such results, of every place
  std::string chosen;              ///< name of the kernel that would run
  std::string reason;              ///< the reason of the choice: cheapest, named, preferred
  /// The choice with its launch plan, then a table of the kernels in the operands' place.
  std::string text() const;
  /// The same for every kernel of the list, with the plan of each.
  std::string full_text() const;
  /// Every kernel's answer as a JSON object.
  std::string json() const;
};

}  // namespace rig
