#pragma once

/// @file
/// A layout by METIS: `metis_layout`. It is compiled in the user's program, which links METIS;
/// librig does not.

#include <metis.h>

#include <limits>
#include <mutex>
#include <vector>

#include "rig/error.hpp"
#include "rig/graph.hpp"
#include "rig/layout.hpp"
#include "rig/operators.hpp"

namespace rig {

/// @cond internal
namespace over_metis {

/// The undirected view of a graph without self loops, in METIS's arrays. A row weighs as in
/// `layout::by_entries`: its entries, and one.
struct graph {
  std::vector<idx_t> offsets{0}, neighbours, weights;

  explicit graph(const matrix<bool>& a) {
    const matrix<bool> both = symmetrise(select(a, selection::off_diagonal, 0));
    if (both.nnz() + a.nnz() + a.rows() > std::numeric_limits<idx_t>::max())
      fail(errc::range, {"metis_layout: the graph has ", both.nnz(), " entries, too many for the ",
                         sizeof(idx_t) * 8, " bits of METIS's integers; use layout::by_entries"});
    const index* const columns = both.structure().column_indices();
    neighbours.assign(columns, columns + both.nnz());
    for (index i = 0; i < a.rows(); ++i) {
      offsets.push_back(static_cast<idx_t>(both.structure().offset(i + 1)));
      weights.push_back(
          static_cast<idx_t>(a.structure().offset(i + 1) - a.structure().offset(i) + 1));
    }
  }
};

/// METIS draws from `rand` of the C library, which the process has once.
inline std::mutex drawing;

}  // namespace over_metis
/// @endcond

/// Rows with like sums of entries and rows on each rank, so that few rows name rows of other ranks:
/// METIS's k-way partition of a graph's undirected view (Karypis and Kumar, SIAM J. Sci. Comput.
/// 1998). For products by `exchange::fetch` and `cover` of graphs that have such parts, as roads
/// and meshes do. `a` is n×n and whole, on the CPU. Not collective: the same A gives the same
/// layout on each rank. METIS seeds the process's `rand`; no other thread may draw meanwhile.
/// Throws error: shape, place, range, cannot (METIS fails), out_of_memory.
/// @code
/// const auto rows = rig::metis_layout(A, ranks.size());
/// const auto part = rig::distributed<rig::matrix<float>>::from_whole(ranks, A, rows);
/// @endcode
template <class T>
layout metis_layout(const matrix<T>& a, int ranks) {
  if (a.rows() != a.columns())
    fail(errc::shape, {"metis_layout: A is ", a.rows(), "x", a.columns(),
                       ", not square; give a graph's matrix"});
  if (a.where() != cpu())
    fail(errc::place,
         {"metis_layout: A is on ", to_string(a.where()), "; copy it with .to(rig::cpu())"});
  if (ranks < 2 || a.rows() <= ranks) return layout::by_entries(a.structure(), ranks);
  return or_out_of_memory("metis_layout", [&] {
    over_metis::graph of(a.with_value(true));
    std::vector<idx_t> part(of.weights.size());
    idx_t nodes = a.rows(), constraints = 1, parts = ranks, cut = 0, options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 0;
    const std::lock_guard lock(over_metis::drawing);
    const int code = METIS_PartGraphKway(&nodes, &constraints, of.offsets.data(),
                                         of.neighbours.data(), of.weights.data(), nullptr, nullptr,
                                         &parts, nullptr, nullptr, options, &cut, part.data());
    if (code != METIS_OK)
      fail(errc::cannot, {"metis_layout: METIS fails with code ", code, " for ", a.rows(),
                          " rows and ", ranks, " ranks; use layout::by_entries"});
    return layout::by_partition(std::vector<int>(part.begin(), part.end()), ranks);
  });
}

}  // namespace rig
