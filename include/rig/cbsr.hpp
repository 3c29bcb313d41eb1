#pragma once

/// @file
/// Matrices with k entries per row (MaxK): `cbsr`, `maxk`, `maxk_gradient`, `to_dense`.

#include <cstddef>
#include <span>
#include <utility>

#include "rig/buffer.hpp"
#include "rig/dense.hpp"
#include "rig/descriptor.hpp"
#include "rig/scalar.hpp"

namespace rig {

/// The greatest number of columns of a cbsr, because its indices have at most 16 bits.
inline constexpr index widest_cbsr = 65536;

/// The pattern of a cbsr: k stored places in every row of a rows×columns matrix.
///
/// Index p of row i is element i·k + p of a row-major array. Its elements are unsigned char for up
/// to 256 columns, otherwise unsigned short; the columns of a row ascend. Immutable: copies share
/// the memory.
/// @code
/// const auto retained = rig::cbsr_pattern::from(2, 4, 2, std::vector<rig::index>{1, 3, 0, 2});
/// std::printf("%d\n", retained.column(0, 1));  // 3
/// @endcode
class cbsr_pattern {
 public:
  /// 0×0.
  cbsr_pattern() = default;

  /// The number of rows.
  index rows() const { return rows_; }
  /// The number of columns.
  index columns() const { return columns_; }
  /// Entries per row.
  int k() const { return k_; }
  /// Stored entries: rows · k.
  std::size_t nnz() const { return static_cast<std::size_t>(rows_) * static_cast<std::size_t>(k_); }
  /// Bytes of an index: 1 or 2.
  int index_bytes() const { return columns_ <= 256 ? 1 : 2; }
  /// The indices, in memory of `where()`.
  const void* indices() const& { return indices_.data(); }
  /// Deleted because the memory of a temporary ends with its expression: name the pattern first.
  const void* indices() const&& = delete;
  /// The place of the indices.
  place where() const { return indices_.where(); }
  /// The stream that the indices belong to.
  void* stream() const { return indices_.stream(); }
  /// Column p of row i, without checks; only in host memory.
  index column(index i, int p) const {
    const int64 at = static_cast<int64>(i) * k_ + p;
    if (index_bytes() == 1) return indices_.data<const unsigned char>()[at];
    return indices_.data<const unsigned short>()[at];
  }

  /// The same pattern in another place: a copy, or shared memory if it is already there. Throws
  /// error: place, out_of_memory.
  cbsr_pattern to(place target) const;

  /// A pattern with uninitialised indices for a kernel to fill. Throws error: range, unless 1 ≤ k ≤
  /// columns ≤ 65 536; shape, place, out_of_memory.
  static cbsr_pattern uninitialised(checked_index rows, checked_index columns, checked_index k,
                                    place where = cpu(), void* stream = nullptr);
  /// @cond internal
  /// The same over memory that one call allocates and frees, as `buffer::temporary`.
  static cbsr_pattern temporary(checked_index rows, checked_index columns, checked_index k,
                                place where, void* stream);
  /// @endcond
  /// Copies rows · k column indices, row by row. Throws error: shape; range and order, with the row
  /// and the columns; out_of_memory.
  static cbsr_pattern from(checked_index rows, checked_index columns, checked_index k,
                           std::span<const index> indices);

 private:
  /// Of these numbers, with indices in memory that `allocate` returns.
  cbsr_pattern(index rows, index columns, index k, place where, void* stream,
               buffer (*allocate)(std::size_t, place, void*));

