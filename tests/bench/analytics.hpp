#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench.hpp"

namespace bench {

/// The best peer's time over rig's on each graph, by product or algorithm.
using ratios_by_kind = std::map<std::string, std::vector<double>>;

/// The undirected graph without loops.
rig::matrix<float> undirected(const rig::matrix<float>& graph);
/// Weights of arcs: w(r, c) = 1 + (31·min(r, c) + 17·max(r, c)) mod 64.
rig::matrix<rig::int64> synthetic_weights(const rig::matrix<bool>& graph);
/// The node of the most arcs, which lies in a large component.
rig::index widest(const rig::pattern& graph);
/// Nodes with entries, spread over the numbering.
std::vector<rig::index> sources_of(const rig::pattern& graph, int count);

/// Races GAP's six algorithms on the undirected graph of this name, beside GraphBLAS and, if they
/// are given, GAP's programs.
void race_algorithms(const std::string& name, const options& given, record& out,
                     ratios_by_kind& over_graphblas, ratios_by_kind& over_gap);

}  // namespace bench
