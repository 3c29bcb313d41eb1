#include "rig/algorithms/kcore.hpp"

#include <algorithm>

#include "algorithms/allowance.hpp"
#include "algorithms/least_degree.hpp"
#include "algorithms/preparation.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

namespace rig {
namespace {

/// Removes nodes of at most k neighbours until the others have more. `leaving` are the first ones.
/// Returns false if the allowance ends before.
bool peel(const matrix<bool>& u, int k, vector<int32> leaving, kcore_result& found,
          dense<int32>& degree, allowance& left_over, const descriptor& product,
          const descriptor& other) {
  while (leaving.nnz() > 0) {
    if (!left_over.covers(leaving.nnz())) return false;
    const vector<int32> leaving_with_k(leaving.as_row().with_value(k));
    ewise_add(found.cores, none, found.cores, leaving_with_k, binary::second, other);
    // Core 0 does not mark nodes as removed, but they have no neighbours.
    const auto lost = vxm(leaving, u, plus_pair<int32>(), complement(values(found.cores)), product);
    const auto left = ewise_mult(degree, lost, binary::minus, other);
    ewise_add(degree, none, degree, left, binary::second, other);
    leaving = select(left, selection::less_equal, k, other);
  }
  return true;
}

kcore_result peeled(const matrix<bool>& a, const kcore_options& given, const descriptor& desc) {
  const descriptor other = of_operations(desc), product = of_products(desc);
  const auto u = undirected(a, other);
  auto degree = apply<int32>(degrees_of(u, other), unary::identity, other);
  kcore_result found{filled<int32>(a.rows(), 1, 0, a.where(), other)};
  auto rest = vector<int32>::from(degree);
  for (allowance left_over(u); rest.nnz() > 0;) {
    const int k = std::max(found.most, reduce(rest, binary::minimum, other));
    found.most = k;
    if (!peel(u, k, select(rest, selection::less_equal, k, other), found, degree, left_over,
              product, other)) {
      found.cores = cores_by_least_degree(u.to(cpu()).structure()).to(a.where());
      found.most = reduce(found.cores, binary::maximum, other);
      if (given.progress) given.progress(found.most, 0);
      return found;
    }
    rest = select(ewise_mult(degree, rest, binary::first, other), selection::greater, k, other);
    if (given.progress) given.progress(k, rest.nnz());
  }
  return found;
}

}  // namespace

kcore_result kcore(const matrix<bool>& a, const kcore_options& given, const descriptor& desc) {
  return on_graph("kcore", a, desc, [&] { return peeled(a, given, desc); });
}

}  // namespace rig
