#include "algorithms/depth_first.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "storage/integers.hpp"

namespace rig {
namespace {

class depth_first {
 public:
  explicit depth_first(const pattern& arcs)
      : arcs_(arcs),
        number_(size(arcs.rows())),
        least_(size(arcs.rows())),
        next_(size(arcs.rows())),
        labels_(arcs.rows(), 1, open) {
    for (index node = 0; node < arcs.rows(); ++node)
      if (number_[size(node)] == 0) search(node);
  }
  dense<int32> labels() && { return std::move(labels_); }

 private:
  static constexpr int32 open = -1;  // the label of a node whose component is not complete

  void search(index root) {
    enter(root);
    while (!path_.empty()) {
      const index node = path_.back();
      int64& next = next_[size(node)];
      if (next == arcs_.offset(node + 1)) {
        leave(node);
        continue;
      }
      const index to = arcs_.column_indices()[next++];
      if (number_[size(to)] == 0)
        enter(to);
      else if (labels_(to, 0) == open)
        lower(node, number_[size(to)]);
    }
  }
  void lower(index node, index number) {
    least_[size(node)] = std::min(least_[size(node)], number);
  }
  void enter(index node) {
    number_[size(node)] = least_[size(node)] = ++entered_;
    next_[size(node)] = arcs_.offset(node);
    path_.push_back(node);
    incomplete_.push_back(node);
  }
  void leave(index node) {
    path_.pop_back();
    if (!path_.empty()) lower(path_.back(), least_[size(node)]);
    if (least_[size(node)] == number_[size(node)]) complete(node);
  }
  /// Labels the component whose first node this is: the incomplete ones from it on.
  void complete(index first) {
    auto begin = incomplete_.end();
    while (*--begin != first) {
    }
    const index label = *std::min_element(begin, incomplete_.end());
    for (auto node = begin; node != incomplete_.end(); ++node) labels_(*node, 0) = label;
    incomplete_.erase(begin, incomplete_.end());
  }

  const pattern& arcs_;
  index entered_ = 0;
  std::vector<index> number_, least_;  // 1 + when a node was entered; the least open one it reaches
  std::vector<int64> next_;            // the arc that the search follows next
  std::vector<index> path_, incomplete_;
  dense<int32> labels_;
};

}  // namespace

dense<int32> labels_in_depth(const pattern& arcs) { return depth_first(arcs).labels(); }

}  // namespace rig
