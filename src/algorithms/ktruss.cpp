#include "rig/algorithms/ktruss.hpp"

#include "algorithms/preparation.hpp"
#include "rig/rearrange.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace rig {
namespace {

ktruss_result thinned(const matrix<bool>& a, int64 k, const ktruss_options& given,
                      const descriptor& desc) {
  if (k < 3)
    fail(errc::range,
         {"ktruss: k is ", k, "; give at least 3, because every edge is in the 2-truss"});
  const descriptor other = of_operations(desc);
  descriptor product = of_products(desc);
  product.transpose_b = true;  // U is symmetric, and rows of it lie ready
  auto u = given.symmetric ? without_loops(a, other) : undirected(a, other);
  for (ktruss_result found;;) {
    const auto triangles = mxm(u, u, plus_pair<int64>(), structure(u), product);
    found.truss = select(triangles, selection::greater_equal, k - 2, other);
    ++found.rounds;
    if (given.progress) given.progress(found.rounds, found.truss.nnz() / 2);
    if (found.truss.nnz() == u.nnz()) return found;
    u = found.truss.with_value(true);
  }
}

}  // namespace

ktruss_result ktruss(const matrix<bool>& a, int64 k, const ktruss_options& given,
                     const descriptor& desc) {
  return on_graph("ktruss", a, desc, [&] { return thinned(a, k, given, desc); });
}

}  // namespace rig
