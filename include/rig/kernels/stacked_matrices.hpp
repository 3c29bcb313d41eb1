#pragma once

#include <algorithm>
#include <memory>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "rig/rearrange.hpp"

namespace rig {

/// A list of matrices of one type.
template <class List>
concept matrix_list = std::ranges::contiguous_range<List> && requires {
  typename std::ranges::range_value_t<List>::value_type;
  requires std::is_same_v<std::ranges::range_value_t<List>,
                          matrix<typename std::ranges::range_value_t<List>::value_type>>;
};

/// Matrices beside or below each other.
template <class T>
class stacked_matrices {
 public:
  stacked_matrices(const char* name, std::span<const matrix<T>> blocks, bool is_below)
      : name_(name), blocks_(blocks), is_below_(is_below) {
    if (blocks.empty()) fail(errc::shape, {name, ": there is no matrix; give at least one"});
    int64 rows = 0, columns = 0;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      check(b);
      rows = is_below ? rows + blocks[b].rows() : blocks[b].rows();
      columns = is_below ? blocks[b].columns() : columns + blocks[b].columns();
    }
    rows_ = checked_index(rows).as(name, "rows");
    columns_ = checked_index(columns).as(name, "columns");
  }

  matrix<T> result() const {
    return or_out_of_memory(name_,
                            [&] { return blocks_[0].where() == cpu() ? joined() : assigned(); });
  }

 private:
  void check(std::size_t b) const {
    const matrix<T>&first = blocks_[0], &block = blocks_[b];
    const bool is_alike =
        is_below_ ? block.columns() == first.columns() : block.rows() == first.rows();
    if (!is_alike)
      fail(errc::shape,
           {name_, ": matrix ", b, " is ", block.rows(), "x", block.columns(), ", matrix 0 is ",
            first.rows(), "x", first.columns(), "; give equal ", is_below_ ? "columns" : "rows"});
    if (block.where() != first.where())
      fail(errc::place, {name_, ": matrix ", b, " is on ", to_string(block.where()),
                         ", matrix 0 is on ", to_string(first.where()), "; copy one with .to()"});
  }

  /// Calls work(block, its first row, its first column).
  template <class Work>
  void for_each(Work work) const {
    index row = 0, column = 0;
    for (const matrix<T>& block : blocks_) {
      work(block, row, column);
      (is_below_ ? row : column) += is_below_ ? block.rows() : block.columns();
    }
  }

  /// On the CPU: each block's rows are copied to where they belong.
  matrix<T> joined() const {
    // Without entries, any number of rows takes no memory.
    if (std::ranges::all_of(blocks_, [](const auto& block) { return block.nnz() == 0; }))
      return matrix<T>(rows_, columns_);
    std::vector<int64> offsets(static_cast<std::size_t>(rows_) + 1);
    for_each([&](const matrix<T>& block, index row, index) {
      for (index i = 0; i < block.rows(); ++i)
        offsets[static_cast<std::size_t>(row + i) + 1] +=
            block.structure().offset(i + 1) - block.structure().offset(i);
    });
    for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
    std::vector<int64> next = offsets;
    const auto count = static_cast<std::size_t>(offsets.back());
    buffer entries = buffer::allocate(count * sizeof(index)),
           values = buffer::allocate(count * sizeof(T));
    for_each([&](const matrix<T>& block, index row, index column) {
      for (index i = 0; i < block.rows(); ++i) {
        int64& to = next.begin()[row + i];
        for (int64 p = block.structure().offset(i); p < block.structure().offset(i + 1);
             ++p, ++to) {
          entries.data<index>()[to] = block.structure().column_indices()[p] + column;
          values.template data<T>()[to] = block.value(p);
        }
      }
    });
    bool offsets_64 = false;
    buffer packed = pack_offsets(offsets, offsets_64);
    return matrix<T>(
        std::make_shared<const pattern>(rows_, columns_, offsets.back(), std::move(packed),
                                        offsets_64, std::move(entries)),
        std::move(values));
  }

  /// On a device: the blocks are assigned one after the other.
  matrix<T> assigned() const {
    auto out = matrix<T>(rows_, columns_).to(blocks_[0].where());
    for_each([&](const matrix<T>& block, index row, index column) {
      assign(out, rig::none, block, range{row, int64{row} + block.rows()},
             range{column, int64{column} + block.columns()});
    });
    return out;
  }

  const char* name_;
  std::span<const matrix<T>> blocks_;
  bool is_below_;
  index rows_ = 0, columns_ = 0;
};

}  // namespace rig
