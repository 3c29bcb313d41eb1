#include "rig/algorithms/msf.hpp"

#include <utility>

#include "algorithms/preparation.hpp"
#include "rig/mxv.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"
#include "rig/vector.hpp"

namespace rig {
namespace {

/// An edge's number, lesser end · n + greater end, which orders edges of equal weight.
RIG_OPERATOR(
    edge_number, static constexpr long apply(double, rig::index i, rig::index j, long nodes) {
      return i < j ? i * nodes + j : j * nodes + i;
    });
/// The ends of an edge; of no edge, the node itself.
RIG_OPERATOR(
    lesser_end, static constexpr int apply(long edge, rig::index i, rig::index, long nodes) {
      return edge == rig::highest<long>() ? i : static_cast<int>(edge / nodes);
    });
RIG_OPERATOR(
    greater_end, static constexpr int apply(long edge, rig::index i, rig::index, long nodes) {
      return edge == rig::highest<long>() ? i : static_cast<int>(edge % nodes);
    });
RIG_OPERATOR(
    unless_itself, static constexpr int apply(int node, rig::index i, rig::index, int) {
      return node == i ? -1 : node;
    });
RIG_OPERATOR(
    only_itself, static constexpr int apply(int node, rig::index i, rig::index, int) {
      return node == i ? node : rig::highest<int>();
    });
RIG_SEMIRING(
    first_if_any, using left = int; using right = int; using accum = int;
    static constexpr int zero() { return rig::lowest<int>(); } static constexpr int add(int x,
                                                                                        int y) {
      return rig::maximum(x, y);
    } static constexpr int multiply(int x, int y) { return x < 0 ? y : x; });

template <class T>
dense<T> unread(const matrix<double>& like) {
  return dense<T>::uninitialised(like.columns(), 1, like.where());
}

/// By tree, at its root: the least weight of an edge that leaves it, and that edge's number.
struct lightest {
  dense<double> weight;
  dense<int64> edge;

  /// `rest` are the edges between trees; tree_of(i, labels(i)) is an entry for each node i.
  lightest(const matrix<double>& rest, const matrix<bool>& tree_of, const dense<index>& labels,
           const descriptor& desc) {
    descriptor by_tree = desc;
    by_tree.transpose_a = true;
    const auto of_node = mxv(rest, unread<double>(rest), min_first<double>(), desc);
    weight = mxv(tree_of, of_node, min_second<double>(), by_tree);
    const auto limit = extract(weight, labels, all, desc);
    const auto is_least = join_by<bool>("apply", rest, binary::equal, limit, broadcast::rows, desc);
    const auto edges = apply(select(is_least, selection::equal, true, desc), edge_number(),
                             int64(rest.rows()), desc);
    const auto edge_of_node = mxv(edges, unread<int64>(rest), min_first<int64>(), desc);
    edge = mxv(tree_of, edge_of_node, min_second<int64>(), by_tree);
  }
};

/// By node, the edge that its tree took last while the node was the root, and the weight. A node
/// that is no root any more ceased to be one by this edge. A root has none, or one that another
/// tree took in the same round.
struct edges_taken {
  dense<double> weight;
  dense<int64> edge;

  edges_taken(index nodes, place where, const descriptor& desc)
      : weight(filled<double>(nodes, 1, 0, where, desc)),
        edge(filled<int64>(nodes, 1, highest<int64>(), where, desc)) {}

  /// Returns how many trees took an edge.
  int64 add(const lightest& found, const descriptor& desc) {
    const auto more =
        select(vector<int64>::from(found.edge), selection::less, highest<int64>(), desc);
    const auto weights = ewise_mult(found.weight, more, binary::first, desc);
    ewise_add(edge, none, edge, more, binary::second, desc);
    ewise_add(weight, none, weight, weights, binary::second, desc);
    return more.nnz();
  }
  /// Entry (lesser end, greater end) for each edge.
  matrix<double> as_matrix(const descriptor& desc) const {
    const index n = edge.rows();
    const auto all_edges =
        select(vector<int64>::from(edge), selection::less, highest<int64>(), desc);
    const auto weights = ewise_mult(weight, all_edges, binary::first, desc);
    const auto list = [&]<class T>(const vector<T>& of) {
      return dense<T>::view(of.values(), static_cast<index>(of.nnz()), 1, 1, of.where(),
                            of.as_row().values_stream());
    };
    const auto numbers = list(all_edges);
    return build(n, n, apply(numbers, lesser_end(), int64(n), desc),
                 apply(numbers, greater_end(), int64(n), desc), list(weights), binary::minimum,
                 desc);
  }
};

/// The labels of nodes when each root has the tree at the other end of its edge as its parent.
dense<index> joined(const dense<int64>& edge, const dense<index>& labels, const descriptor& desc) {
  const int64 n = labels.rows();
  const auto one = extract(labels, apply(edge, lesser_end(), n, desc), all, desc),
             other = extract(labels, apply(edge, greater_end(), n, desc), all, desc);
  auto parent = ewise_mult(apply(one, unless_itself(), 0, desc), other, first_if_any(), desc);
  // Two trees that take the same edge are each other's parents; the lesser becomes the root.
  auto next = extract(parent, parent, all, desc);
  ewise_add(parent, none, parent, apply(next, only_itself(), 0, desc), binary::minimum, desc);
  for (bool changes = n > 0; changes;) {
    extract(next, none, parent, parent, all, desc);
    changes =
        reduce(ewise_add<bool>(next, parent, binary::not_equal, desc), binary::logical_or, desc);
    std::swap(next, parent);
  }
  return parent;
}

/// The edges between different trees.
matrix<double> between(const matrix<double>& edges, const dense<index>& labels,
                       const descriptor& desc) {
  const auto from = join_by<index>("apply", edges.with_value(index(0)), binary::second, labels,
                                   broadcast::rows, desc);
  const auto differs =
      join_by<bool>("apply", from, binary::not_equal, labels, broadcast::columns, desc);
  return apply(edges, unary::identity, values(differs), desc);
}

msf_result search(const matrix<double>& a, const msf_options& given, const descriptor& desc) {
  const descriptor other = of_operations(desc);
  descriptor both = other;
  both.transpose_b = true;
  const auto arcs = select(a, selection::off_diagonal, 0, other);
  auto rest = ewise_add(arcs, arcs, binary::minimum, both);

  const index n = a.rows();
  msf_result found;
  edges_taken taken(n, a.where(), other);
  const auto starts = ascending(n + 1, a.where(), other);
  for (auto labels = ascending(n, a.where(), other); rest.nnz() > 0;) {
    const lightest edges(rest, one_per_row(starts, labels), labels, other);
    if (taken.add(edges, other) == 0) fail(errc::range, {"msf: a weight is NaN; give numbers"});
    labels = joined(edges.edge, labels, other);
    rest = between(rest, labels, other);
    ++found.rounds;
    if (given.progress) given.progress(found.rounds, rest.nnz() / 2);
  }
  found.forest = taken.as_matrix(other);
  found.weight = reduce(found.forest, binary::plus, other);
  return found;
}

}  // namespace

msf_result msf(const matrix<double>& a, const msf_options& given, const descriptor& desc) {
  return on_graph(
      "msf", a, desc, [&] { return search(a, given, desc); }, main_product::absent);
}

}  // namespace rig
