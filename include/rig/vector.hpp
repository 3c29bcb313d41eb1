#pragma once

/// @file
/// The sparse vector.

#include <optional>
#include <utility>

#include "rig/kernels/operation.hpp"

namespace rig {

/// A sparse vector: immutable, ascending indices, cheap to copy because copies share everything. It
/// is a matrix of one row, `as_row()`, and inherits its properties: an iso vector has no values,
/// explicit zeros are entries, and it lives in one place.
/// @code
/// auto frontier = rig::vector<bool>::from_indices(8, std::vector{2, 5});
/// const auto levels = rig::vector<int>::from_tuples(8, std::vector{5, 2}, std::vector{1, 0});
/// @endcode
template <class T>
class vector {
 public:
  using value_type = T;  ///< The type of its elements.

  /// Of size 0.
  vector() noexcept : row_(empty_row(), T()) {}
  /// Of `size` places and no entry.
  explicit vector(checked_index size) : row_(1, length(size)) {}
  /// The row of a 1×n matrix; a 0×0 one makes a vector of size 0. Throws error(shape) for another
  /// number of rows.
  explicit vector(matrix<T> row) : row_(std::move(row)) {
    if (row_.rows() == 0 && row_.columns() == 0)
      row_ = matrix<T>(empty_row(), T()).to(row_.where());
    if (row_.rows() != 1)
      fail(errc::shape, {"vector: a matrix of ", row_.rows(), "x", row_.columns(),
                         " is not one row; extract a row of it"});
  }
  /// Shares the pattern and the values.
  vector(const vector&) = default;
  /// Leaves `other` of size 0.
  vector(vector&& other) noexcept : vector() { std::swap(row_, other.row_); }
  /// Shares or moves.
  vector& operator=(vector other) noexcept {
    std::swap(row_, other.row_);
    return *this;
  }
  ~vector() = default;

  /// An iso vector with entries at these indices, which have any integer type and any order. Throws
  /// error: range; duplicate, unless `merge_duplicates`.
  static vector from_indices(checked_index size, const integers& indices, argument<T> iso = T(1),
                             bool merge_duplicates = false) {
    return or_out_of_memory("vector", [&] {
      const std::vector<index> rows(indices.size());
      const T value = read_argument<T>(iso, "from_indices", "iso");
      return vector(
          matrix<T>::from_positions(1, length(size), rows, indices, value, merge_duplicates));
    });
  }
  /// Entries values[p] at indices[p], in any order. Throws error: shape, range, duplicate.
  static vector from_tuples(checked_index size, const integers& indices,
                            std::span<const T> values) {
    return or_out_of_memory("vector", [&] {
      const std::vector<index> rows(indices.size());
      return vector(matrix<T>::from_tuples(1, length(size), rows, indices, values));
    });
  }
  /// The same, except that `combine(x, y)` folds duplicates in input order.
  template <class Combine>
  requires std::invocable<Combine, T, T>
  static vector from_tuples(checked_index size, const integers& indices, std::span<const T> values,
                            Combine combine) {
    return or_out_of_memory("vector", [&] {
      const std::vector<index> rows(indices.size());
      return vector(matrix<T>::from_tuples(1, length(size), rows, indices, values, combine));
    });
  }
  /// A vector with every entry: the elements of an n×1 dense, copied in its place. Throws error:
  /// shape, out_of_memory.
  static vector from(const dense<T>& elements) {
    if (elements.columns() != 1)
      fail(errc::shape,
           {"vector: a dense of ", elements.rows(), "x", elements.columns(), " is not one column"});
    return or_out_of_memory("vector", [&] {
      const index n = elements.rows();
      const place where = elements.where();
      void* const stream = owner_for(where, elements.stream());
      auto every_entry = full_row(n, where);  // before the values: it may refuse a capture
      buffer values = buffer::allocate(static_cast<std::size_t>(n) * sizeof(T), where, stream);
      copy_rows(values.data(), sizeof(T), elements.data(),
                static_cast<std::size_t>(elements.stride()) * sizeof(T), sizeof(T), n, where,
                stream, elements.stream());
      return vector(matrix<T>(std::move(every_entry), std::move(values)));
    });
  }
  /// A view of ascending indices (of 4 bytes) and values without a copy; the caller keeps them
  /// alive and unchanged while any copy of the vector lives.
  static vector view(checked_index size, std::span<const index> indices, std::span<const T> values,
                     input how = input::checked) {
    return or_out_of_memory("vector", [&] {
      const int64 offsets[] = {0, static_cast<int64>(indices.size())};
      bool offsets_64 = false;
      buffer packed = pack_offsets(offsets, offsets_64);
      const auto whole =
          matrix<T>::view(1, length(size), std::span<const int64>(offsets), indices, values, how);
      return vector(
          matrix<T>(std::make_shared<const pattern>(
                        1, size, static_cast<int64>(indices.size()), std::move(packed), offsets_64,
                        buffer::borrow(const_cast<index*>(indices.data()), indices.size_bytes())),
                    buffer::borrow(const_cast<T*>(whole.values()), values.size_bytes())));
    });
  }
  /// Deleted because temporary arrays would not outlive the call.
  template <class Indices, class Values>
  requires(is_temporary<Indices> || is_temporary<Values>) static vector
      view(checked_index size, Indices&& indices, Values&& values,
           input how = input::checked) = delete;

