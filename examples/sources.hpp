#pragma once

#include "options.hpp"
#include "rig/elementwise.hpp"

// The nodes that an algorithm searches from, as an option.

namespace example {

/// The nodes 0 … K−1 of an option "K" or "all"; `usual` of them if it is not given.
inline std::vector<rig::index> nodes_of(const std::string& sources, rig::index nodes,
                                        rig::index usual) {
  rig::index number = sources == "all" ? nodes : std::min(usual, nodes);
  if (!sources.empty() && sources != "all") {
    const char* const end = sources.data() + sources.size();
    const auto read = std::from_chars(sources.data(), end, number);
    require(read.ec == std::errc() && read.ptr == end && number > 0 && number <= nodes,
            "--sources is 1 to " + digits(nodes) + ", or all, not '" + sources + "'");
  }
  std::vector<rig::index> all(static_cast<std::size_t>(number));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace example
