#pragma once

/// @file
/// Sparse matrices: `matrix`.

#include <concepts>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "rig/descriptor.hpp"
#include "rig/entries.hpp"
#include "rig/pattern.hpp"

namespace rig {

template <class T>
class dense;

/// A sparse matrix: immutable CSR with ascending columns, cheap to copy because copies share
/// everything. An iso matrix has no value array: all its entries have one value. An unweighted
/// graph is an iso matrix of ones.
///
/// Shapes: rows and columns < 2^31; the number of entries is limited only by memory. Explicit zeros
/// are entries. A matrix lives in one place; only `to` copies between places. Concurrent use of
/// shared matrices is safe.
/// @code
/// const std::vector<int> i{0, 1, 1}, j{1, 0, 2};
/// const auto graph = rig::matrix<float>::from_positions(3, 3, i, j);
/// @endcode
template <class T>
class matrix {
  static_assert(std::is_trivially_copyable_v<T>,
                "the values of a matrix are trivially copyable: rig copies their bytes");

 public:
  /// The type of the values.
  using value_type = T;

  /// 0×0.
  matrix() : matrix(0, 0) {}

  /// rows×columns without entries; many rows take address space and no memory. Throws error: shape,
  /// out_of_memory.
  template <std::convertible_to<checked_index> Rows, std::convertible_to<checked_index> Columns>
  matrix(const Rows& rows, const Columns& columns)
      : structure_(pattern_without_entries(rows, columns)) {}

  /// Shares the pattern and the values.
  matrix(const matrix&) = default;
  /// Leaves `other` 0×0.
  matrix(matrix&& other) noexcept : structure_(empty_pattern()) { swap(other); }
  /// Shares or moves.
  matrix& operator=(matrix other) noexcept {
    swap(other);
    return *this;
  }
  ~matrix() = default;

  /// An iso matrix on an existing pattern. Throws error(range) if that is null, or an integer T
  /// cannot hold the number.
  explicit matrix(std::shared_ptr<const pattern> structure, argument<T> iso = T(1))
      : structure_(given(std::move(structure))), iso_(read_argument<T>(iso, "matrix", "iso")) {}

  /// A matrix from a pattern and one value per entry (values.bytes() = nnz·sizeof(T), same place).
  /// Throws error: range, if the pattern is null; shape, place.
  matrix(std::shared_ptr<const pattern> structure, buffer values)
      : structure_(given(std::move(structure))), values_(std::move(values)), is_iso_(false) {
    const auto expected = static_cast<std::size_t>(structure_->nnz()) * sizeof(T);
    if (values_.bytes() != expected)
      fail(errc::shape, {"matrix: ", structure_->nnz(), " entries need ", expected,
                         " bytes of values, got ", values_.bytes()});
    if (values_.where() != structure_->where())
      fail(errc::place,
           {"matrix: the pattern is on ", to_string(structure_->where()), ", the values are on ",
            to_string(values_.where()), "; copy one with .to()"});
  }

  /// A matrix with every entry: the elements of a dense, copied in its place. The second form
  /// leaves out the elements that equal `without`; NaN equals nothing. Needs
  /// `rig/conversions.hpp`. Cost: O(elements). Throws error: range, if T cannot hold `without`;
  /// out_of_memory.
  /// @code
  /// const auto every = rig::matrix<float>::from(B);
  /// const auto sparse = rig::matrix<float>::from(B, 0);
  /// @endcode
  static matrix from(const dense<T>& elements);
  /// The same without the elements that equal `without`.
  static matrix from(const dense<T>& elements, argument<T> without);

