#include "rig/algorithms/scc.hpp"

#include <span>

#include "algorithms/allowance.hpp"
#include "algorithms/depth_first.hpp"
#include "algorithms/preparation.hpp"
#include "rig/mxv.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"
#include "rig/user_semiring.hpp"

namespace rig {
namespace {

/// A node's name, by which it propagates: another order of the nodes, in which few names on a path
/// are less than all before them. Both multipliers are inverse modulo 2³¹.
RIG_OPERATOR(
    name_of_node,
    static constexpr rig::int32 apply(rig::int32 node, rig::index, rig::index, rig::int32) {
      return static_cast<rig::int32>(static_cast<unsigned>(node) * 0x1e3779b1u & 0x7fffffffu);
    });
RIG_OPERATOR(
    node_of_name,
    static constexpr rig::int32 apply(rig::int32 name, rig::index, rig::index, rig::int32) {
      return static_cast<rig::int32>(static_cast<unsigned>(name) * 0x0e8b2f51u & 0x7fffffffu);
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

/// Marks by 1 what a node reaches. Returns false if the allowance ends before.
bool reach(dense<int32>& marks, const matrix<bool>& a, index from, allowance& left,
           const descriptor& desc) {
  const any_pair<bool> reached;
  auto frontier = vector<bool>::from_indices(a.rows(), std::span(&from, 1)).to(a.where());
  while (frontier.nnz() > 0 && left.covers(frontier.nnz())) {
    const vector<int32> ones(frontier.as_row().with_value(int32(1)));
    ewise_add(marks, none, marks, ones, binary::second, desc);
    frontier = vxm(frontier, a, reached, complement(values(marks)), desc);
  }
  return frontier.nnz() == 0;
}

/// Labels the component of a node of many arcs, and drops the arcs that cross what it reaches and
/// what reaches it. Returns false if the allowance ends before.
bool drop_around_pivot(matrix<bool>& a, dense<int32>& labels, allowance& left,
                       const descriptor& desc) {
  const index pivot = pivot_of(a, desc);
  if (pivot < 0) return true;
  auto before = filled<int32>(a.rows(), 1, 0, a.where(), desc), after = before;
  if (!reach(before, transpose(a, desc), pivot, left, desc)) return false;
  if (!reach(after, a, pivot, left, desc)) return false;
  const auto both = ewise_mult(after, before, binary::times, desc);
  auto least = filled<int32>(a.rows(), 1, a.rows(), a.where(), desc);
  apply(least, none, labels, unary::identity, values(both), desc);
  apply(labels, none, labels, binary::second, reduce(least, binary::minimum, desc), values(both),
        desc);
  // Nodes that neither reaches are a class too, and their pair differs: 2 and 0.
  const auto either = ewise_add(after, before, binary::maximum, desc);
  apply(after, none, after, binary::second, int32(2), complement(values(either)), desc);
  a = arcs_within(a, after, before, desc);
  return true;
}

/// Lowers each name to the least of the nodes with a path to its node; with transpose_b from it.
/// Returns false if the allowance ends before.
bool lower(dense<int32>& labels, const matrix<bool>& a, allowance& left, const descriptor& desc) {
  const descriptor other = of_operations(desc);
  auto changed = vector<int32>::from(labels);
  while (changed.nnz() > 0 && left.covers(changed.nnz())) {
    const auto offered = vxm(changed, a, min_first<int32>(), desc);
    const auto is_less = ewise_mult<bool>(offered, labels, binary::less, other);
    changed = apply(offered, unary::identity, values(is_less), other);
    ewise_add(labels, none, labels, changed, binary::second, other);
  }
  return changed.nnz() == 0;
}

/// Labels the nodes whose least names agree in both directions, by the least node of each name.
void settle(dense<int32>& labels, const dense<int32>& nodes, const dense<int32>& names,
            const dense<int32>& forwards, const dense<int32>& backwards, const descriptor& desc) {
  const auto settled = ewise_add<bool>(forwards, backwards, binary::equal, desc);
  auto roots = names;
  apply(roots, none, forwards, unary::identity, values(settled), desc);
  apply(roots, none, roots, node_of_name(), int32(0), desc);
  auto least = nodes;
  assign(least, accumulator::minimum, nodes, roots, all, desc);
  // Settled before are those without arcs, whose labels here are not less than those found.
  ewise_add(labels, none, labels, extract(least, roots, all, desc), binary::minimum,
            values(settled), desc);
}

/// Labels the components whose least names agree, and drops the arcs between nodes of other pairs
/// of names. Returns false if the allowance ends before.
bool drop_settled(matrix<bool>& a, dense<int32>& labels, const dense<int32>& nodes, allowance& left,
                  const descriptor& desc) {
  descriptor transposed = desc;
  transposed.transpose_b = true;
  const auto names = apply(nodes, name_of_node(), int32(0), desc);
  auto forwards = names, backwards = names;
  if (!lower(forwards, a, left, desc) || !lower(backwards, a, left, transposed)) return false;
  settle(labels, nodes, names, forwards, backwards, desc);
  a = arcs_within(a, forwards, backwards, desc);
  return true;
}

/// The least node of each component, which is the label of its nodes.
dense<int32> labels_of(const matrix<bool>& a, int& rounds, const scc_options& given,
                       const descriptor& other) {
  const auto nodes = ascending(a.rows(), a.where(), other);
  auto labels = nodes;
  matrix<bool> rest = a;
  for (allowance left(a); rest.nnz() > 0;) {
    const bool is_done = rounds == 0 ? drop_around_pivot(rest, labels, left, other)
                                     : drop_settled(rest, labels, nodes, left, other);
    if (!is_done) {
      const auto found = labels_in_depth(rest.to(cpu()).structure()).to(a.where());
      ewise_add(labels, none, labels, found, binary::minimum, other);
      rest = matrix<bool>();
    }
    ++rounds;
    if (given.progress) given.progress(rounds, rest.nnz());
  }
  return labels;
}

/// Nodes that one arc leads to and one leaves. A component that has the nodes before and after a
/// chain of them has the chain, and no other does, except a cycle of nothing else.
struct chains {
  dense<bool> inner;         ///< whether a node is one of them
  dense<int32> first, last;  ///< the nodes before and after its chain; of others the node itself
  dense<int32> least;        ///< of a cycle of nothing else its least node
};

/// Follows the arcs of inner nodes, twice as many in each step; `least` receives the least node
/// met.
void follow(dense<int32>& next, dense<int32>& least, const descriptor& desc) {
  for (int64 arcs = 1; arcs < next.rows(); arcs *= 2) {
    ewise_add(least, none, least, extract(least, next, all, desc), binary::minimum, desc);
    next = extract(next, next, all, desc);
  }
}

chains chains_of(const matrix<bool>& a, const dense<int32>& nodes, const descriptor& desc) {
  descriptor transposed = desc;
  transposed.transpose_a = true;
  const auto single = [&](const descriptor& product) {
    const auto unread = dense<int64>::uninitialised(a.rows(), 1, a.where());
    const auto arcs = mxv(a, unread, plus_pair<int64>(), product);
    return apply<bool>(arcs, binary::equal, int64(1), desc);
  };
  chains out{ewise_mult(single(desc), single(transposed), binary::times, desc), nodes, nodes,
             nodes};
  const min_second<int32> neighbour;
  mxv(out.first, none, a, nodes, neighbour, values(out.inner), transposed);
  mxv(out.last, none, a, nodes, neighbour, values(out.inner), desc);
  return out;
}

/// The same labels, from the graph in which an arc takes the place of each chain.
dense<int32> labels_without(chains& of, const matrix<bool>& a, const dense<int32>& nodes,
                            int& rounds, const scc_options& given, const descriptor& desc) {
  auto unused = nodes;
  follow(of.first, unused, desc);
  follow(of.last, of.least, desc);
  auto roots = of.least;
  vector<bool> outer = vector<bool>(a.rows()).to(a.where());
  assign(outer, none, true, all, complement(values(of.inner)), desc);
  if (outer.nnz() > 0) {
    const auto some = dense<index>::view(outer.indices(), static_cast<index>(outer.nnz()), 1, 1,
                                         a.where(), outer.as_row().structure().stream());
    const auto starts = ascending(a.rows() + 1, a.where(), desc);
    const auto ends = mxm(a, one_per_row(starts, of.last), any_pair<bool>(), desc);
    const auto labels = labels_of(extract(ends, some, some, desc), rounds, given, desc);
    assign(roots, none, extract(some, labels, all, desc), some, all, desc);
  }
  const auto before = extract(roots, of.first, all, desc),
             after = extract(roots, of.last, all, desc);
  // Inner nodes after which an inner one lies form a cycle; `least` has its label.
  const auto is_cycle = extract(of.inner, of.last, all, desc);
  auto is_chain = of.inner;
  apply(is_chain, none, is_chain, binary::second, false, values(is_cycle), desc);
  ewise_add(roots, none, nodes, nodes, binary::first, values(is_chain), desc);
  const auto joins = ewise_mult<bool>(before, after, binary::equal, desc);
  ewise_mult(is_chain, none, is_chain, joins, binary::times, desc);
  apply(roots, none, after, unary::identity, values(is_chain), desc);
  auto least = nodes;
  assign(least, accumulator::minimum, nodes, roots, all, desc);
  return extract(least, roots, all, desc);
}

scc_result search(const matrix<bool>& a, const scc_options& given, const descriptor& desc) {
  const descriptor other = of_operations(desc);
  const auto simple = without_loops(a, other);
  const auto nodes = ascending(a.rows(), a.where(), other);

  scc_result found;
  auto of = chains_of(simple, nodes, other);
  const int64 inner = reduce(apply<int64>(of.inner, unary::identity, other), binary::plus, other);
  found.labels = 2 * inner > a.rows()
                     ? labels_without(of, simple, nodes, found.rounds, given, other)
                     : labels_of(simple, found.rounds, given, other);
  found.count =
      reduce(ewise_add<int64>(found.labels, nodes, binary::equal, other), binary::plus, other);
  return found;
}

}  // namespace

scc_result scc(const matrix<bool>& a, const scc_options& given, const descriptor& desc) {
  return on_graph(
      "scc", a, desc, [&] { return search(a, given, desc); }, main_product::absent);
}

}  // namespace rig
