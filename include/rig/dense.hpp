#pragma once

/// @file
/// Dense matrices: `dense`, and `indexed_dense` for arg-max and arg-min.

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "rig/buffer.hpp"
#include "rig/checked_index.hpp"

namespace rig {

/// @cond internal
/// Copies `rows` rows of `bytes` bytes, `to_stride` and `from_stride` bytes apart, within a place.
/// The copy follows the order of `stream`, and of `source` if the source belongs to another stream.
void copy_rows(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
               std::size_t bytes, index rows, place where, void* stream, void* source = nullptr);
/// @endcond

/// A row-major dense matrix: element (i, j) is data()[i·stride() + j]. An n×1 matrix is a dense
/// vector.
///
/// A regular value: copies are deep and own their memory; moves are cheap. Views borrow memory that
/// the caller keeps alive. Views of const memory are read through const objects: every non-const
/// accessor throws error(read_only). If rows are packed (stride = columns), a dense in host memory
/// is a contiguous range of its elements, row by row.
/// Shapes: rows and columns < 2^31, and 0 is allowed. A T is trivially copyable. Places: all; only
/// `to` copies between places.
/// @code
/// auto features = rig::dense<float>::from(2, 2, std::vector<float>{1, 2, 3, 4});
/// features(0, 1) = 5;
/// @endcode
template <class T>
class dense {
  static_assert(std::is_trivially_copyable_v<T>,
                "the elements of a dense are trivially copyable: rig copies their bytes");

 public:
  /// The type of the elements.
  using value_type = T;