  /// Builds a matrix from tuples (i[p], j[p], v[p]) in any order; positions have any integer type.
  /// Throws error: duplicate, if two tuples have one position; shape, range, out_of_memory.
  /// @code
  /// const std::vector<int> i{0, 1, 1}, j{1, 0, 2};
  /// const auto graph = rig::matrix<float>::from_tuples(3, 3, i, j, std::vector<float>{2, 3, 4});
  /// @endcode
  static matrix from_tuples(checked_index rows, checked_index columns, const integers& i,
                            const integers& j, std::span<const T> v) {
    return build(rows, columns, i, j, v, false, [](const T& x, const T&) { return x; });
  }
  /// The same, except that `combine(x, y)` folds duplicates in input order.
  /// @code
  /// const std::vector<int> i{0, 0}, j{1, 1};
  /// auto five = rig::matrix<int>::from_tuples(2, 2, i, j, std::vector<int>{2, 3}, std::plus<>{});
  /// @endcode
  template <class Combine>
  requires std::invocable<Combine, T, T>
  static matrix from_tuples(checked_index rows, checked_index columns, const integers& i,
                            const integers& j, std::span<const T> v, Combine combine) {
    return build(rows, columns, i, j, v, true, combine);
  }

  /// An iso matrix from positions. With `merge_duplicates`, repeated positions become one entry;
  /// otherwise they are error(duplicate). Throws as `from_tuples`.
  /// @code
  /// const std::vector<int> i{0, 1, 1}, j{1, 0, 2};
  /// const auto graph = rig::matrix<float>::from_positions(3, 3, i, j);
  /// @endcode
  static matrix from_positions(checked_index rows, checked_index columns, const integers& i,
                               const integers& j, argument<T> iso = T(1),
                               bool merge_duplicates = false) {
    const T value = read_argument<T>(iso, "from_positions", "iso");
    return matrix(sort_tuples(rows, columns, i, j, merge_duplicates).structure, value);
  }

  /// Copies CSR arrays. Offsets and columns are vectors, arrays or spans of any integer type;
  /// narrowing is checked. Throws error: shape, range, order, duplicate, out_of_memory.
  /// @code
  /// const std::vector<int> offsets{0, 1, 3}, columns{1, 0, 2}, values{2, 3, 4};
  /// const auto graph = rig::matrix<int>::from_csr(2, 3, offsets, columns, values);
  /// @endcode
  static matrix from_csr(checked_index rows, checked_index columns, const integers& offsets,
                         const integers& entries, std::span<const T> values,
                         input how = input::checked) {
    std::vector<int64> order;
    auto structure = pattern_from_csr(rows, columns, offsets, entries, how, &order);
    check_length(*structure, values.size());
    buffer kept = buffer::allocate(values.size_bytes());
    T* out = kept.template data<T>();
    if (!order.empty())
      take_elements(values.data(), sizeof(T), order, out);
    else if (!values.empty())
      __builtin_memcpy(out, values.data(), values.size_bytes());
    return matrix(std::move(structure), std::move(kept));
  }
  /// The same without values: an iso matrix.
  static matrix from_csr(checked_index rows, checked_index columns, const integers& offsets,
                         const integers& entries, input how = input::checked,
                         argument<T> iso = T(1)) {
    const T value = read_argument<T>(iso, "from_csr", "iso");
    return matrix(pattern_from_csr(rows, columns, offsets, entries, how), value);
  }

  /// A view of CSR arrays without a copy; the caller keeps them alive and unchanged while any copy
  /// of the matrix lives, or a result with its pattern: of `apply`, or of a product under its
  /// `structure`. Offsets have 4 or 8 bytes each, columns 4; `from_csr` copies others. Arrays on a
  /// device must be `input::trusted`, with ascending columns, and are used in the order of `stream`
  /// (a cudaStream_t; null: rig's own stream, not CUDA's default stream, which is
  /// cudaStreamLegacy). Without values: `matrix<T>(pattern_view(…))`. Throws as `from_csr`, and
  /// error: type, for integers of other sizes; order, for `input::sorted`, because sorting would
  /// write; place, unless a device's arrays are trusted; cannot, for cudaStreamPerThread.
  /// @code
  /// const std::vector<int> offsets{0, 1, 3}, columns{1, 0, 2}, values{2, 3, 4};
  /// const auto graph = rig::matrix<int>::view(2, 3, offsets, columns, values);
  /// @endcode
  static matrix view(checked_index rows, checked_index columns, const integers& offsets,
                     const integers& entries, std::span<const T> values, input how = input::checked,
                     place where = cpu(), void* stream = nullptr) {
    auto structure = pattern_view(rows, columns, offsets, entries, how, where, stream);
    check_length(*structure, values.size());
    return matrix(std::move(structure), buffer::borrow(const_cast<T*>(values.data()),
                                                       values.size_bytes(), where, stream));
  }
  /// Deleted because temporary arrays would not outlive the call.
  template <class Offsets, class Columns, class Values>
  requires(is_temporary<Offsets> || is_temporary<Columns> || is_temporary<Values>) static matrix
      view(checked_index rows, checked_index columns, Offsets&& offsets, Columns&& entries,
           Values&& values, input how = input::checked, place where = cpu(),
           void* stream = nullptr) = delete;

