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

/// The number of triangles through each node. A triangle has one node of each kind: the lowest,
/// the middle and the highest of L's order.
dense<int64> triangles_by_node(const matrix<bool>& u, const local_clustering_options& given,
                               const descriptor& product, const descriptor& other) {
  const auto l = to_higher_degree(u, other);
  l.prepare({.transpose_a = true});  // so that `dot` may serve
  descriptor by_columns = product;
  by_columns.transpose_b = true;
  const auto over_middle = mxm(l, l, plus_pair<int64>(), structure(l), product);
  if (given.progress) given.progress(2, over_middle.nnz());
  const auto over_highest = mxm(l, l, plus_pair<int64>(), structure(l), by_columns);
  if (given.progress) given.progress(3, over_highest.nnz());
  auto each = vector<bool>(u.rows()).to(u.where());
  assign(each, none, true, all, other);
  // A push adds columns without a transpose.
  const auto highest = vxm(each, over_middle, plus_second<int64>(), other),
             middle = vxm(each, over_highest, plus_second<int64>(), other);
  auto found = sums_of_rows_of(over_middle, other);
  ewise_add(found, none, found, highest, binary::plus, other);
  ewise_add(found, none, found, middle, binary::plus, other);
  return found;
}

}  // namespace

dense<double> local_clustering(const matrix<bool>& a, const local_clustering_options& given,
                               const descriptor& desc) {
  require_graph("local_clustering", a, desc);
  const descriptor other = of_operations(desc), product = of_products(desc);
  const auto arcs = without_loops(a.with_value(true), other);
  const auto u = undirected(arcs, other);
  if (given.progress) given.progress(1, u.nnz());
  dense<int64> joined;
  if (given.directed) {
    const auto pairs = mxm(u, arcs, plus_pair<int64>(), structure(u), product);
    if (given.progress) given.progress(2, pairs.nnz());
    joined = sums_of_rows_of(pairs, other);
  } else {
    joined = triangles_by_node(u, given, product, other);
    apply(joined, none, joined, binary::times, int64(2), other);
  }
  return ewise_mult(joined, degrees_of(u, other), share_of_pairs(), other);
}

}  // namespace rig
