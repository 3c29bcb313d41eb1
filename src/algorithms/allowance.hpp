#pragma once

// When an algorithm of many small steps leaves the rest to one thread. Not API.

#include <algorithm>

#include "algorithms/measured.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// The entries that steps may read before a plain loop does the rest, so that all of it is
/// O(nnz + n). Long paths have many steps, each of which costs much beside its entries.
class allowance {
 public:
  explicit allowance(const matrix<bool>& a)
      : per_node_(1 + a.nnz() / std::max(a.rows(), 1)),
        left_(64 * measured::arcs_per_step + 16 * (a.nnz() + a.rows())) {}
  /// Whether it covers one more step, from so many nodes.
  bool covers(int64 nodes) { return (left_ -= measured::arcs_per_step + nodes * per_node_) > 0; }

 private:
  int64 per_node_, left_;
};

}  // namespace rig
