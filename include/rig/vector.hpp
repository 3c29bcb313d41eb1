#pragma once

/// @file
/// The sparse vector.

#include <optional>

#include "rig/dense.hpp"
#include "rig/mask.hpp"
#include "rig/matrix.hpp"

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
  vector() = default;
  /// Of `size` places and no entry.
  explicit vector(index size) : row_(1, size) {}
  /// The row of a 1×n matrix. Throws error(shape) for another number of rows.
  explicit vector(matrix<T> row) : row_(std::move(row)) {
    if (row_.rows() != 1 && row_.columns() != 0)
      fail(errc::shape, {"vector: a matrix of ", row_.rows(), "x", row_.columns(),
                         " is not one row; extract a row of it"});
  }

  /// An iso vector with entries at these indices, which have any integer type and any order. Throws
  /// error: range; duplicate, unless `merge_duplicates`.
  static vector from_indices(index size, const integers& indices, T iso = T(1),
                             bool merge_duplicates = false) {
    return or_out_of_memory("vector", [&] {
      const std::vector<index> rows(indices.size());
      return vector(matrix<T>::from_positions(1, size, rows, indices, iso, merge_duplicates));
    });
  }
  /// Entries values[p] at indices[p], in any order. Throws error: shape, range, duplicate.
  static vector from_tuples(index size, const integers& indices, std::span<const T> values) {
    return or_out_of_memory("vector", [&] {
      const std::vector<index> rows(indices.size());
      return vector(matrix<T>::from_tuples(1, size, rows, indices, values));
    });
  }
  /// The same, except that `combine(x, y)` folds duplicates in input order.
  template <class Combine>
  requires std::invocable<Combine, T, T>
  static vector from_tuples(index size, const integers& indices, std::span<const T> values,
                            Combine combine) {
    return or_out_of_memory("vector", [&] {
      const std::vector<index> rows(indices.size());
      return vector(matrix<T>::from_tuples(1, size, rows, indices, values, combine));
    });
  }
  /// A vector with every entry: the elements of an n×1 dense on the CPU, copied. Throws error:
  /// shape, place.
  static vector from(const dense<T>& elements) {
    if (elements.columns() != 1)
      fail(errc::shape,
           {"vector: a dense of ", elements.rows(), "x", elements.columns(), " is not one column"});
    if (elements.where() != cpu())
      fail(errc::place, {"vector: the dense is on ", to_string(elements.where()),
                         ", not on cpu; copy it with .to()"});
    return or_out_of_memory("vector", [&] {
      std::vector<index> indices(static_cast<std::size_t>(elements.rows()));
      buffer values = buffer::allocate(indices.size() * sizeof(T));
      for (index i = 0; i < elements.rows(); ++i) {
        indices[static_cast<std::size_t>(i)] = i;
        values.template data<T>()[i] = elements(i, 0);
      }
      const int64 offsets[] = {0, elements.rows()};
      return vector(
          matrix<T>(pattern_from_csr(1, elements.rows(), offsets, indices, input::trusted),
                    std::move(values)));
    });
  }
  /// A view of ascending indices (of 4 bytes) and values without a copy; the caller keeps them
  /// alive and unchanged while any copy of the vector lives.
  static vector view(index size, std::span<const index> indices, std::span<const T> values,
                     input how = input::checked) {
    return or_out_of_memory("vector", [&] {
      const int64 offsets[] = {0, static_cast<int64>(indices.size())};
      bool offsets_64 = false;
      buffer packed = pack_offsets(offsets, offsets_64);
      const auto whole =
          matrix<T>::view(1, size, std::span<const int64>(offsets), indices, values, how);
      return vector(
          matrix<T>(std::make_shared<const pattern>(
                        1, size, static_cast<int64>(indices.size()), std::move(packed), offsets_64,
                        buffer::borrow(const_cast<index*>(indices.data()), indices.size_bytes())),
                    buffer::borrow(const_cast<T*>(whole.values()), values.size_bytes())));
    });
  }

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
  const index* indices() const { return row_.structure().column_indices(); }
  /// One value per entry; null for an iso vector.
  const T* values() const { return row_.values(); }
  /// The value of entry p; only for a vector on the CPU.
  T value(int64 p) const { return row_.value(p); }
  /// The same vector as a 1×n matrix; shares everything.
  const matrix<T>& as_row() const { return row_; }

  /// The same vector in another place; shares everything if it is already there.
  vector to(place target) const { return vector(row_.to(target)); }
  /// An n×1 dense on the CPU: `absent` where the vector has no entry. Throws error(place) for a
  /// vector on a device.
  dense<T> to_dense(T absent = T()) const {
    if (where() != cpu())
      fail(errc::place, {"vector: to_dense of a vector on ", to_string(where()),
                         "; copy it with .to(cpu()) first"});
    dense<T> out(size(), 1, absent);
    for (int64 p = 0; p < nnz(); ++p) out(indices()[p], 0) = value(p);
    return out;
  }

 private:
  matrix<T> row_{1, 0};
};

/// True at the vector's entries.
template <class T>
mask<matrix<T>> structure(const vector<T>& container) {
  return {container.as_row(), true, false};
}
/// True at the vector's entries that are not 0.
template <class T>
mask<matrix<T>> values(const vector<T>& container) {
  return {container.as_row(), false, false};
}

}  // namespace rig
