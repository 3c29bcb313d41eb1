#pragma once

#include <numeric>
#include <vector>

#include "rig/kernels/operation.hpp"
#include "storage/integers.hpp"
#include "storage/room.hpp"

namespace rig::on_cpu {

/// The inverse of a list of indices: for each index, its numbers in the list, ascending.
class index_targets {
 public:
  index_targets(const index_list& list, index of_all) : begin_(filled<int64>(size(of_all) + 1)) {
    const int64 count = list.size(of_all);
    for (int64 j = 0; j < count; ++j) ++begin_[size(list[j]) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    targets_ = filled<index>(size(count));
    std::vector<int64> next(begin_.begin(), begin_.end() - 1);
    for (int64 j = 0; j < count; ++j) {
      is_ascending_ = is_ascending_ && (j == 0 || list[j - 1] < list[j]);
      targets_[size(next[size(list[j])]++)] = static_cast<index>(j);
    }
  }
  int64 count(index of) const { return begin_[size(of) + 1] - begin_[size(of)]; }
  const index* begin(index of) const { return targets_.data() + begin_[size(of)]; }
  /// Whether the list is ascending.
  bool is_ascending() const { return is_ascending_; }

 private:
  std::vector<int64> begin_;
  std::vector<index> targets_;
  bool is_ascending_ = true;
};

}  // namespace rig::on_cpu
