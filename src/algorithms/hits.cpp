#include "rig/algorithms/hits.hpp"

#include <utility>

#include "algorithms/preparation.hpp"
#include "rig/kernels/cpu/slices.hpp"
#include "rig/mxv.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"

namespace rig {
namespace {

void check(const hits_options& given) {
  if (!(given.tolerance >= 0))
    fail(errc::range, {"hits: tolerance is ", given.tolerance, "; set a number of at least 0"});
  if (given.most_iterations < 1)
    fail(errc::range, {"hits: most_iterations is ", given.most_iterations, "; set at least 1"});
}

/// Divides by the sum.
void normalise(dense<double>& x, const descriptor& desc) {
  apply(x, none, x, binary::divide, reduce(x, binary::plus, desc), desc);
}

hits_result improved(const matrix<bool>& a, const hits_options& given, const descriptor& desc) {
  check(given);
  const index n = a.rows();
  const descriptor other = of_operations(desc), forwards = of_products(desc);
  hits_result found{filled<double>(n, 1, 0, a.where(), other),
                    filled<double>(n, 1, 0, a.where(), other)};
  if (a.nnz() == 0) return found;
  descriptor backwards = forwards;
  backwards.transpose_a = true;
  // A CPU reads eight rows at once; other places have no such kernel.
  const bool may_slice = desc.kernel.empty() && slices::pays(a.nnz(), n);
  for (const bool transposed : {false, true})
    a.prepare({.transpose_a = transposed, .kernel = may_slice ? "sell" : desc.kernel});

  assign(found.hubs, none, 1.0 / n, all, all, other);
  auto next = dense<double>::uninitialised(n, 1, a.where());
  do {
    mxv(found.authorities, none, a, found.hubs, plus_second<double>(), backwards);
    mxv(next, none, a, found.authorities, plus_second<double>(), forwards);
    normalise(next, other);
    ewise_add(found.hubs, none, next, found.hubs, binary::minus, other);
    apply(found.hubs, none, found.hubs, unary::absolute, other);
    found.change = reduce(found.hubs, binary::plus, other);
    std::swap(found.hubs, next);
    ++found.iterations;
    if (given.progress) given.progress(found.iterations, found.change);
  } while (found.iterations < given.most_iterations && found.change >= given.tolerance);
  normalise(found.authorities, other);
  return found;
}

}  // namespace

hits_result hits(const matrix<bool>& a, const hits_options& given, const descriptor& desc) {
  return on_graph("hits", a, desc, [&] { return improved(to_prepare(a), given, desc); });
}

}  // namespace rig
