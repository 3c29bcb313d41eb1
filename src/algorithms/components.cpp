#include "rig/algorithms/components.hpp"

#include <utility>

#include "algorithms/undirected.hpp"
#include "rig/mxv.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"

namespace rig {
namespace {

RIG_OPERATOR(
    own_row, static constexpr rig::int32 apply(rig::int32, rig::index i, rig::index, rig::int32) {
      return i;
    });

}  // namespace

components_result components(const matrix<bool>& a, const components_options& given,
                             const descriptor& desc) {
  require_graph("components", a);
  const index n = a.rows();
  const descriptor other = of_operations(desc);
  descriptor forwards = other;
  forwards.kernel = desc.kernel;
  descriptor backwards = forwards;
  backwards.transpose_a = true;

  components_result found;
  auto& parent = found.labels;
  parent = dense<int32>::uninitialised(n, 1, a.where());
  apply(parent, none, parent, own_row(), int32(0), other);
  if (a.nnz() == 0) {
    found.count = n;
    return found;
  }
  auto grandparent = parent, next = parent, least = parent;
  for (bool changes = true; changes;) {
    // The least grandparent of a node and its neighbours.
    mxv(least, accumulator::minimum, a, grandparent, min_second<int32>(), forwards);
    if (!given.symmetric)
      mxv(least, accumulator::minimum, a, grandparent, min_second<int32>(), backwards);
    // The tree of a node hangs itself below it, and so does the node.
    const auto above = parent;
    assign(parent, accumulator::minimum, least, above, all, other);
    ewise_add(parent, none, parent, least, binary::minimum, other);
    ewise_add(parent, none, parent, grandparent, binary::minimum, other);
    extract(next, none, parent, parent, all, other);
    changes = reduce(ewise_add<bool>(next, grandparent, binary::not_equal, other),
                     binary::logical_or, other);
    std::swap(grandparent, next);
    if (given.progress) given.progress(found.iterations + 1);
    ++found.iterations;
  }
  auto is_root =
      ewise_add<int64>(apply(parent, own_row(), int32(0), other), parent, binary::equal, other);
  found.count = reduce(is_root, binary::plus, other);
  return found;
}

}  // namespace rig
