#pragma once

#include "rig/dense.hpp"
#include "rig/matrix.hpp"
#include "rig/rearrange.hpp"

// The edges of a graph as numbers of a file.

namespace example {

/// A row per edge: its ends and its value.
inline rig::dense<double> edges_of(const rig::matrix<double>& graph) {
  const auto edges = rig::to_tuples(graph.to(rig::cpu()));
  rig::dense<double> rows(edges.rows.rows(), 3);
  for (rig::index k = 0; k < rows.rows(); ++k) {
    rows(k, 0) = edges.rows(k, 0);
    rows(k, 1) = edges.columns(k, 0);
    rows(k, 2) = edges.values(k, 0);
  }
  return rows;
}

}  // namespace example
