#include "rig/algorithms/triangles.hpp"

#include "algorithms/undirected.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace rig {

int64 triangles(const matrix<bool>& a, const descriptor& desc) {
  require_graph("triangles", a);
  const descriptor other = of_operations(desc);
  const auto l = to_higher_degree(undirected(a, other), other);
  const auto closed = mxm(l, l, plus_pair<int64>(), structure(l), of_products(desc));
  return reduce(closed, binary::plus, other);
}

}  // namespace rig