  /// The number of rows.
  index rows() const { return structure_->rows(); }
  /// The number of columns.
  index columns() const { return structure_->columns(); }
  /// Stored entries.
  int64 nnz() const { return structure_->nnz(); }
  /// The place of pattern and values.
  place where() const { return structure_->where(); }
  /// Whether all entries have one value, which `iso_value` returns.
  bool iso() const { return is_iso_; }
  /// The value of every entry; only for an iso matrix.
  T iso_value() const { return iso_; }
  /// One value per entry; null for an iso matrix.
  const T* values() const& { return is_iso_ ? nullptr : values_.template data<T>(); }
  /// Deleted because the memory of a temporary ends with its expression: name the matrix first.
  const T* values() const&& = delete;
  /// The stream that the values belong to; null on the CPU and for an iso matrix.
  void* values_stream() const { return values_.stream(); }
  /// The value of entry p, in CSR order; only for a matrix on the CPU.
  T value(int64 p) const { return is_iso_ ? iso_ : values()[p]; }
  /// The pattern; that of a temporary may be read only in the same expression.
  const pattern& structure() const { return *structure_; }
  /// The pattern, for another matrix to share.
  const std::shared_ptr<const pattern>& shared_structure() const& { return structure_; }
  /// The pattern of a temporary, which it outlives.
  std::shared_ptr<const pattern> shared_structure() const&& { return structure_; }

  /// A matrix with the same pattern and derived structures, and other values: nnz of them, on the
  /// CPU, copied to the matrix's place. Throws error: shape, out_of_memory.
  /// @code
  /// const auto weighted = A.with_values(std::vector<float>(A.nnz(), 0.5f));
  /// @endcode
  template <std::ranges::contiguous_range Values>
  matrix<std::ranges::range_value_t<Values>> with_values(const Values& values) const {
    using element = std::ranges::range_value_t<Values>;
    const std::span<const element> from(values);
    check_length(*structure_, from.size());
    buffer given = buffer::borrow(const_cast<element*>(from.data()), from.size_bytes());
    if (where() != cpu()) return matrix<element>(structure_, given.to(where()));
    buffer kept = buffer::allocate(from.size_bytes());
    copy_rows(kept.data(), 0, from.data(), 0, from.size_bytes(), 1, cpu(), nullptr);
    return matrix<element>(structure_, std::move(kept));
  }
  /// A matrix with the same pattern and derived structures, and the value `iso` in every entry: of
  /// its type, or of a named one. Throws error(range) if an integer type cannot hold the number.
  /// @code
  /// const rig::matrix<float> ones = A.with_value(1.0f);
  /// @endcode
  template <class Named = void, class Number = Named>
  auto with_value(Number iso) const {
    using U = std::conditional_t<std::is_void_v<Named>, Number, Named>;
    return matrix<U>(structure_,
                     read_argument<U>(static_cast<argument<U>>(iso), "with_value", "iso"));
  }

  /// The entries, row by row, as a range of (row, column, value). Throws error(place) unless they
  /// are on the CPU.
  entry_range<T, matrix_entry<T>> entries() const { return entries_as<matrix_entry<T>>(); }
  /// @cond internal
  template <class Entry>
  entry_range<T, Entry> entries_as() const {
    return {structure_, values_, is_iso_, iso_};
  }
  /// @endcond

  /// Whether shapes, places of entries and values are equal; an iso matrix equals one that stores
  /// its value. Values compare by their ==, so NaN is not equal. Places: all; a matrix on a device
  /// is copied to the host.
  friend bool operator==(const matrix& x, const matrix& y) requires comparable<T> {
    if (x.where() != cpu()) return x.to(cpu()) == y;
    if (y.where() != cpu()) return x == y.to(cpu());
    if (!has_same_places(x.structure(), y.structure())) return false;
    if (x.iso() && y.iso()) return x.nnz() == 0 || is_equal(x.iso_, y.iso_);
    for (int64 p = 0; p < x.nnz(); ++p)
      if (!is_equal(x.value(p), y.value(p))) return false;
    return true;
  }

