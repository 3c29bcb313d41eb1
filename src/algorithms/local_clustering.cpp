#include "rig/algorithms/local_clustering.hpp"

#include "algorithms/preparation.hpp"
#include "rig/rearrange.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"
#include "rig/user_semiring.hpp"

namespace rig {
namespace {

/// The share of ordered pairs of neighbours that are joined.
RIG_SEMIRING(
    share_of_pairs, using left = long; using right = long; using accum = double;
    static constexpr double zero() { return 0; } static constexpr double add(double x, double y) {
      return x + y;
    } static constexpr double multiply(long joined, long degree) {
      return degree < 2 ? 0.0
                        : static_cast<double>(joined) /
                              (static_cast<double>(degree) * static_cast<double>(degree - 1));
    });

dense<int64> sums_of_rows_of(const matrix<int64>& a, const descriptor& desc) {
  return mxv(a, dense<int64>::uninitialised(a.columns(), 1, a.where()), plus_first<int64>(), desc);
}

/// The number of arcs of each edge that L has.
matrix<int64> arcs_on(const matrix<bool>& l, const matrix<bool>& arcs, const descriptor& desc) {
  descriptor both = desc;
  both.transpose_b = true;
  const auto one = arcs.with_value(int64(1));
  return ewise_mult<int64>(l, ewise_add(one, one, binary::plus, both), binary::second, desc);
}

/// The arcs of the two upper edges of a triangle: of the first in the low half, of the second in
/// the high half.
RIG_SEMIRING(
    upper_edges, using left = long; using right = long; using accum = long;
    static constexpr long zero() { return 0; } static constexpr long add(long x, long y) {
      return x + y;
    } static constexpr long multiply(long first, long second) { return first + (second << 32); });
RIG_OPERATOR(
    low_half,
    static constexpr long apply(long x, rig::index, rig::index, long) { return x & 0xffffffff; });
RIG_OPERATOR(
    high_half,
    static constexpr long apply(long x, rig::index, rig::index, long) { return x >> 32; });

/// Triangles by the edges of L. A triangle has one node of each kind: the lowest, the middle and
/// the highest of L's order. Each sums the edges that lie opposite one kind: with their arcs if
/// directed, else 1 each.
struct opposite {
  matrix<int64> lowest, highest;  ///< by the edge from the lowest to the highest
  matrix<int64> middle;           ///< by the edge from the lowest to the middle

  opposite(const matrix<bool>& l, const matrix<bool>& arcs, const local_clustering_options& given,
           const descriptor& product, const descriptor& other) {
    l.prepare({.transpose_a = true});  // so that `dot` may serve
    descriptor by_columns = product;
    by_columns.transpose_b = true;
    const auto done = [&](int step, const matrix<int64>& made) {
      if (given.progress) given.progress(step, made.nnz());
    };
    if (given.directed) {
      const auto w = arcs_on(l, arcs, other);
      const auto both = mxm(w, w, upper_edges(), structure(l), product);
      done(2, both);
      lowest = apply(both, high_half(), int64(0), other);
      highest = apply(both, low_half(), int64(0), other);
      middle = mxm(w, l, plus_first<int64>(), structure(l), by_columns);
    } else {
      lowest = highest = mxm(l, l, plus_pair<int64>(), structure(l), product);
      done(2, lowest);
      middle = mxm(l, l, plus_pair<int64>(), structure(l), by_columns);
    }
    done(3, middle);
  }
};

/// The number of arcs between the neighbours of each node.
dense<int64> joined_around(const opposite& of, bool directed, const descriptor& desc) {
  auto each = vector<bool>(of.lowest.rows()).to(of.lowest.where());
  assign(each, none, true, all, desc);
  auto found = sums_of_rows_of(of.lowest, desc);
  // A push adds columns without a transpose.
  for (const matrix<int64>* by_column : {&of.highest, &of.middle})
    ewise_add(found, none, found, vxm(each, *by_column, plus_second<int64>(), desc), binary::plus,
              desc);
  if (!directed) apply(found, none, found, binary::times, int64(2), desc);
  return found;
}

dense<double> coefficients(const matrix<bool>& a, const local_clustering_options& given,
                           const descriptor& desc) {
  const descriptor other = of_operations(desc), product = of_products(desc);
  const auto arcs = without_loops(a, other);
  const auto u = undirected(arcs, other);
  if (given.progress) given.progress(1, u.nnz());
  const opposite edges(to_higher_degree(u, other), arcs, given, product, other);
  return ewise_mult(joined_around(edges, given.directed, other), degrees_of(u, other),
                    share_of_pairs(), other);
}

}  // namespace

dense<double> local_clustering(const matrix<bool>& a, const local_clustering_options& given,
                               const descriptor& desc) {
  return on_graph("local_clustering", a, desc, [&] { return coefficients(a, given, desc); });
}

}  // namespace rig
