#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "rig/buffer.hpp"
#include "rig/error.hpp"
#include "rig/scalar.hpp"

namespace rig {

/// Copies `rows` rows of `bytes` bytes, `to_stride` and `from_stride` bytes apart, within a place
/// and in the order of a stream, and of the source's where that is another.
void copy_rows(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
               std::size_t bytes, index rows, place where, void* stream, void* source = nullptr);

/// A row-major dense matrix: element (i, j) is data()[i·stride() + j]. n×1 is a dense vector.
///
/// A regular value: copies are deep and own their memory; moves are cheap. Views borrow memory of
/// the caller, who keeps it alive; asking a view of const memory for memory to write is
/// error(read_only).
template <class T>
class dense {
  static_assert(std::is_trivially_copyable_v<T>,
                "the elements of a dense are trivially copyable: rig copies their bytes");

 public:
  using value_type = T;

  dense() = default;
  /// rows×columns, every element `value`.
  dense(index rows, index columns, T value = T()) : dense(uninitialised(rows, columns)) {
    std::fill_n(data_, element_count(), value);
  }
  /// rows×columns, elements indeterminate.
  static dense uninitialised(index rows, index columns, place where = cpu(),
                             void* stream = nullptr) {
    check_shape(rows, columns, columns);
    dense made;
    made.rows_ = rows;
    made.columns_ = columns;
    made.stride_ = columns;
    // Fewer than 2^62 elements may still be more bytes than a size_t counts.
    if (made.element_count() > SIZE_MAX / sizeof(T))
      fail(errc::out_of_memory,
           {"dense: out of memory: ", rows, "x", columns, " elements of ", sizeof(T), " bytes"});
    made.owner_ = buffer::allocate(made.element_count() * sizeof(T), where, stream);
    made.data_ = made.owner_.template data<T>();
    return made;
  }
  /// Copies rows·columns elements, row by row.
  static dense from(index rows, index columns, std::span<const T> elements) {
    check_shape(rows, columns, columns);
    const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    if (elements.size() != count)
      fail(errc::shape,
           {"dense: ", rows, "x", columns, " needs ", count, " elements, got ", elements.size()});
    dense made = uninitialised(rows, columns);
    std::copy(elements.begin(), elements.end(), made.data_);
    return made;
  }
  /// Borrows memory of the caller; `stride` elements from row to row (0: columns).
  static dense view(T* data, index rows, index columns, int64 stride = 0, place where = cpu(),
                    void* stream = nullptr) {
    if (stride == 0) stride = columns;
    check_shape(rows, columns, stride);
    if (data == nullptr && rows > 0 && columns > 0)
      fail(errc::range, {"dense: a view of ", rows, "x", columns, " elements at a null pointer"});
    dense made;
    made.rows_ = rows;
    made.columns_ = columns;
    made.stride_ = stride;
    made.data_ = data;
    made.owner_ = buffer::borrow(data, made.extent(), where, stream);
    return made;
  }
  static dense view(const T* data, index rows, index columns, int64 stride = 0, place where = cpu(),
                    void* stream = nullptr) {
    dense made = view(const_cast<T*>(data), rows, columns, stride, where, stream);
    made.read_only_ = true;
    return made;
  }

  dense(const dense& other) : dense(other.packed()) {}
  dense(dense&& other) noexcept { swap(other); }
  dense& operator=(dense other) noexcept {
    swap(other);
    return *this;
  }
  ~dense() = default;

  index rows() const { return rows_; }
  index columns() const { return columns_; }
  int64 stride() const { return stride_; }
  place where() const { return owner_.where(); }
  void* stream() const { return owner_.stream(); }
  bool read_only() const { return read_only_; }
  /// Bytes from the first element to the end of the last row.
  std::size_t extent() const {
    if (rows_ == 0 || columns_ == 0) return 0;
    return (static_cast<std::size_t>(rows_ - 1) * static_cast<std::size_t>(stride_) +
            static_cast<std::size_t>(columns_)) *
           sizeof(T);
  }

  const T* data() const { return data_; }
  T* data() {
    if (read_only_)
      fail(errc::read_only, {"dense: ", rows_, "x", columns_, " is a read-only view"});
    return data_;
  }
  const T* row(index i) const { return data_ + i * stride_; }
  T* row(index i) { return data() + i * stride_; }
  /// Element (i, j), unchecked.
  const T& operator()(index i, index j) const { return data_[i * stride_ + j]; }
  T& operator()(index i, index j) { return data_[i * stride_ + j]; }

  /// A copy in a place, its rows packed. To a device it returns while the copy runs on.
  dense to(place target) const {
    if (target == where()) return *this;
    if (stride_ != columns_) return packed().to(target);
    dense made;
    made.rows_ = rows_;
    made.columns_ = columns_;
    made.stride_ = columns_;
    made.owner_ = owner_.to(target);
    made.data_ = made.owner_.template data<T>();
    return made;
  }

 private:
  static void check_shape(index rows, index columns, int64 stride) {
    if (rows < 0 || columns < 0)
      fail(errc::shape, {"dense: ", rows, "x", columns, " is not a shape"});
    if (stride < columns)
      fail(errc::shape, {"dense: stride ", stride, " is less than ", columns, " columns"});
  }
  dense packed() const {
    dense made = uninitialised(rows_, columns_, where(), owner_for(where(), stream()));
    if (where() == cpu())
      for (index i = 0; i < rows_; ++i)
        std::copy_n(row(i), columns_, made.data_ + i * made.stride_);
    else
      copy_rows(made.data_, made.stride_ * sizeof(T), data_, stride_ * sizeof(T),
                columns_ * sizeof(T), rows_, where(), made.stream(), stream());
    return made;
  }
  std::size_t element_count() const {
    return static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_);
  }
  void swap(dense& other) noexcept {
    std::swap(rows_, other.rows_);
    std::swap(columns_, other.columns_);
    std::swap(stride_, other.stride_);
    std::swap(data_, other.data_);
    std::swap(owner_, other.owner_);
    std::swap(read_only_, other.read_only_);
  }

  index rows_ = 0, columns_ = 0;
  int64 stride_ = 0;
  T* data_ = nullptr;
  buffer owner_;
  bool read_only_ = false;
};

/// What arg-max and arg-min give: two arrays of one shape. An index of −1 marks a place without
/// products.
template <class T>
struct indexed_dense {
  dense<T> values;
  dense<int32> indices;
};

}  // namespace rig
