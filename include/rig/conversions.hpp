#pragma once

/// @file
/// Conversions between matrices and dense matrices, and matrices made of others: `to_dense`,
/// `matrix::from`, `diagonal`, `hstack` and `vstack`.

#include <algorithm>
#include <initializer_list>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "rig/rearrange.hpp"

namespace rig {

/// A matrix as a dense, with `absent` at the places without an entry.
///
/// Shapes: as A. Any T of at most 16 bytes. Places: all. Cost: O(rows · columns + entries). Throws
/// error: range, if an integer T cannot hold `absent`; out_of_memory.
/// @code
/// const rig::dense<float> full = rig::to_dense(A);
/// const auto distances = rig::to_dense(A, rig::highest<float>());
/// @endcode
template <class T>
dense<T> to_dense(const matrix<T>& a, argument<T> absent = T(), const descriptor& desc = {}) {
  const T number = read_argument<T>(absent, "to_dense", "absent");
  auto made = rearrange_call("to_dense", operation::kind::spread, a);
  made.o.scalar = &number;
  made.o.scalar_type = made.o.out_type = type_of<T>;
  made.o.scalar_bytes = sizeof(T);
  made.o.op = &unchanged(made.o);
  return run_fresh<dense<T>, T>(std::move(made), no_mask(), desc);
}

template <class T>
matrix<T> matrix<T>::from(const dense<T>& elements) {
  return or_out_of_memory("matrix", [&] {
    const place where = elements.where();
    auto all_places = matrix<bool>(elements.rows(), elements.columns()).to(where);
    assign(all_places, rig::none, true, all, all);
    void* const stream = owner_for(where, elements.stream());
    const std::size_t row_bytes = static_cast<std::size_t>(elements.columns()) * sizeof(T);
    buffer values =
        buffer::allocate(static_cast<std::size_t>(elements.rows()) * row_bytes, where, stream);
    copy_rows(values.data(), row_bytes, elements.data(),
              static_cast<std::size_t>(elements.stride()) * sizeof(T), row_bytes, elements.rows(),
              where, stream, elements.stream());
    return matrix(all_places.shared_structure(), std::move(values));
  });
}
template <class T>
matrix<T> matrix<T>::from(const dense<T>& elements, argument<T> without) {
  const T number = read_argument<T>(without, "from", "without");
  return select(from(elements), selection::not_equal, number);
}

/// The k-th diagonal of a matrix as a vector: another name of `diag` of a matrix.
/// @code
/// const auto loops = rig::diagonal(A);
/// @endcode
template <class T>
vector<T> diagonal(const matrix<T>& a, checked_index k = 0, const descriptor& desc = {}) {
  return diag(a, k.as("diagonal", "k"), desc);
}

/// @cond internal

/// A list of matrices of one type.
template <class List>
concept matrix_list = std::ranges::contiguous_range<List> && requires {
  typename std::ranges::range_value_t<List>::value_type;
  requires std::is_same_v<std::ranges::range_value_t<List>,
                          matrix<typename std::ranges::range_value_t<List>::value_type>>;
};

/// Matrices beside or below each other.
template <class T>
class stack {
 public:
  stack(const char* name, std::span<const matrix<T>> blocks, bool is_below)
      : name_(name), blocks_(blocks), is_below_(is_below) {
    if (blocks.empty()) fail(errc::shape, {name, ": there is no matrix; give at least one"});
    int64 rows = 0, columns = 0;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      check(b);
      rows = is_below ? rows + blocks[b].rows() : blocks[b].rows();
      columns = is_below ? blocks[b].columns() : columns + blocks[b].columns();
    }
    rows_ = checked_index(rows);
    columns_ = checked_index(columns);
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
        int64& to = next[static_cast<std::size_t>(row + i)];
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
/// @endcond

/// Matrices beside each other: the columns of the first, then those of the second, and so on.
///
/// The list is a vector, an array or a span of matrices with equal rows, in one place. The result
/// stores its values. Cost: O(rows · matrices + entries); on a device that for each matrix. Throws
/// error: shape; place; range, for 2^31 columns or more; out_of_memory.
/// @code
/// const auto wide = rig::hstack({A, A});
/// const auto tall = rig::vstack(std::vector{A, A, A});
/// @endcode
template <matrix_list List>
auto hstack(const List& matrices) {
  using T = typename std::ranges::range_value_t<List>::value_type;
  return stack<T>("hstack", std::span<const matrix<T>>(matrices), false).result();
}
/// The same of a list in braces.
template <class T>
matrix<T> hstack(std::initializer_list<matrix<T>> matrices) {
  return stack<T>("hstack", {matrices.begin(), matrices.size()}, false).result();
}
/// Matrices below each other. Shapes: equal columns. Everything else is as for `hstack`.
template <matrix_list List>
auto vstack(const List& matrices) {
  using T = typename std::ranges::range_value_t<List>::value_type;
  return stack<T>("vstack", std::span<const matrix<T>>(matrices), true).result();
}
/// The same of a list in braces.
template <class T>
matrix<T> vstack(std::initializer_list<matrix<T>> matrices) {
  return stack<T>("vstack", {matrices.begin(), matrices.size()}, true).result();
}

}  // namespace rig
