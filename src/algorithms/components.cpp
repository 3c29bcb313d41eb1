#include "rig/algorithms/components.hpp"

#include "algorithms/columns.hpp"
#include "algorithms/preparation.hpp"
#include "rig/distributed_algorithms.hpp"
#include "rig/elementwise.hpp"
#include "rig/reduce.hpp"
#include "storage/backend.hpp"
#include "storage/integers.hpp"

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

/// This rank's arcs as an n×n matrix that shares their columns.
matrix<bool> arcs_of(const distributed<matrix<bool>>& a) {
  const pattern& here = a.local().structure();
  std::vector<int64> offsets(size(a.rows()) + 1);
  for (index k = 0; k < here.rows(); ++k)
    offsets[size(a.layout().row_at(a.communicator().rank(), k)) + 1] =
        here.offset(k + 1) - here.offset(k);
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  bool offsets_64 = false;
  buffer packed = pack_offsets(offsets, offsets_64);
  buffer columns =
      buffer::borrow(const_cast<index*>(here.column_indices()), size(here.nnz()) * sizeof(index));
  return matrix<bool>(
      std::make_shared<const pattern>(a.rows(), a.rows(), here.nnz(), std::move(packed), offsets_64,
                                      std::move(columns)),
      true);
}

/// Joins the trees of all ranks: in each round a rank gets those of the one before it, which has
/// joined those of more ranks by then.
void join_trees(const communicator& ranks, dense<int32>& labels, const descriptor& desc) {
  dense<int32> theirs;
  dense<index> starts;
  std::vector<message> sends, receives;
  const std::size_t bytes = size(labels.rows()) * sizeof(int32);
  const int after = (ranks.rank() + 1) % ranks.size(),
            before = (ranks.rank() + ranks.size() - 1) % ranks.size();
  over_ranks::agree(ranks, "components", [&] {
    theirs = dense<int32>::uninitialised(labels.rows(), 1);
    starts = ascending(labels.rows() + 1, cpu(), desc);
    sends.push_back({after, labels.data(), bytes});
    receives.push_back({before, theirs.data(), bytes});
  });
  for (int round = 1; round < ranks.size(); ++round) {
    ranks.exchange(sends, receives);
    over_ranks::agree(ranks, "components",
                      [&] { join(one_per_row(starts, theirs), labels, false, desc); });
  }
}

}  // namespace

distributed<components_result> components(const distributed<matrix<bool>>& a,
                                          const components_options& given, const descriptor& desc) {
  const communicator& ranks = a.communicator();
  const descriptor other = of_operations(desc);
  dense<int32> labels, mine;
  int64 count = 0;
  require_graph("components", a, desc, [&] {
    labels = ascending(a.rows(), cpu(), other);
    join(arcs_of(a), labels, false, other);
  });
  join_trees(ranks, labels, other);
  over_ranks::agree(ranks, "components", [&] {
    for (index i = 0; i < a.rows(); ++i) count += labels(i, 0) == i;
    mine = dense<int32>::uninitialised(a.local().rows(), 1);
    for (index k = 0; k < mine.rows(); ++k)
      mine(k, 0) = labels(a.layout().row_at(ranks.rank(), k), 0);
    if (given.progress && a.nnz() > 0) given.progress(1);
  });
  return {over_ranks::access::make<int32>(ranks, std::move(mine), a.layout(), index(1), false),
          count};
}

components_result components(const matrix<bool>& a, const components_options& given,
                             const descriptor& desc) {
  return on_graph(
      "components", a, desc, [&] { return search(a, given, desc); }, main_product::absent);
}

}  // namespace rig
