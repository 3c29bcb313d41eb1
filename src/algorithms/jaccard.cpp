#include "rig/algorithms/jaccard.hpp"

#include "algorithms/preparation.hpp"
#include "rig/rearrange.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace rig {
namespace {

void require_node(int64 node, index nodes) {
  if (node < 0 || node >= nodes)
    fail(errc::range,
         {"jaccard: node is ", node, ", but A has ", nodes, " nodes, which are counted from 0"});
}

vector<double> of_node(const matrix<bool>& a, int64 node, const jaccard_options& given,
                       const descriptor& desc) {
  require_node(node, a.rows());
  const descriptor other = of_operations(desc);
  const auto u = undirected(a, other);
  if (given.progress) given.progress(1, u.nnz());
  const auto degrees = degrees_of(u, other);
  const auto neighbours = extract_row(u, static_cast<index>(node), other);
  const auto with_itself = vxm(neighbours, u, plus_pair<int64>(), of_products(desc));
  if (given.progress) given.progress(2, with_itself.nnz());
  const auto common = select(with_itself, selection::off_diagonal, node, other);
  // |X ∪ Y| = |X| + |Y| − |X ∩ Y|
  const auto more = ewise_mult(degrees, common, binary::minus, other);
  const auto united = apply(more, binary::plus, neighbours.nnz(), other);
  return ewise_mult(apply<double>(common, unary::identity, other), united, binary::divide, other);
}

matrix<double> of_edges(const matrix<bool>& a, const jaccard_options& given,
                        const descriptor& desc) {
  const descriptor other = of_operations(desc);
  descriptor product = of_products(desc);
  product.transpose_b = true;  // U is symmetric, and rows of it lie ready
  const auto u = undirected(a, other);
  if (given.progress) given.progress(1, u.nnz());
  const auto degrees = degrees_of(u, other);
  const auto joined = mxm(u, u, plus_pair<int64>(), structure(u), product);
  if (given.progress) given.progress(2, joined.nnz());
  const auto common = ewise_add(joined, u.with_value(int64(0)), binary::plus, other);
  const auto negated = apply(common, unary::negate, other);
  const auto by_row =
      join_by<int64>("apply", negated, binary::plus, degrees, broadcast::rows, other);
  const auto united =
      join_by<int64>("apply", by_row, binary::plus, degrees, broadcast::columns, other);
  return ewise_mult(apply<double>(common, unary::identity, other), united, binary::divide, other);
}

}  // namespace

vector<double> jaccard(const matrix<bool>& a, int64 node, const jaccard_options& given,
                       const descriptor& desc) {
  return on_graph("jaccard", a, desc, [&] { return of_node(a, node, given, desc); });
}

matrix<double> jaccard_of_edges(const matrix<bool>& a, const jaccard_options& given,
                                const descriptor& desc) {
  return on_graph("jaccard_of_edges", a, desc, [&] { return of_edges(a, given, desc); });
}

}  // namespace rig
