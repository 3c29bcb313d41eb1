#include "rig/algorithms/components.hpp"

#include "algorithms/preparation.hpp"
#include "rig/elementwise.hpp"
#include "rig/reduce.hpp"
#include "storage/backend.hpp"

namespace rig {
namespace {

/// Joins the nodes of each arc; the label of each is its own number before.
void join(const matrix<bool>& a, dense<int32>& labels, bool symmetric, const descriptor& desc) {
  dense_operand to;
  fill_in(to, labels);
  const stream_order order(a.where(), desc.stream, "components",
                           {a.structure().stream(), labels.stream()});
  backend_of(a.where()).join(view(a.structure()), to, symmetric, desc);
}

components_result search(const matrix<bool>& a, const components_options& given,
                         const descriptor& desc) {
  const descriptor other = of_operations(desc);
  const auto nodes = ascending(a.rows(), a.where(), other);
  components_result found;
  found.labels = nodes;
  if (a.nnz() > 0) {
    join(a, found.labels, given.symmetric, other);
    found.iterations = 1;
    if (given.progress) given.progress(1);
  }
  const auto is_root = ewise_add<int64>(nodes, found.labels, binary::equal, other);
  found.count = reduce(is_root, binary::plus, other);
  return found;
}

}  // namespace

components_result components(const matrix<bool>& a, const components_options& given,
                             const descriptor& desc) {
  return on_graph(
      "components", a, desc, [&] { return search(a, given, desc); }, main_product::absent);
}

}  // namespace rig
