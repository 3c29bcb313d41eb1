#include "rig/algorithms/bipartite_matching.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "algorithms/preparation.hpp"

namespace rig {
namespace {

/// A matching that grows. Rows and columns have −1 for no partner.
class growing_matching {
 public:
  explicit growing_matching(const pattern& arcs)
      : arcs_(arcs),
        columns_(static_cast<std::size_t>(arcs.rows()), -1),
        rows_(static_cast<std::size_t>(arcs.columns()), -1),
        levels_(columns_.size()),
        next_(columns_.size()) {}

  const std::vector<index>& columns() const { return columns_; }
  const std::vector<index>& rows() const { return rows_; }
  int64 size() const { return size_; }

  /// Rows with few entries first take the first column that is free.
  void start() {
    std::vector<index> order(columns_.size());
    std::iota(order.begin(), order.end(), index(0));
    std::ranges::stable_sort(order, {},
                             [&](index i) { return arcs_.offset(i + 1) - arcs_.offset(i); });
    for (const index i : order)
      for (int64 p = arcs_.offset(i); p < arcs_.offset(i + 1); ++p)
        if (row_of(p) < 0) {
          join(i, p);
          ++size_;
          break;
        }
  }

  /// Adds a pair along each of a greatest set of disjoint shortest augmenting paths. Returns false
  /// if there are none, so that the matching is a greatest one.
  bool grow() {
    if (!find_levels()) return false;
    for (std::size_t i = 0; i < next_.size(); ++i) next_[i] = arcs_.offset(static_cast<index>(i));
    for (index i = 0; i < arcs_.rows(); ++i)
      if (columns_[at(i)] < 0 && augment(i)) ++size_;
    return true;
  }

 private:
  static std::size_t at(index i) { return static_cast<std::size_t>(i); }
  /// The row that is matched with the column of an entry.
  index row_of(int64 p) const { return rows_[at(arcs_.column_indices()[p])]; }
  void join(index row, int64 p) {
    columns_[at(row)] = arcs_.column_indices()[p];
    rows_[at(columns_[at(row)])] = row;
  }

  /// The least number of pairs between each row and a row without a partner, up to the first that
  /// an entry joins with a column without one. Returns whether there is such an entry.
  bool find_levels() {
    std::ranges::fill(levels_, -1);
    std::vector<index> queue;
    for (index i = 0; i < arcs_.rows(); ++i)
      if (columns_[at(i)] < 0) {
        levels_[at(i)] = 0;
        queue.push_back(i);
      }
    bool is_reached = false;
    for (std::size_t k = 0; k < queue.size(); ++k) {
      const index i = queue[k];
      if (is_reached && levels_[at(i)] > last_) break;
      for (int64 p = arcs_.offset(i); p < arcs_.offset(i + 1); ++p) {
        const index other = row_of(p);
        if (other < 0) {
          is_reached = true;
          last_ = levels_[at(i)];
        } else if (levels_[at(other)] < 0) {
          levels_[at(other)] = levels_[at(i)] + 1;
          queue.push_back(other);
        }
      }
    }
    return is_reached;
  }

  /// A search in depth along the levels, from a row without a partner. Each entry is looked at once
  /// in a phase: a row that leads nowhere stays so.
  bool augment(index root) {
    path_.assign(1, root);
    while (!path_.empty()) {
      const index i = path_.back();
      if (next_[at(i)] == arcs_.offset(i + 1)) {
        path_.pop_back();
        continue;
      }
      const index other = row_of(next_[at(i)]++);
      if (other < 0) {
        for (const index row : path_) join(row, next_[at(row)] - 1);
        return true;
      }
      if (levels_[at(other)] == levels_[at(i)] + 1 && levels_[at(other)] <= last_)
        path_.push_back(other);
    }
    return false;
  }

  const pattern& arcs_;
  std::vector<index> columns_, rows_, levels_, path_;
  std::vector<int64> next_;  ///< of each row, the entry to look at next
  index last_ = 0;           ///< the level of the rows at which paths end
  int64 size_ = 0;
};

dense<index> column_of(const std::vector<index>& numbers, place where) {
  return dense<index>::view(numbers.data(), numbers.size(), 1).to(where);
}

}  // namespace

bipartite_matching_result bipartite_matching(const matrix<bool>& a,
                                             const bipartite_matching_options& given,
                                             const descriptor& desc) {
  return in_name_of("bipartite_matching", [&] {
    require_descriptor("bipartite_matching", desc, main_product::absent);
    const matrix<bool> here = a.where() == cpu() ? a : a.to(cpu());
    growing_matching found(here.structure());
    found.start();
    int phases = 0;
    while (found.grow())
      if (++phases; given.progress) given.progress(phases, found.size());
    return bipartite_matching_result{column_of(found.columns(), a.where()),
                                     column_of(found.rows(), a.where()), found.size(), phases};
  });
}

}  // namespace rig
