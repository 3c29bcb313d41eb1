#pragma once

/// @file
/// The entries of a matrix or a vector as a range: `entry_range`.

#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include "rig/pattern.hpp"

namespace rig {

/// An entry of a matrix.
template <class T>
struct matrix_entry {
  index row;     ///< its row
  index column;  ///< its column
  T value;       ///< its value
};

/// An entry of a vector.
template <class T>
struct vector_entry {
  index at;  ///< its index
  T value;   ///< its value
};

/// The entries of a matrix or a vector on the CPU, row by row, as copies. The range shares their
/// memory, so that it may be that of a temporary; its iterators need the range.
/// @code
/// for (const auto& [i, j, x] : A.entries()) std::printf("(%d, %d) %g\n", i, j, x);
/// @endcode
template <class T, class Entry>
class entry_range {
 public:
  /// A position in the range.
  class iterator {
   public:
    using value_type = Entry;                            ///< What it reads.
    using difference_type = std::ptrdiff_t;              ///< A distance.
    using reference = Entry;                             ///< Entries are copies.
    using pointer = void;                                ///< There is none.
    using iterator_category = std::input_iterator_tag;   ///< Because entries are copies.
    using iterator_concept = std::forward_iterator_tag;  ///< It can be read again.

    /// Of no range.
    iterator() = default;
    /// The entry.
    Entry operator*() const {
      const T value = values_ == nullptr ? iso_ : values_[p_];
      const index column = structure_->column_indices()[p_];
      if constexpr (std::is_same_v<Entry, matrix_entry<T>>)
        return {row_, column, value};
      else
        return {column, value};
    }
    /// The next position.
    iterator& operator++() {
      ++p_;
      find_row();
      return *this;
    }
    /// The next position; returns this one.
    iterator operator++(int) {
      const iterator before = *this;
      ++*this;
      return before;
    }
    /// Whether both are at one entry.
    friend bool operator==(const iterator& x, const iterator& y) { return x.p_ == y.p_; }

   private:
    friend class entry_range;
    void find_row() {
      while (p_ < structure_->nnz() && structure_->offset(row_ + 1) <= p_) ++row_;
    }

    const pattern* structure_ = nullptr;
    const T* values_ = nullptr;
    T iso_{};
    index row_ = 0;
    int64 p_ = 0;
  };

  /// @cond internal
  /// `values` is empty if all entries have the value `iso`.
  entry_range(std::shared_ptr<const pattern> structure, buffer values, bool is_iso, T iso)
      : structure_(std::move(structure)), values_(std::move(values)), is_iso_(is_iso), iso_(iso) {
    if (structure_->where() != cpu())
      fail(errc::place, {"entries: the entries are on ", to_string(structure_->where()),
                         "; copy them with .to(rig::cpu())"});
  }
  /// @endcond

  /// The first entry.
  iterator begin() const { return at(0); }
  /// The position after the last entry.
  iterator end() const { return at(structure_->nnz()); }
  /// The number of entries.
  int64 size() const { return structure_->nnz(); }

 private:
  iterator at(int64 p) const {
    iterator out;
    out.structure_ = structure_.get();
    out.values_ = is_iso_ ? nullptr : values_.template data<const T>();
    out.iso_ = iso_;
    out.p_ = p;
    out.find_row();
    return out;
  }

  std::shared_ptr<const pattern> structure_;
  buffer values_;
  bool is_iso_;
  T iso_;
};

}  // namespace rig
