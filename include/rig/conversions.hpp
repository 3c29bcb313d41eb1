#pragma once

/// @file
/// Conversions between matrices and dense matrices, and matrices made of others: `to_dense`,
/// `matrix::from`, `diagonal`, `hstack` and `vstack`.

#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "rig/kernels/stacked_matrices.hpp"
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
  return run_creating<dense<T>, T>(std::move(made), no_mask(), desc);
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
  return stacked_matrices<T>("hstack", std::span<const matrix<T>>(matrices), false).result();
}
/// The same of a list in braces.
template <class T>
matrix<T> hstack(std::initializer_list<matrix<T>> matrices) {
  return stacked_matrices<T>("hstack", {matrices.begin(), matrices.size()}, false).result();
}
/// Matrices below each other. Shapes: equal columns. Everything else is as for `hstack`.
template <matrix_list List>
auto vstack(const List& matrices) {
  using T = typename std::ranges::range_value_t<List>::value_type;
  return stacked_matrices<T>("vstack", std::span<const matrix<T>>(matrices), true).result();
}
/// The same of a list in braces.
template <class T>
matrix<T> vstack(std::initializer_list<matrix<T>> matrices) {
  return stacked_matrices<T>("vstack", {matrices.begin(), matrices.size()}, true).result();
}

}  // namespace rig
