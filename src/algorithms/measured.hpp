#pragma once

// Measured numbers that decide which way an algorithm takes; none changes what it returns.
// docs/lab/analytics.md has the measurements. Not API.

#include "rig/scalar.hpp"

namespace rig::measured {

/// A graph with fewer arcs per node has many levels, as road networks have.
constexpr int64 arcs_per_node = 4;
/// The most levels of a search that reads all arcs for each.
constexpr int most_levels = 32;
/// `multi_source` reads only the frontier's arcs if so many times its sets are at most all nodes,
/// and so many times its arcs at most all arcs.
constexpr int64 nodes_per_set = 4, arcs_per_frontier_arc = 16;
/// Steps of `scc` and `kcore` cost so many arcs beside those that they read.
constexpr int64 arcs_per_step = 8192;
/// `triangles` orders nodes by degree if the greatest is so many means.
constexpr int64 skewed_means = 8;
/// `sssp`: weights in the sample, the medians above which a weight counts less, and the width of a
/// bucket in usual weights. On a device a step costs much beside its arcs.
constexpr int64 sampled_weights = 4096;
constexpr double most_medians = 16, usual_weights = 1, usual_weights_on_device = 16;

}  // namespace rig::measured
