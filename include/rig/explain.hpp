#pragma once

#include <string>
#include <vector>

#include "rig/place.hpp"

namespace rig {

/// Whether a kernel can serve a problem.
enum class verdict : unsigned char { can, slower, cannot };

struct answer {
  verdict says = verdict::can;
  std::string reason;  ///< why slower or cannot; filled if problem::reasons is set
  double seconds = 0;  ///< the cost model's estimate; only its order among kernels matters
  std::string plan =
      {};  ///< the launch plan, its tuning table and that row's measured time; if any
};

/// One kernel's answer to one problem.
struct explained {
  std::string name;
  place::kind where = place::kind::cpu;
  bool approximate = false;
  bool chosen = false;
  answer says;
  double bytes = 0;  ///< predicted traffic from caches or memory; 0 if the kernel cannot serve
};

/// The kernel chosen for a problem, and every kernel's answer.
struct explanation {
  std::string operation;  ///< the problem in words
  std::vector<explained> kernels;
  std::string chosen;  ///< name of the kernel that would run
  std::string reason;  ///< the reason of the choice: cheapest, named, preferred
  /// The choice with its launch plan, then a table of the kernels in the operands' place.
  std::string text() const;
  /// The same for every kernel of the list, with the plan of each.
  std::string full_text() const;
  /// Every kernel's answer as a JSON object.
  std::string json() const;
};

}  // namespace rig
