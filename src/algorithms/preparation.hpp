#pragma once

// What several algorithms make of a graph first. Not API.

#include <vector>

#include "rig/dense.hpp"
#include "rig/kernels/integers.hpp"
#include "rig/matrix.hpp"
#include "rig/rearrange.hpp"

namespace rig {

/// Whether an algorithm has a main product, which the kernel's name of a descriptor is for.
enum class main_product : bool { absent, present };

/// Throws unless the number of threads is none below 0, the fields of meaning are unset, and the
/// kernel's name, if any, is that of an exact one for the main product; `name` is the algorithm's.
void require_descriptor(const char* name, const descriptor& desc, main_product product);

/// The same, and throws unless A is square.
void require_graph(const char* name, const matrix<bool>& a, const descriptor& desc,
                   main_product product);

/// Runs an algorithm, after the checks that all share. Each one runs through this, so that only
/// errors of rig leave it, and each starts with the algorithm's name.
template <class T, class Work>
auto on_graph(const char* name, const matrix<T>& a, const descriptor& desc, Work&& work,
              main_product product = main_product::present) {
  return in_name_of(name, [&] {
    require_graph(name, a.with_value(true), desc, product);
    return work();
  });
}

/// A, whose values are not read, for an algorithm that prepares it: no choice of the caller changes
/// by that.
matrix<bool> to_prepare(const matrix<bool>& a);

/// Whether nodes have so few arcs that a search has many levels, which are hardly ever wide.
bool has_many_levels(const matrix<bool>& a);

/// The sources as indices. Throws error(range) unless each is a node.
std::vector<index> require_sources(const char* name, const integers& sources, index nodes);

/// A without its diagonal.
matrix<bool> without_loops(const matrix<bool>& a, const descriptor& desc);

/// Both directions of each arc, without self loops.
matrix<bool> undirected(const matrix<bool>& a, const descriptor& desc);

/// The number of entries of each row.
dense<int64> degrees_of(const matrix<bool>& a, const descriptor& desc);

/// One arc of each edge of an undirected graph: from the node of lower degree, or of lower index if
/// degrees tie. So few arcs leave each node.
matrix<bool> to_higher_degree(const matrix<bool>& a, const descriptor& desc);

/// The column 0, 1, …, count − 1, made where it lies.
dense<index> ascending(index count, place where, const descriptor& desc);

/// The n×n matrix with the entry (i, columns(i)) in each row i: a view, for as long as both columns
/// live unchanged. `starts` is ascending(n + 1, …).
matrix<bool> one_per_row(const dense<index>& starts, const dense<index>& columns);

/// A dense matrix of one value, filled where it lies.
template <class T>
dense<T> filled(index rows, index columns, T value, place where, const descriptor& desc) {
  if (where == cpu()) return dense<T>(rows, columns, value);
  auto out = dense<T>::uninitialised(rows, columns, where);
  assign(out, none, value, all, all, desc);
  return out;
}

/// What operations take of a descriptor beside products: threads and stream.
descriptor of_operations(const descriptor& desc);

/// What products take of a descriptor: its kernel too.
descriptor of_products(const descriptor& desc);

}  // namespace rig