  cleared_by_move<index> rows_, columns_;
  cleared_by_move<int> k_;
  buffer indices_;
};

/// A matrix with exactly k stored entries per row (compressed balanced sparse row), as `maxk`
/// returns it.
///
/// Values and indices are row-major rows×k arrays (see `cbsr_pattern`). Immutable: copies share the
/// memory, and results over one pattern share its indices. It can be B of `mxm`, and its
/// `structure` a mask. A regular value, in one place. T: float, double, half, bfloat16.
/// Source: Peng et al., MaxK-GNN, ASPLOS 2024; 16-bit indices are rig's addition.
/// @code
/// const rig::cbsr<float> retained = rig::maxk(X, 2);
/// const auto product = rig::mxm(A, retained, rig::plus_times<float>{});
/// @endcode
template <class T>
requires(is_float<T> || is_small_float<T>) class cbsr {
 public:
  /// The type of the elements.
  using value_type = T;

  /// 0×0.
  cbsr() = default;
  /// Values over a pattern in the same place; shares both. Throws error: shape, place.
  cbsr(cbsr_pattern structure, buffer values)
      : structure_(std::move(structure)), values_(std::move(values)) {
    if (values_.bytes() != structure_.nnz() * sizeof(T))
      fail(errc::shape, {"cbsr: ", structure_.nnz(), " entries need ", structure_.nnz() * sizeof(T),
                         " bytes of values, got ", values_.bytes()});
    if (values_.where() != structure_.where())
      fail(errc::place,
           {"cbsr: the pattern is on ", to_string(structure_.where()), ", the values are on ",
            to_string(values_.where()), "; copy one with .to()"});
  }
  /// Copies rows · k values and their columns, row by row. Throws error: shape, out_of_memory;
  /// range or order if k, columns or indices break the rules of `cbsr_pattern`.
  static cbsr from(checked_index rows, checked_index columns, checked_index k,
                   std::span<const T> values, std::span<const index> indices);
  /// Uninitialised values over a shared pattern, for a result. Throws error(out_of_memory).
  static cbsr uninitialised(const cbsr_pattern& structure, void* stream = nullptr) {
    return {structure, buffer::allocate(structure.nnz() * sizeof(T), structure.where(), stream)};
  }

  /// The number of rows.
  index rows() const { return structure_.rows(); }
  /// The number of columns.
  index columns() const { return structure_.columns(); }
  /// Entries per row.
  int k() const { return structure_.k(); }
  /// Bytes of an index: 1 or 2.
  int index_bytes() const { return structure_.index_bytes(); }
  /// The pattern, which other values may share.
  const cbsr_pattern& structure() const& { return structure_; }
  /// The pattern of a temporary.
  cbsr_pattern structure() const&& { return structure_; }
  /// The values, in memory of `where()`: value p of row i is values()[i·k + p], in column
  /// structure().column(i, p).
  const T* values() const& { return values_.data<const T>(); }
  /// Deleted because the memory of a temporary ends with its expression: name the cbsr first.
  const T* values() const&& = delete;
  /// The indices, as `cbsr_pattern::indices` returns them.
  const void* indices() const& { return structure_.indices(); }
  /// Deleted for the same reason.
  const void* indices() const&& = delete;
  /// The place of values and indices.
  place where() const { return structure_.where(); }
  /// The stream that the values belong to; the indices belong to structure().stream().
  void* stream() const { return values_.stream(); }

  /// The same matrix in another place: a copy, or shared memory if it is already there. A copy to a
  /// device may still run on return. Throws error: place, out_of_memory.
  cbsr to(place target) const {
    if (target == where()) return *this;
    return {structure_.to(target), values_.to(target)};
  }

 private:
  cbsr_pattern structure_;
  buffer values_;
};

/// MaxK, a nonlinearity that makes features sparse: keeps the k greatest numbers of every row.
///
///   C(i,j) = X(i,j) if fewer than k numbers of row i precede it, else no entry
///
/// Greater numbers precede smaller ones, by signed value; among equal numbers the lower column
/// precedes. NaN precedes every number, so it propagates; −0 equals +0. Retained numbers keep their
/// bits. Shapes: X m×f; C m×f with k entries per row; 1 ≤ k ≤ f ≤ 65 536. Deterministic for any
/// number of threads; uses only threads and stream of `desc`. Places: all.
/// Cost: O(rows · f), times at most the bits of a number; on the CPU f numbers per thread. Throws
/// error: range, out_of_memory. Source: MaxK-GNN, ASPLOS 2024, whose kernel bisects for a pivot and
/// may keep fewer than k if numbers tie.
/// @code
/// const rig::cbsr<float> retained = rig::maxk(X, 2);
/// const auto product = rig::mxm(A, retained, rig::plus_times<float>{});
/// @endcode
template <class T>
requires(is_float<T> || is_small_float<T>) cbsr<T> maxk(const dense<T>& x, checked_index k,
                                                        const descriptor& desc = {});

/// The gradient of `maxk`: the incoming gradient at the entries that `maxk` retained.
///
///   C(i,j) = dY(i,j) if `retained` has entry (i,j); elsewhere the gradient is 0 (see `to_dense`)
///
/// Shapes: dY as `retained`, whose indices C shares. Deterministic. Places: all. Cost: O(rows · k).
/// Throws error: shape, place, out_of_memory. For the gradient of a product A·Y, `mxm` under
/// structure(Y) computes only these entries. Source: MaxK-GNN.
/// @code
/// const auto retained = rig::maxk(X, 2);
/// const auto dX = rig::to_dense(rig::maxk_gradient(dC, retained));
/// @endcode
template <class T>
requires(is_float<T> || is_small_float<T>) cbsr<T> maxk_gradient(const dense<T>& dy,
                                                                 const cbsr_pattern& retained);
/// The same at the entries of a cbsr, whose values are not read.
template <class T, class U>
cbsr<T> maxk_gradient(const dense<T>& dy, const cbsr<U>& retained) {
  return maxk_gradient(dy, retained.structure());
}

/// The same matrix as a dense, with 0 in places that are not stored. Places: all. Cost: O(rows ·
/// columns). Throws error: out_of_memory.
/// @code
/// const auto sparse = rig::maxk(X, 2);
/// const rig::dense<float> full = rig::to_dense(sparse);
/// @endcode
template <class T>
requires(is_float<T> || is_small_float<T>) dense<T> to_dense(const cbsr<T>& x);

}  // namespace rig
