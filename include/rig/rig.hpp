#pragma once

/// @file
/// The whole API, except tests of semirings and generators of graphs. These have their own headers:
/// rig/check_semiring.hpp, rig/generate.hpp.

/// @namespace rig
/// Sparse algebra over semirings, on CPUs and GPUs.

#include "rig/algorithms/betweenness.hpp"
#include "rig/algorithms/bfs.hpp"
#include "rig/algorithms/components.hpp"
#include "rig/algorithms/jaccard.hpp"
#include "rig/algorithms/kcore.hpp"
#include "rig/algorithms/label_propagation.hpp"
#include "rig/algorithms/local_clustering.hpp"
#include "rig/algorithms/mis.hpp"
#include "rig/algorithms/msf.hpp"
#include "rig/algorithms/pagerank.hpp"
#include "rig/algorithms/scc.hpp"
#include "rig/algorithms/sssp.hpp"
#include "rig/algorithms/triangles.hpp"
#include "rig/cbsr.hpp"
#include "rig/checked_index.hpp"
#include "rig/checked_number.hpp"
#include "rig/closure.hpp"
#include "rig/conversions.hpp"
#include "rig/elementwise.hpp"
#include "rig/error.hpp"
#include "rig/graph.hpp"
#include "rig/io.hpp"
#include "rig/mxm.hpp"
#include "rig/mxm_update.hpp"
#include "rig/mxv.hpp"
#include "rig/named_semiring.hpp"
#include "rig/output_file.hpp"
#include "rig/place.hpp"
#include "rig/quantized.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/reorder.hpp"
#include "rig/sampling_report.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"
#include "rig/text.hpp"
#include "rig/trace.hpp"
#include "rig/user_semiring.hpp"
#include "rig/vector.hpp"