  /// The same matrix in another place, without its derived structures; shares everything if it is
  /// already there. A copy to a device may still run on return. Throws error: place, out_of_memory.
  /// @code
  /// const auto on_gpu = A.to(rig::cuda(0));
  /// @endcode
  matrix to(place target) const {
    if (target == where()) return *this;
    return or_out_of_memory("to", [&] {
      auto structure = structure_->to(target);
      return is_iso_ ? matrix(std::move(structure), iso_)
                     : matrix(std::move(structure), values_.to(target));
    });
  }

  /// Builds the derived structures that the first product with this descriptor would build, and
  /// waits for them. Structures for one kernel only (`maxk_backward`, `sell`, `spmv_panels`) are
  /// built if the descriptor names that kernel, otherwise by its first call. Before you capture a
  /// product in a CUDA graph, also make one like it: that loads its kernels, which depend on
  /// semiring, types and width. Throws error: unknown_kernel, out_of_memory.
  /// @code
  /// A.prepare({.transpose_a = true});
  /// const auto product = rig::mxm(A, B, rig::plus_times<float>{}, {.transpose_a = true});
  /// @endcode
  const matrix& prepare(const descriptor& desc = {}) const {
    or_out_of_memory("prepare",
                     [&] { prepare_derived(*structure_, desc.transpose_a, desc.kernel); });
    return *this;
  }
  /// The derived structures built so far, with their bytes. Throws error(out_of_memory).
  std::vector<derived_info> derived_structures() const { return structure_->derived_structures(); }
  /// Drops the derived structures of the pattern, also for the matrices that share it; calls that
  /// run keep theirs.
  void drop_derived() const { structure_->drop_derived(); }

 private:
  static std::shared_ptr<const pattern> given(std::shared_ptr<const pattern> structure) {
    if (structure == nullptr) fail(errc::range, {"matrix: the pattern is null"});
    return structure;
  }
  static void check_length(const pattern& structure, std::size_t count) {
    if (count != static_cast<std::size_t>(structure.nnz()))
      fail(errc::shape, {"matrix: there are ", structure.nnz(), " entries but ", count,
                         " values; give one value per entry"});
  }

  template <class Combine>
  static matrix build(checked_index rows, checked_index columns, const integers& i,
                      const integers& j, std::span<const T> v, bool duplicates_allowed,
                      Combine combine) {
    if (v.size() != i.size())
      fail(errc::shape, {"matrix: there are ", i.size(), " positions but ", v.size(),
                         " values; give one value per position"});
    sorted_tuples sorted = sort_tuples(rows, columns, i, j, duplicates_allowed);
    const auto count = static_cast<std::size_t>(sorted.structure->nnz());
    buffer values = buffer::allocate(count * sizeof(T));
    T* out = values.template data<T>();
    if (count == v.size())
      take_elements(v.data(), sizeof(T), sorted.order, out);
    else
      for (std::size_t p = 0; p < count; ++p) {
        auto q = static_cast<std::size_t>(sorted.groups[p]);
        const auto end = static_cast<std::size_t>(sorted.groups[p + 1]);
        T value = v[static_cast<std::size_t>(sorted.order[q])];
        while (++q < end) value = combine(value, v[static_cast<std::size_t>(sorted.order[q])]);
        out[p] = value;
      }
    return matrix(std::move(sorted.structure), std::move(values));
  }

  void swap(matrix& other) noexcept {
    std::swap(structure_, other.structure_);
    std::swap(values_, other.values_);
    std::swap(is_iso_, other.is_iso_);
    std::swap(iso_, other.iso_);
  }

  std::shared_ptr<const pattern> structure_;
  buffer values_;
  bool is_iso_ = true;
  T iso_{};
};
/// @cond internal
template <class T>
matrix(std::shared_ptr<const pattern>, T) -> matrix<T>;
/// @endcond

}  // namespace rig
