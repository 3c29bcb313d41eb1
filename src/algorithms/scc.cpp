#include "rig/algorithms/scc.hpp"

#include <utility>

#include "algorithms/undirected.hpp"
#include "rig/algorithms/bfs.hpp"
#include "rig/mxv.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"
#include "rig/user_semiring.hpp"

namespace rig {
namespace {

RIG_OPERATOR(
    own_row, static constexpr rig::int32 apply(rig::int32, rig::index i, rig::index, rig::int32) {
      return i;
    });

/// Two labels as one number; −1 if they are equal.
RIG_SEMIRING(
    pair_of, using left = rig::int32; using right = rig::int32; using accum = rig::int64;
    static constexpr rig::int64 zero() { return 0; } static constexpr rig::int64 add(rig::int64 x,
                                                                                     rig::int64 y) {
      return x + y;
    } static constexpr rig::int64 multiply(rig::int32 a, rig::int32 b) {
      return a == b ? rig::int64(-1) : rig::int64(a) * 2147483648 + b;
    });

/// Whether both ends of an arc have one pair.
RIG_SEMIRING(
    within, using left = rig::int64; using right = rig::int64; using accum = bool;
    static constexpr bool zero() { return false; } static constexpr bool add(bool x, bool y) {
      return x || y;
    } static constexpr bool multiply(rig::int64 a, rig::int64 b) { return a == b && a >= 0; });

dense<int32> nodes_of(const matrix<bool>& a, const descriptor& desc) {
  auto out = dense<int32>::uninitialised(a.rows(), 1, a.where());
  apply(out, none, out, own_row(), int32(0), desc);
  return out;
}

/// The arcs within classes of nodes that have one pair of different labels.
matrix<bool> arcs_within(const matrix<bool>& a, const dense<int32>& forwards,
                         const dense<int32>& backwards, const descriptor& desc) {
  const auto pairs = ewise_mult(forwards, backwards, pair_of(), desc);
  descriptor product = desc;
  product.transpose_b = true;
  const auto holds = mxm(pairs, pairs, within(), structure(a), product);
  return select(holds, selection::not_equal, false, desc).with_value(true);
}

/// A node that begins and ends many arcs; −1 if no node does both.
index pivot_of(const matrix<bool>& a, const descriptor& desc) {
  const auto ones = a.with_value(1.0f);
  const auto arcs = ewise_mult(reduce_rows(ones, binary::plus, desc),
                               reduce_columns(ones, binary::plus, desc), binary::times, desc);
  return reduce_rows(arcs.as_row(), arg_max_second<float>(), desc).indices.to(cpu())(0, 0);
}

/// Labels the component of a node of many arcs, and drops the arcs that cross what it reaches and
/// what reaches it.
matrix<bool> without_pivot(const matrix<bool>& a, dense<int32>& labels, const descriptor& desc) {
  const index pivot = pivot_of(a, desc);
  if (pivot < 0) return a;
  const auto reached = [&](const matrix<bool>& along) {
    const auto found = bfs(along, pivot, {.both_directions = false}, desc);
    return apply(found.levels, binary::greater_equal, int32(0), desc);
  };
  const auto before = reached(transpose(a, desc));
  auto after = reached(a);
  const auto both = ewise_mult(after, before, binary::times, desc);
  auto least = dense<int32>(a.rows(), 1, a.rows()).to(a.where());
  apply(least, none, labels, unary::identity, values(both), desc);
  apply(labels, none, labels, binary::second, reduce(least, binary::minimum, desc), values(both),
        desc);
  // Nodes that neither reaches are a class too, and their pair differs: 2 and 0.
  const auto either = ewise_add(after, before, binary::maximum, desc);
  apply(after, none, after, binary::second, int32(2), complement(values(either)), desc);
  return arcs_within(a, after, before, desc);
}

/// The least label of the nodes with a path to each node; with transpose_b from each node.
dense<int32> least_labels(const dense<int32>& nodes, const matrix<bool>& a,
                          const descriptor& desc) {
  const descriptor other = of_operations(desc);
  auto labels = nodes;
  auto changed = vector<int32>::from(nodes);
  while (changed.nnz() > 0) {
    const auto offered = vxm(changed, a, min_first<int32>(), desc);
    const auto is_less = ewise_mult<bool>(offered, labels, binary::less, other);
    changed = apply(offered, unary::identity, values(is_less), other);
    ewise_add(labels, none, labels, changed, binary::second, other);
  }
  return labels;
}

}  // namespace

scc_result scc(const matrix<bool>& a, const scc_options& given, const descriptor& desc) {
  require_graph("scc", a);
  const descriptor other = of_operations(desc);
  descriptor transposed = other;
  transposed.transpose_b = true;

  scc_result found;
  const auto nodes = nodes_of(a, other);
  found.labels = nodes;
  matrix<bool> rest = a;
  while (rest.nnz() > 0) {
    if (found.rounds == 0) {
      rest = without_pivot(rest, found.labels, other);
    } else {
      const auto forwards = least_labels(nodes, rest, other),
                 backwards = least_labels(nodes, rest, transposed);
      // Settled before are those without arcs, whose labels here are not less than those found.
      const auto settled = ewise_add<bool>(forwards, backwards, binary::equal, other);
      ewise_add(found.labels, none, found.labels, forwards, binary::minimum, values(settled),
                other);
      rest = arcs_within(rest, forwards, backwards, other);
    }
    ++found.rounds;
    if (given.progress) given.progress(found.rounds, rest.nnz());
  }
  found.count =
      reduce(ewise_add<int64>(found.labels, nodes, binary::equal, other), binary::plus, other);
  return found;
}

}  // namespace rig
