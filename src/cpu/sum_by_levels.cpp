// Sums along the arcs between neighbouring levels of a search.

#include <algorithm>

#include "rig/kernels/cpu/threads.hpp"
#include "storage/backend.hpp"

namespace rig::on_cpu {

void sum_by_levels(const sparse_operand& arcs, const sparse_operand& nodes, index depth,
                   bool backwards, const dense_operand& levels, const dense_operand& sums,
                   const descriptor& desc) {
  const auto* const level_of = static_cast<const int32*>(levels.data);
  auto* const sum_of = static_cast<double*>(sums.data);
  const double arcs_per_node = static_cast<double>(arcs.nnz) / std::max(arcs.rows, 1) + 1;
  for (index k = 0; k < depth; ++k) {
    const index level = backwards ? depth - 1 - k : k;
    const int32 from = backwards ? level + 1 : level - 1;
    const int64 first = nodes.offset(level), end = nodes.offset(level + 1);
    const int threads = threads_for(arcs_per_node * static_cast<double>(end - first), desc.threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 256) if (threads > 1)
    for (int64 at = first; at < end; ++at) {
      const index i = nodes.entries[at];
      double sum = sum_of[i];
      for (int64 e = arcs.offset(i); e < arcs.offset(i + 1); ++e)
        if (const index j = arcs.entries[e]; level_of[j] == from) sum += sum_of[j];
      sum_of[i] = sum;
    }
  }
}

}  // namespace rig::on_cpu