  /// 0×0.
  dense() = default;
  /// A rows×columns matrix in host memory, every element `value`. Throws error: shape; range, for a
  /// value that an integer T cannot hold; out_of_memory.
  dense(checked_index rows, checked_index columns, argument<T> value = T())
      : dense(uninitialised(rows, columns)) {
    const T element = read_argument<T>(value, "dense", "value");
    for (std::size_t i = 0, count = element_count(); i < count; ++i) data_[i] = element;
  }
  /// A rows×columns matrix with uninitialised elements. On a device it belongs to `stream` (null:
  /// rig's stream of the device). Throws error: shape, place, out_of_memory; cannot, for
  /// cudaStreamPerThread.
  static dense uninitialised(checked_index rows, checked_index columns, place where = cpu(),
                             void* stream = nullptr) {
    check_shape(rows, columns);
    dense made;
    made.rows_ = rows;
    made.columns_ = columns;
    made.stride_ = columns;
    // Fewer than 2^62 elements may still have more bytes than a size_t can count.
    if (made.element_count() > SIZE_MAX / sizeof(T))
      fail(errc::out_of_memory,
           {"dense: out of memory: ", rows, "x", columns, " elements of ", sizeof(T), " bytes"});
    made.owner_ = buffer::allocate(made.element_count() * sizeof(T), where, stream);
    made.data_ = made.owner_.template data<T>();
    return made;
  }
  /// Copies rows·columns elements, row by row, into host memory. Throws error: shape,
  /// out_of_memory.
  static dense from(checked_index rows, checked_index columns, std::span<const T> elements) {
    check_shape(rows, columns);
    const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    if (elements.size() != count)
      fail(errc::shape,
           {"dense: ", rows, "x", columns, " needs ", count, " elements, got ", elements.size()});
    dense made = uninitialised(rows, columns);
    copy_rows(made.data_, 0, elements.data(), 0, elements.size_bytes(), 1, cpu(), nullptr);
    return made;
  }
  /// Borrows memory of the caller; rows are `stride` elements apart (0: columns). On a device it is
  /// used in the order of `stream`; null is rig's own stream, not CUDA's default stream, which is
  /// cudaStreamLegacy. Throws error: shape, if the stride is less than `columns`; range, for a null
  /// pointer to elements; place; cannot, for cudaStreamPerThread.
  /// @code
  /// std::vector<float> numbers(6);
  /// auto view = rig::dense<float>::view(numbers.data(), 2, 3);
  /// @endcode
  static dense view(T* data, checked_index rows, checked_index columns, int64 stride = 0,
                    place where = cpu(), void* stream = nullptr) {
    check_shape(rows, columns);
    if (stride == 0) stride = columns;
    if (stride < columns)
      fail(errc::shape, {"dense: stride ", stride, " is less than ", columns,
                         " columns; give at least that, or 0"});
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
  /// The same over const memory: a read-only view.
  static dense view(const T* data, checked_index rows, checked_index columns, int64 stride = 0,
                    place where = cpu(), void* stream = nullptr) {
    dense made = view(const_cast<T*>(data), rows, columns, stride, where, stream);
    made.read_only_ = true;
    return made;
  }

  /// A deep copy in the same place, with packed rows. Throws error(out_of_memory).
  dense(const dense& other) : dense(other.packed()) {}
  /// Leaves `other` 0×0.
  dense(dense&& other) noexcept { swap(other); }
  /// Copies deeply or moves; a view is replaced, and the memory that it borrowed is not written.
  dense& operator=(dense other) noexcept {
    swap(other);
    return *this;
  }
  ~dense() = default;

  /// The number of rows.
  index rows() const { return rows_; }
  /// The number of columns.
  index columns() const { return columns_; }
  /// Elements from the start of a row to the start of the next.
  int64 stride() const { return stride_; }
  /// The place of the elements.
  place where() const { return owner_.where(); }
  /// The stream that the elements belong to; null on the CPU.
  void* stream() const { return owner_.stream(); }
  /// Whether this is a view of const memory.
  bool read_only() const { return read_only_; }
  /// Bytes from the first element to the end of the last row.
  std::size_t extent() const {
    if (rows_ == 0 || columns_ == 0) return 0;
    return (static_cast<std::size_t>(rows_ - 1) * static_cast<std::size_t>(stride_) +
            static_cast<std::size_t>(columns_)) *
           sizeof(T);
  }

  /// The first element, in memory of `where()`.
  const T* data() const& { return data_; }
  /// The same for writing. Throws error(read_only).
  T* data() & {
    if (read_only_) refuse_to_write();
    return data_;
  }
  /// Element (i, j); place, i and j are unchecked, and the matrix must be in host memory. Loops
  /// that write are faster over `row` or `span`, because these check for a read-only view once.
  const T& operator()(index i, index j) const& { return data_[i * stride_ + j]; }
  /// The same for writing. Throws error(read_only).
  T& operator()(index i, index j) & { return data()[i * stride_ + j]; }
  /// The same of a temporary, as a copy.
  T operator()(index i, index j) const&& { return data_[i * stride_ + j]; }

  /// Row i, unchecked. Throws error(place) unless the matrix is in host memory.
  std::span<const T> row(index i) const& { return row_at(data(), i); }
  /// The same for writing. Throws error: place, read_only.
  std::span<T> row(index i) & { return row_at(data(), i); }
  /// All elements. Throws error: place, unless the matrix is in host memory; shape, unless rows are
  /// packed.
  std::span<const T> span() const& { return all_at(data()); }
  /// The same for writing. Throws error: place, shape, read_only.
  std::span<T> span() & { return all_at(data()); }
  /// The start of `span()`.
  const T* begin() const& { return span().data(); }
  /// The start of `span()` for writing.
  T* begin() & { return span().data(); }
  /// The end of `span()`.
  const T* end() const& { return begin() + element_count(); }
  /// The end of `span()` for writing.
  T* end() & { return begin() + element_count(); }
  /// Deleted because the memory of a temporary ends with its expression: name the dense first.
  const T* data() const&& = delete;
  /// Deleted for the same reason.
  std::span<const T> row(index i) const&& = delete;
  /// Deleted for the same reason.
  std::span<const T> span() const&& = delete;
  /// Deleted for the same reason.
  const T* begin() const&& = delete;
  /// Deleted for the same reason.
  const T* end() const&& = delete;

  /// A copy in a place, with packed rows. A copy to a device may still run on return. Throws error:
  /// place, out_of_memory.
  /// @code
  /// const auto on_gpu = B.to(rig::cuda(0));
  /// const auto back = on_gpu.to(rig::cpu());
  /// @endcode
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

  /// Whether shapes and elements are equal. Elements compare by their ==, so NaN is not equal.
  /// Places: all; elements on a device are copied to the host.
  friend bool operator==(const dense& x, const dense& y) requires comparable<T> {
    if (x.rows_ != y.rows_ || x.columns_ != y.columns_) return false;
    if (x.where() != cpu()) return x.to(cpu()) == y;
    if (y.where() != cpu()) return x == y.to(cpu());
    for (index i = 0; i < x.rows_; ++i)
      for (index j = 0; j < x.columns_; ++j)
        if (!is_equal(x(i, j), y(i, j))) return false;
    return true;
  }

  /// @cond internal
  /// A read-only view that keeps the memory alive.
  dense sharing() const {
    dense made;
    made.rows_ = rows_;
    made.columns_ = columns_;
    made.stride_ = stride_;
    made.data_ = data_;
    made.owner_ = owner_;
    made.read_only_ = true;
    return made;
  }
  /// @endcond

 private:
  static void check_shape(checked_index rows, checked_index columns) {
    if (rows.as("dense", "rows") < 0 || columns.as("dense", "columns") < 0)
      fail(errc::shape,
           {"dense: ", rows, "x", columns, " is not a shape; rows and columns must be at least 0"});
  }
  dense packed() const {
    dense made = uninitialised(rows_, columns_, where(), owner_for(where(), stream()));
    const auto bytes = [](int64 elements) {
      return static_cast<std::size_t>(elements) * sizeof(T);
    };
    copy_rows(made.data_, bytes(made.stride_), data_, bytes(stride_), bytes(columns_), rows_,
              where(), made.stream(), stream());
    return made;
  }
  [[noreturn, gnu::noinline]] void refuse_to_write() const {
    fail(errc::read_only,
         {"dense: ", rows_, "x", columns_,
          " is a read-only view; read it through std::as_const, or write to a copy"});
  }
  void require_host() const {
    if (where() != cpu())
      fail(errc::place, {"dense: ", rows_, "x", columns_, " is on ", to_string(where()),
                         ", not on cpu; copy it with .to()"});
  }
  template <class Element>
  std::span<Element> row_at(Element* first, index i) const {
    require_host();
    return {first + i * stride_, static_cast<std::size_t>(columns_)};
  }
  template <class Element>
  std::span<Element> all_at(Element* first) const {
    require_host();
    if (stride_ != columns_ && rows_ > 1 && columns_ > 0)
      fail(errc::shape,
           {"dense: the rows of ", rows_, "x", columns_, " are ", stride_,
            " elements apart; read each with row(i), or make a copy, which is packed"});
    return {first, element_count()};
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
/// @cond internal
template <class T>
dense(checked_index, checked_index, T) -> dense<T>;
/// @endcond

/// The result of arg-max and arg-min: two arrays of one shape. Index −1 marks a place without
/// products.
/// @code
/// const auto pool = rig::mxm(A, B, rig::arg_max_second<float>{});
/// std::printf("%g from node %d\n", pool.values(0, 0), pool.indices(0, 0));
/// @endcode
template <class T>
struct indexed_dense {
  using value_type = T;  ///< the type of its values
  dense<T> values;       ///< the extreme values, or the fill
  dense<int32> indices;  ///< the inner index k that gave each value, or −1
  /// Whether values and indices are equal.
  friend bool operator==(const indexed_dense& x, const indexed_dense& y) requires comparable<T> {
    return x.values == y.values && x.indices == y.indices;
  }
};

}  // namespace rig
