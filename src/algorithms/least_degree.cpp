#include "algorithms/least_degree.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "storage/integers.hpp"

namespace rig {
namespace {

/// The nodes in the order of their degrees, which fall while nodes leave.
class by_degree {
 public:
  explicit by_degree(const pattern& edges)
      : edges_(edges),
        order_(size(edges.rows())),
        place_(size(edges.rows())),
        degrees_(edges.rows(), 1) {
    int32 most = 0;
    for (index node = 0; node < edges.rows(); ++node) {
      degrees_(node, 0) = static_cast<int32>(edges.offset(node + 1) - edges.offset(node));
      most = std::max(most, degrees_(node, 0));
    }
    first_.assign(size(most) + 2, 0);
    for (const int32 degree : degrees_) ++first_[size(degree) + 1];
    for (std::size_t k = 1; k < first_.size(); ++k) first_[k] += first_[k - 1];
    auto next = first_;
    for (index node = 0; node < edges.rows(); ++node) put(node, next[size(degrees_(node, 0))]++);
  }

  /// Degrees become core numbers: a neighbour that stays never falls below the node that leaves.
  dense<int32> removed() && {
    for (const index node : order_)
      for (int64 e = edges_.offset(node); e < edges_.offset(node + 1); ++e)
        if (const index other = edges_.column_indices()[e]; degrees_(other, 0) > degrees_(node, 0))
          lower(other);
    return std::move(degrees_);
  }

 private:
  void put(index node, index place) {
    order_[size(place)] = node;
    place_[size(node)] = place;
  }
  /// The node changes places with the first of its degree, which is the last of the lower one then.
  void lower(index node) {
    const index from = place_[size(node)], to = first_[size(degrees_(node, 0))]++;
    put(order_[size(to)], from);
    put(node, to);
    --degrees_(node, 0);
  }

  const pattern& edges_;
  std::vector<index> order_, place_, first_;  // first_: by degree, the place of the first such node
  dense<int32> degrees_;
};

}  // namespace

dense<int32> cores_by_least_degree(const pattern& edges) { return by_degree(edges).removed(); }

}  // namespace rig
