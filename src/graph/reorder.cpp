#include "rig/reorder.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>

#include "graph/windows.hpp"
#include "rig/graph.hpp"
#include "rig/kernels/cpu/threads.hpp"
#include "storage/integers.hpp"

namespace rig {
namespace {

void require_host(const char* operation, place where) {
  if (where != cpu())
    fail(errc::place, {operation, ": A is on ", to_string(where),
                       ", but this is computed on the CPU; copy it with .to(rig::cpu())"});
}

index length(const pattern& a, index row) {
  return static_cast<index>(a.offset(row + 1) - a.offset(row));
}

index longest_row(const pattern& a) {
  index longest = 0;
  for (index i = 0; i < a.rows(); ++i) longest = std::max(longest, length(a, i));
  return longest;
}

std::vector<index> degree_order(const matrix<bool>& a) {
  const pattern& rows = a.structure();
  const index longest = longest_row(rows);
  return sorted_by(a.rows(), longest, [&](index i) { return longest - length(rows, i); });
}

/// The inverse of a permutation.
template <class List>
void invert(std::span<const index> order, List& positions) {
  for (std::size_t k = 0; k < order.size(); ++k)
    positions[static_cast<std::size_t>(order[k])] = static_cast<index>(k);
}

/// Breadth-first walks through an undirected graph, component by component, into one list.
class walks {
 public:
  explicit walks(const pattern& graph)
      : graph_(graph),
        seen_(static_cast<std::size_t>(graph.rows()), 0),
        order_(static_cast<std::size_t>(graph.rows())) {}

  /// All nodes, each component from a node far from others. Nodes ascend by degree.
  std::vector<index> all_components() {
    for (index node = 0; node < graph_.rows(); ++node) {
      if (seen_[static_cast<std::size_t>(node)] != 0) continue;
      // A walk from the least node of the last level is as deep or deeper (George & Liu).
      for (index depth = -1, root = node;;) {
        const level last = walk(root);
        if (last.depth <= depth) break;
        depth = last.depth;
        root = *std::min_element(order_.begin() + last.begin, order_.begin() + end_);
        if (last.depth == 0) break;
        forget();
      }
      begin_ = end_;
    }
    return std::move(order_);
  }

 private:
  struct level {
    index depth, begin;
  };

  /// Lists the component of `root` and returns its last level.
  level walk(index root) {
    end_ = begin_;
    visit(root);
    level last{0, begin_};
    for (index from = begin_;; ++last.depth) {
      const index level_end = end_;
      for (; from < level_end; ++from) {
        const index node = order_[static_cast<std::size_t>(from)];
        for (int64 p = graph_.offset(node); p < graph_.offset(node + 1); ++p)
          visit(graph_.column_indices()[p]);
      }
      if (end_ == level_end) return last;
      last.begin = level_end;
    }
  }
  void visit(index node) {
    char& seen = seen_[static_cast<std::size_t>(node)];
    if (seen != 0) return;
    seen = 1;
    order_[static_cast<std::size_t>(end_++)] = node;
  }
  void forget() {
    for (index k = begin_; k < end_; ++k)
      seen_[static_cast<std::size_t>(order_[static_cast<std::size_t>(k)])] = 0;
  }

