// Hooks trees of nodes along arcs and compresses them: components without a search. Source: Sutton,
// Ben-Nun & Barak, Afforest, IPDPS 2018; docs/lab/analytics.md has the measurements.

#include <algorithm>
#include <atomic>
#include <utility>

#include "rig/kernels/cpu/threads.hpp"
#include "storage/backend.hpp"

namespace rig::on_cpu {
namespace {

/// A forest: a parent is below its node, except that a root is its own. Threads only replace a
/// parent by a lower node of the same tree, so each one sees an ancestor.
struct forest {
  int32* parents;

  int32 parent(index node) const {
    return std::atomic_ref(parents[node]).load(std::memory_order_relaxed);
  }
  void set(index node, int32 to) const {
    std::atomic_ref(parents[node]).store(to, std::memory_order_relaxed);
  }
  /// The root of a node's tree; halves the path to it.
  index root(index node) const {
    index above = parent(node);
    for (index next = parent(above); next != above; next = parent(above)) {
      set(node, next);
      node = above;
      above = next;
    }
    return above;
  }
  /// The root becomes the parent. No other parent is set, because another thread may set that one.
  void compress(index node) const {
    index above = parent(node);
    for (index next = parent(above); next != above; next = parent(above)) above = next;
    set(node, above);
  }
  /// Hangs the tree of one node below the other's, whose root is less.
  void hook(index i, index j) const {
    if (parent(i) == parent(j)) return;
    index x = root(i), y = root(j);
    while (x != y) {
      if (x < y) std::swap(x, y);
      int32 seen = x;
      if (std::atomic_ref(parents[x]).compare_exchange_strong(seen, y, std::memory_order_relaxed))
        return;
      x = root(seen);
    }
  }
};

/// The arcs of each row that are hooked before the others: most nodes join one tree by them.
constexpr int64 first_arcs = 2;

}  // namespace

void join(const sparse_operand& arcs, const dense_operand& labels, bool symmetric,
          const descriptor& desc) {
  const forest all{static_cast<int32*>(labels.data)};
  const index n = arcs.rows;
  const int threads = threads_for(static_cast<double>(arcs.nnz + n), desc.threads);
  const auto compress = [&] {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (index i = 0; i < n; ++i) all.compress(i);
  };
#pragma omp parallel for num_threads(threads) schedule(static)
  for (index i = 0; i < n; ++i)
    for (int64 e = arcs.offset(i), end = std::min(e + first_arcs, arcs.offset(i + 1)); e < end; ++e)
      all.hook(i, arcs.entries[e]);
  compress();
  // An arc from the greatest tree is the reverse of one that another node has, or joins nothing.
  const int32 greatest = symmetric && arcs.nnz > 0 ? all.parent(arcs.entries[arcs.nnz / 2]) : -1;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1024)
  for (index i = 0; i < n; ++i) {
    if (all.parent(i) == greatest) continue;
    for (int64 e = arcs.offset(i) + first_arcs; e < arcs.offset(i + 1); ++e)
      all.hook(i, arcs.entries[e]);
  }
  compress();
}

}  // namespace rig::on_cpu