  /// The number of places, with and without an entry.
  index size() const { return row_.columns(); }
  /// The number of entries.
  int64 nnz() const { return row_.nnz(); }
  /// The place that holds the vector.
  place where() const { return row_.where(); }
  /// Whether all entries share one value.
  bool iso() const { return row_.iso(); }
  /// The value of an iso vector's entries.
  T iso_value() const { return row_.iso_value(); }
  /// The indices of the entries, ascending; in the vector's place.
  const index* indices() const& { return row_.structure().column_indices(); }
  /// Deleted because the memory of a temporary ends with its expression: name the vector first.
  const index* indices() const&& = delete;
  /// One value per entry; null for an iso vector.
  const T* values() const& { return row_.values(); }
  /// Deleted for the same reason.
  const T* values() const&& = delete;
  /// The value of entry p; only for a vector on the CPU.
  T value(int64 p) const { return row_.value(p); }
  /// The entries as a range of (index, value). Throws error(place) unless they are on the CPU.
  entry_range<T, vector_entry<T>> entries() const {
    return row_.template entries_as<vector_entry<T>>();
  }
  /// Whether sizes, indices and values are equal, as for matrices.
  friend bool operator==(const vector& x, const vector& y) requires comparable<T> {
    return x.row_ == y.row_;
  }
  /// The same vector as a 1×n matrix; shares everything.
  const matrix<T>& as_row() const& { return row_; }
  /// The same of a temporary.
  matrix<T> as_row() const&& { return row_; }

  /// The same vector in another place; shares everything if it is already there.
  vector to(place target) const { return vector(row_.to(target)); }
  /// An n×1 dense in the vector's place: `absent` where the vector has no entry. Throws
  /// error: range, if an integer T cannot hold the number; out_of_memory.
  dense<T> to_dense(argument<T> absent = T()) const {
    return or_out_of_memory("to_dense", [&] {
      const T number = read_argument<T>(absent, "to_dense", "absent");
      const descriptor plain;
      auto out = dense<T>::uninitialised(size(), 1, where());
      operation o{"to_dense", operation::kind::spread};
      o.x.what = operand::kind::sparse;
      o.x.is_vector = true;
      fill_in(o.x.sparse, row_);
      o.c.what = operand::kind::dense;
      fill_in(o.c.full, out);
      o.scalar = &number;
      o.scalar_type = o.out_type = type_of<T>;
      o.scalar_bytes = o.out_bytes = sizeof(T);
      o.desc = &plain;
      o.op = &unchanged(o);
      check_dense(o);
      run_dense(o);
      return out;
    });
  }

 private:
  static index length(checked_index size) {
    const index n = size.as("vector", "size");
    if (n < 0) fail(errc::shape, {"vector: size is ", n, "; give at least 0"});
    return n;
  }

  matrix<T> row_;
};

/// True at the vector's entries. It masks vectors, and as a column a dense of one column.
template <class T>
mask<vector<T>> structure(const vector<T>& container) {
  return {container, true, false};
}
/// True at the vector's entries that are not 0.
template <class T>
mask<vector<T>> values(const vector<T>& container) {
  require_values<T>();
  return {container, false, false};
}

/// @cond internal
template <class T>
inline constexpr bool is_bare_mask<vector<T>> = true;

template <class T>
void fill_in(mask_operand& out, const mask<vector<T>>& from) {
  fill_in(out, mask<matrix<T>>{from.container.as_row(), from.structural, from.complemented});
  out.is_vector = true;
}
/// @endcond

}  // namespace rig
