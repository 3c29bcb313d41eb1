#include "rig/algorithms/label_propagation.hpp"

#include <utility>

#include "algorithms/preparation.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"
#include "rig/user_semiring.hpp"

namespace rig {
namespace {

/// The most frequent label, or the former one of a node without neighbours.
RIG_SEMIRING(
    found_or_former, using left = int; using right = int; using accum = int;
    static constexpr int zero() { return rig::lowest<int>(); } static constexpr int add(int x,
                                                                                        int y) {
      return rig::maximum(x, y);
    } static constexpr int multiply(int found, int former) { return found < 0 ? former : found; });

int64 count_different(const dense<index>& labels, const descriptor& desc) {
  const auto once = filled<bool>(labels.rows(), 1, true, labels.where(), desc);
  return build(labels.rows(), labels, once, binary::logical_or, desc).nnz();
}

label_propagation_result propagated(const matrix<bool>& a, const label_propagation_options& given,
                                    const descriptor& desc) {
  if (given.iterations < 0)
    fail(errc::range,
         {"label_propagation: iterations is ", given.iterations, "; set a number of at least 0"});
  const index n = a.rows();
  const descriptor other = of_operations(desc), product = of_products(desc);
  descriptor both = other;
  both.transpose_b = true;
  const auto arcs = a.with_value(1);
  const auto times = ewise_add(arcs, arcs, binary::plus, both);

  label_propagation_result found{ascending(n, a.where(), other)};
  const auto starts = ascending(n + 1, a.where(), other);
  auto next = dense<index>::uninitialised(n, 1, a.where());
  indexed_dense<int32> most{dense<int32>::uninitialised(n, 1, a.where()),
                            dense<index>::uninitialised(n, 1, a.where())};
  for (int64 changed = n; found.iterations < given.iterations && changed > 0;) {
    const auto label_of = one_per_row(starts, found.labels);
    const auto frequency = mxm(times, label_of, plus_first<int32>(), product);
    reduce_rows(most, none, frequency, arg_max_second<int32>(), other);
    ewise_mult(next, none, most.indices, found.labels, found_or_former(), other);
    const auto differ = ewise_add<int64>(next, found.labels, binary::not_equal, other);
    changed = reduce(differ, binary::plus, other);
    std::swap(found.labels, next);
    ++found.iterations;
    if (given.progress) given.progress(found.iterations, changed);
  }
  found.communities = count_different(found.labels, other);
  return found;
}

}  // namespace

label_propagation_result label_propagation(const matrix<bool>& a,
                                           const label_propagation_options& given,
                                           const descriptor& desc) {
  return on_graph("label_propagation", a, desc, [&] { return propagated(a, given, desc); });
}

}  // namespace rig
