#pragma once

// Plain loops over arcs that answers on graphs are compared with, on both places.

#include <algorithm>
#include <numeric>
#include <vector>

#include "rig/dense.hpp"
#include "rig/matrix.hpp"

namespace oracle {

/// Calls work(i, j, p) for each entry p = (i, j) of a matrix on the CPU.
template <class T, class Work>
void each_arc(const rig::matrix<T>& a, Work work) {
  for (int i = 0; i < a.rows(); ++i)
    for (auto p = a.structure().offset(i); p < a.structure().offset(i + 1); ++p)
      work(i, a.structure().column_indices()[p], p);
}

/// The least node that arcs of A ∪ Aᵀ join with each node: sets of nodes, united arc by arc.
inline std::vector<int> united(const rig::matrix<bool>& a) {
  std::vector<int> above(static_cast<std::size_t>(a.rows()));
  std::iota(above.begin(), above.end(), 0);
  const auto root = [&](int i) {
    while (above[static_cast<std::size_t>(i)] != i) i = above[static_cast<std::size_t>(i)];
    return i;
  };
  each_arc(a, [&](int i, int j, auto) {
    const int x = root(i), y = root(j), least = std::min(x, y);
    above[static_cast<std::size_t>(x)] = above[static_cast<std::size_t>(y)] = least;
    above[static_cast<std::size_t>(i)] = above[static_cast<std::size_t>(j)] = least;
  });
  for (int& one : above) one = root(one);
  return above;
}

/// y = y ⊕ y·A by sweeps over all arcs until nothing changes; nodes of value `zero` have none.
template <class T, class W, class Add, class Multiply>
std::vector<T> settled(const rig::matrix<W>& a, std::vector<T> y, T zero, Add add,
                       Multiply multiply) {
  for (bool changes = true; changes;) {
    changes = false;
    each_arc(a, [&](int i, int j, auto p) {
      if (y[static_cast<std::size_t>(i)] == zero) return;
      const T now = y[static_cast<std::size_t>(j)];
      const T next = add(now, multiply(y[static_cast<std::size_t>(i)], a.value(p)));
      if (next == now) return;
      y[static_cast<std::size_t>(j)] = next;
      changes = true;
    });
  }
  return y;
}

/// The elements of a column.
template <class T>
std::vector<T> list_of(const rig::dense<T>& column) {
  const auto here = column.to(rig::cpu());
  return {here.begin(), here.end()};
}

}  // namespace oracle
