#pragma once

#include <string>
#include <vector>

#include "rig/place.hpp"

namespace rig {

/// How a kernel answers a problem.
enum class verdict : unsigned char { can, slower, cannot };

struct answer {
  verdict says = verdict::can;
  std::string reason;  ///< why slower or cannot; filled where problem::reasons asks for it
  double seconds = 0;  ///< the cost rule's estimate; only its order among kernels matters
};

/// One kernel's answer to one problem.
struct explained {
  std::string name;
  place::kind where = place::kind::cpu;
  bool approximate = false;
  bool chosen = false;
  answer says;
  double bytes = 0;  ///< predicted to move, from caches or memory; 0 where it cannot serve
};

/// Which kernel serves a problem, and why not the others.
struct explanation {
  std::string operation;  ///< the problem in words
  std::vector<explained> kernels;
  std::string chosen;  ///< name of the kernel that would run
  std::string reason;  ///< why it was chosen: cheapest, named, preferred
  std::string text() const;
  std::string json() const;
};

}  // namespace rig
