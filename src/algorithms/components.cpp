#include "rig/algorithms/components.hpp"

#include <span>
#include <utility>

#include "algorithms/measured.hpp"
#include "algorithms/preparation.hpp"
#include "rig/mxv.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"
#include "rig/user_semiring.hpp"

namespace rig {
namespace {

/// What a call makes of its options.
struct plan {
  const components_options& given;
  descriptor other, forwards, backwards;

  plan(const components_options& options, const descriptor& desc)
      : given(options), other(of_operations(desc)), forwards(other) {
    forwards.kernel = desc.kernel;
    backwards = forwards;
    backwards.transpose_a = true;
  }
};

/// The nodes outside `seen` that an arc joins with the frontier, in whichever direction.
vector<bool> neighbours(const matrix<bool>& a, const vector<bool>& frontier,
                        const dense<bool>& seen, const plan& by) {
  const any_pair<bool> reached;
  const auto unseen = complement(values(seen));
  const bool is_wide = frontier.nnz() > a.rows() / measured::wide_share;
  if (by.given.symmetric)
    return is_wide ? mxv(a, frontier, reached, unseen, by.other)
                   : vxm(frontier, a, reached, unseen, by.other);
  return ewise_add(vxm(frontier, a, reached, unseen, by.other),
                   mxv(a, frontier, reached, unseen, by.other), binary::logical_or, by.other);
}

/// Marks the component of a node that some arc leads to, which is the largest as a rule. Returns
/// whether all of it is marked; `iterations` counts the levels.
bool mark_component(const matrix<bool>& a, dense<bool>& seen, int& iterations, const plan& by) {
  const pattern& s = a.structure();
  const index* const middle = s.column_indices() + a.nnz() / 2;
  const index start = dense<index>::view(middle, 1, 1, 1, s.where(), s.stream()).to(cpu())(0, 0);
  auto frontier = vector<bool>::from_indices(a.rows(), std::span(&start, 1)).to(a.where());
  for (int level = 0; frontier.nnz() > 0 && level < measured::most_levels; ++level) {
    const vector<bool> marks(frontier.as_row().with_value(true));
    ewise_add(seen, none, seen, marks, binary::second, by.other);
    if (by.given.progress) by.given.progress(iterations + 1);
    ++iterations;
    frontier = neighbours(a, frontier, seen, by);
  }
  return frontier.nnz() == 0;
}

/// Joins trees until each is a component; `parent` begins with trees of height 1 at most.
void join_trees(const matrix<bool>& a, dense<int32>& parent, int& iterations, const plan& by) {
  auto grandparent = parent, next = parent, least = parent;
  for (bool changes = true; changes;) {
    // The least grandparent of a node and its neighbours.
    mxv(least, accumulator::minimum, a, grandparent, min_second<int32>(), by.forwards);
    if (!by.given.symmetric)
      mxv(least, accumulator::minimum, a, grandparent, min_second<int32>(), by.backwards);
    // The tree of a node hangs itself below it, and so does the node.
    const auto above = parent;
    assign(parent, accumulator::minimum, least, above, all, by.other);
    ewise_add(parent, none, parent, least, binary::minimum, by.other);
    ewise_add(parent, none, parent, grandparent, binary::minimum, by.other);
    extract(next, none, parent, parent, all, by.other);
    changes = reduce(ewise_add<bool>(next, grandparent, binary::not_equal, by.other),
                     binary::logical_or, by.other);
    std::swap(grandparent, next);
    if (by.given.progress) by.given.progress(iterations + 1);
    ++iterations;
  }
}

/// The nodes with arcs that are not marked, as a list.
vector<bool> unmarked(const matrix<bool>& a, const dense<bool>& seen, const plan& by) {
  const auto unread = dense<bool>::uninitialised(a.rows(), 1, a.where());
  const auto unseen = complement(values(seen));
  const any_pair<bool> has_arcs;
  auto found = mxv(a, unread, has_arcs, unseen, by.other);
  if (!by.given.symmetric)
    mxv(found, accumulator::logical_or, a, unread, has_arcs, unseen, by.backwards);
  vector<bool> out = vector<bool>(a.rows()).to(a.where());
  if (reduce(found, binary::logical_or, by.other))
    assign(out, none, true, all, values(found), by.other);
  return out;
}

/// Joins the trees of the nodes of a list, among which all their arcs lie.
void join_rest(const matrix<bool>& a, dense<int32>& parent, const vector<bool>& rest,
               int& iterations, const plan& by) {
  const auto nodes = dense<index>::view(rest.indices(), static_cast<index>(rest.nnz()), 1, 1,
                                        a.where(), rest.as_row().structure().stream());
  auto labels = ascending(nodes.rows(), a.where(), by.other);
  join_trees(extract(a, nodes, nodes, by.other), labels, iterations, by);
  assign(parent, none, extract(nodes, labels, all, by.other), nodes, all, by.other);
}

components_result search(const matrix<bool>& a, const components_options& given,
                         const descriptor& desc) {
  const index n = a.rows();
  const plan by(given, desc);
  if (!given.symmetric) a.prepare({.transpose_a = true});

  components_result found;
  auto& parent = found.labels;
  const auto nodes = ascending(n, a.where(), by.other);
  parent = nodes;
  auto seen = filled<bool>(n, 1, false, a.where(), by.other);
  bool is_whole = false;
  if (!has_many_levels(a) && a.nnz() > 0 && desc.kernel.empty()) {
    is_whole = mark_component(a, seen, found.iterations, by);
    auto marked = filled<int32>(n, 1, n, a.where(), by.other);
    apply(marked, none, parent, unary::identity, values(seen), by.other);
    apply(parent, none, parent, binary::second, reduce(marked, binary::minimum, by.other),
          values(seen), by.other);
  }
  if (is_whole) {
    const auto rest = unmarked(a, seen, by);
    if (rest.nnz() > 0) join_rest(a, parent, rest, found.iterations, by);
  } else if (a.nnz() > 0) {
    join_trees(a, parent, found.iterations, by);
  }
  const auto is_root = ewise_add<int64>(nodes, parent, binary::equal, by.other);
  found.count = reduce(is_root, binary::plus, by.other);
  return found;
}

}  // namespace

components_result components(const matrix<bool>& a, const components_options& given,
                             const descriptor& desc) {
  return on_graph("components", a, desc, [&] { return search(to_prepare(a), given, desc); });
}

}  // namespace rig
