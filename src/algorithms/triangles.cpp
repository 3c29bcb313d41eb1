#include "rig/algorithms/triangles.hpp"

#include "algorithms/measured.hpp"
#include "algorithms/preparation.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace rig {
namespace {

/// One arc of each edge, so that few of them leave each node.
matrix<bool> oriented_edges(const matrix<bool>& a, const descriptor& desc) {
  const int64 greatest = reduce(degrees_of(a, desc), binary::maximum, desc);
  if (greatest * a.rows() > measured::skewed_means * a.nnz()) return to_higher_degree(a, desc);
  return select(a, selection::lower, -1, desc).with_value(true);
}

int64 count(const matrix<bool>& a, const triangles_options& given, const descriptor& desc) {
  if (a.nnz() == 0) return 0;
  const descriptor other = of_operations(desc);
  const auto l = oriented_edges(given.symmetric ? a : undirected(a, other), other);
  if (given.progress) given.progress(1, l.nnz());
  // Rows by rows: `dot` needs no transpose of L.
  descriptor product = of_products(desc);
  product.transpose_b = true;
  const auto closed = mxm(l, l, plus_pair<int64>(), structure(l), product);
  if (given.progress) given.progress(2, closed.nnz());
  return reduce(closed, binary::plus, other);
}

}  // namespace

int64 triangles(const matrix<bool>& a, const triangles_options& given, const descriptor& desc) {
  return on_graph("triangles", a, desc, [&] { return count(a, given, desc); });
}

}  // namespace rig
