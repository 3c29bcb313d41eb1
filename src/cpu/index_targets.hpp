#pragma once

#include <numeric>
#include <vector>

#include "rig/kernels/operation.hpp"
#include "storage/room.hpp"

namespace rig::on_cpu {

/// The inverse of a list of indices: for each index, its numbers in the list, ascending.
class index_targets {
 public:
  index_targets(const index_list& list, index of_all) : begin_(filled<int64>(size_of(of_all) + 1)) {
    const int64 count = list.size(of_all);
    for (int64 j = 0; j < count; ++j) ++begin_[size_of(list[j]) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    targets_ = filled<index>(size_of(count));
    std::vector<int64> next(begin_.begin(), begin_.end() - 1);
    for (int64 j = 0; j < count; ++j) {
      is_ascending_ = is_ascending_ && (j == 0 || list[j - 1] < list[j]);
      targets_[size_of(next[size_of(list[j])]++)] = static_cast<index>(j);
    }
  }
  int64 count(index of) const { return begin_[size_of(of) + 1] - begin_[size_of(of)]; }
  const index* begin(index of) const { return targets_.data() + begin_[size_of(of)]; }
  /// Whether the list is ascending.
  bool is_ascending() const { return is_ascending_; }

 private:
  static std::size_t size_of(int64 n) { return static_cast<std::size_t>(n); }

  std::vector<int64> begin_;
  std::vector<index> targets_;
  bool is_ascending_ = true;
};

}  // namespace rig::on_cpu
