#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench.hpp"

namespace bench {

/// The best peer's time over rig's on each graph, by product or algorithm.
using ratios_by_kind = std::map<std::string, std::vector<double>>;

/// Races GAP's six algorithms on the undirected graph of this name.
void race_algorithms(const std::string& name, const options& given, record& out,
                     ratios_by_kind& ratios);

}  // namespace bench