  const pattern& graph_;
  std::vector<char> seen_;
  std::vector<index> order_;
  index begin_ = 0, end_ = 0;  // the component that is walked
};

std::vector<index> rcm_order(const matrix<bool>& a) {
  const matrix<bool> both = symmetrise(a);
  const pattern& rows = both.structure();
  // In a graph whose nodes ascend by degree, the neighbours of a node do so too.
  const std::vector<index> by_degree =
      sorted_by(a.rows(), longest_row(rows), [&](index i) { return length(rows, i); });
  const matrix<bool> sorted = extract(both, by_degree, by_degree);
  std::vector<index> order = walks(sorted.structure()).all_components();
  std::reverse(order.begin(), order.end());
  for (index& node : order) node = by_degree[static_cast<std::size_t>(node)];
  return order;
}

/// By `ordering`.
constexpr std::vector<index> (*orders[])(const matrix<bool>&) = {loa_order, degree_order,
                                                                 rcm_order};

}  // namespace

dense<index> reorder_nodes(const matrix<bool>& a, ordering by) {
  check_enum("reorder", "ordering", by, ordering::rcm);
  if (a.rows() != a.columns())
    fail(errc::shape, {"reorder: A is ", a.rows(), "x", a.columns(), ", not square"});
  require_host("reorder", a.where());
  return or_out_of_memory("reorder", [&] {
    const std::vector<index> order = orders[static_cast<std::size_t>(by)](a);
    auto positions = dense<index>::uninitialised(a.rows(), 1);
    auto all_positions = positions.span();
    invert(order, all_positions);
    return positions;
  });
}

std::vector<index> order_of_positions(const integers& positions, index n) {
  if (positions.size() != size(n))
    fail(errc::shape, {"permute: there are ", n, " rows but ", positions.size(),
                       " positions; give one per row"});
  std::vector<index> order(positions.size(), -1);
  with_type(positions, [&](const auto& all) {
    for (index i = 0; i < n; ++i) {
      const auto to = all[size(i)];
      if (!std::in_range<index>(to) || to < 0 || static_cast<index>(to) >= n)
        fail(errc::range, {"permute: position ", to, " of row ", i, " is not in 0 … ", n - 1});
      index& row = order[static_cast<std::size_t>(to)];
      if (row >= 0)
        fail(errc::duplicate, {"permute: rows ", row, " and ", i, " both have position ", to});
      row = i;
    }
  });
  return order;
}

std::span<const index> column_of_positions(const dense<index>& positions) {
  if (positions.columns() != 1)
    fail(errc::shape, {"permute: the positions are ", positions.rows(), "x", positions.columns(),
                       "; give one column"});
  require_host("permute", positions.where());
  return positions.span();
}

double entries_per_tile(const pattern& structure) {
  require_host("entries_per_tile", structure.where());
  return or_out_of_memory("entries_per_tile", [&] {
    const index windows = structure.rows() / window_rows + (structure.rows() % window_rows != 0);
    constexpr double multiply_adds = 4;  // one entry takes about this many multiply-adds
    const int threads = on_cpu::threads_for(multiply_adds * static_cast<double>(structure.nnz()));
    std::vector<column_set> sets(static_cast<std::size_t>(threads),
                                 column_set(structure.columns()));
    int64 tiles = 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : tiles) num_threads(threads)
    for (index w = 0; w < windows; ++w) {
      column_set& columns = sets[static_cast<std::size_t>(omp_get_thread_num())];
      const index first = w * window_rows;
      const index last = first + std::min(window_rows, structure.rows() - first);
      int64 distinct = 0;
      for (int64 p = structure.offset(first); p < structure.offset(last); ++p)
        distinct += columns.insert(structure.column_indices()[p]) ? 1 : 0;
      for (index row = first; row < last; ++row) columns.clear_row(structure, row);
      tiles += (distinct + tile_columns - 1) / tile_columns;
    }
    return tiles == 0 ? 0 : static_cast<double>(structure.nnz()) / static_cast<double>(tiles);
  });
}

double elapsed_ms(place where, const std::function<void()>& work) {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  work();
  synchronise(where);
  return std::chrono::duration<double, std::milli>(clock::now() - start).count();
}

double product_ms(place where, const std::function<void()>& product) {
  constexpr int calls = 7;
  double ms[calls + 1];
  for (double& of_call : ms) of_call = elapsed_ms(where, product);
  // The first call may compile, build and allocate.
  std::sort(ms + 1, ms + calls + 1);
  return ms[1 + calls / 2];
}

double order_explanation::products_to_pay() const {
  constexpr double least_gain = 0.05;
  const double gained = product_ms_before - product_ms_after;
  return gained > least_gain * product_ms_before ? std::ceil(order_ms / gained)
                                                 : std::numeric_limits<double>::infinity();
}

std::string order_explanation::text() const {
  return or_out_of_memory("explain", [&] {
    char lines[512];
    std::snprintf(lines, sizeof(lines),
                  "entries per tile: %.3g, after the order %.3g\n"
                  "a product: %.4g ms by %s, after the order %.4g ms by %s\n",
                  entries_per_tile_before, entries_per_tile_after, product_ms_before,
                  kernel_before.c_str(), product_ms_after, kernel_after.c_str());
    std::string out = lines;
    if (std::isfinite(products_to_pay()))
      std::snprintf(lines, sizeof(lines), "the order took %.4g ms, and pays after %.0f products\n",
                    order_ms, products_to_pay());
    else
      std::snprintf(lines, sizeof(lines), "the order took %.4g ms, and does not pay\n", order_ms);
    return out + lines;
  });
}

}  // namespace rig
