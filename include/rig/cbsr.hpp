#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "rig/buffer.hpp"
#include "rig/dense.hpp"
#include "rig/descriptor.hpp"
#include "rig/scalar.hpp"

namespace rig {

/// Most columns of a cbsr: its indices have at most 16 bits.
inline constexpr index widest_cbsr = 65536;

/// Which places of a rows×columns matrix a cbsr stores: k of every row.
///
/// Index p of row i is element i·k + p of a row-major array, of unsigned char up to 256 columns,
/// else of unsigned short; the columns of a row ascend. Immutable: copies share the memory.
class cbsr_pattern {
 public:
  cbsr_pattern() = default;

  index rows() const { return rows_; }
  index columns() const { return columns_; }
  int k() const { return k_; }
  /// Stored entries: rows · k.
  std::size_t nnz() const { return static_cast<std::size_t>(rows_) * static_cast<std::size_t>(k_); }
  /// Bytes of an index: 1 or 2.
  int index_bytes() const { return columns_ <= 256 ? 1 : 2; }
  /// Memory of the place.
  const void* indices() const { return indices_.data(); }
  place where() const { return indices_.where(); }
  /// The stream that the indices belong to.
  void* stream() const { return indices_.stream(); }
  /// Column p of row i, in host memory, unchecked.
  index column(index i, int p) const {
    const int64 at = static_cast<int64>(i) * k_ + p;
    if (index_bytes() == 1) return indices_.data<const unsigned char>()[at];
    return indices_.data<const unsigned short>()[at];
  }

  /// The same in another place, copied once; shared where it is there already.
  cbsr_pattern to(place target) const;

  /// The same with memory to fill, by a kernel that finds the indices. Throws error(range) unless
  /// 1 ≤ k ≤ columns ≤ 65 536.
  static cbsr_pattern uninitialised(index rows, index columns, int k, place where = cpu(),
                                    void* stream = nullptr);
  /// Copies rows · k columns, row by row. Throws error: shape; range and order, with the row and
  /// the columns.
  static cbsr_pattern from(index rows, index columns, int k, std::span<const index> indices);

 private:
  cleared_by_move<index> rows_, columns_;
  cleared_by_move<int> k_;
  buffer indices_;
};

/// A matrix with exactly k stored entries a row (compressed balanced sparse row): what `maxk`
/// makes.
///
/// Values and indices are row-major rows×k arrays; see `cbsr_pattern`. Immutable: copies share the
/// memory, and results over one pattern share its indices. It serves as B of `mxm`, and its
/// `structure` as a mask. A regular value, in one place. T: float, double, half, bfloat16.
/// Source: Peng et al., MaxK-GNN, ASPLOS 2024; indices of 16 bits are rig's.
template <class T>
requires(is_float<T> || is_small_float<T>) class cbsr {
 public:
  using value_type = T;

  cbsr() = default;
  /// Values over a pattern of the same place, both shared: what kernels make. Throws error: shape,
  /// place.
  cbsr(cbsr_pattern structure, buffer values)
      : structure_(std::move(structure)), values_(std::move(values)) {
    if (values_.bytes() != structure_.nnz() * sizeof(T))
      fail(errc::shape, {"cbsr: ", structure_.nnz(), " entries need ", structure_.nnz() * sizeof(T),
                         " bytes of values, got ", values_.bytes()});
    if (values_.where() != structure_.where())
      fail(errc::place, {"cbsr: the pattern is on ", to_string(structure_.where()),
                         ", the values are on ", to_string(values_.where())});
  }
  /// Copies rows · k values and their columns, row by row. Throws error: shape, out_of_memory, and
  /// range or order where k, columns or indices are not as a `cbsr_pattern` has them.
  static cbsr from(index rows, index columns, int k, std::span<const T> values,
                   std::span<const index> indices);
  /// Indeterminate values over a pattern that is shared: what results start as.
  static cbsr uninitialised(const cbsr_pattern& structure, void* stream = nullptr) {
    return {structure, buffer::allocate(structure.nnz() * sizeof(T), structure.where(), stream)};
  }

  index rows() const { return structure_.rows(); }
  index columns() const { return structure_.columns(); }
  int k() const { return structure_.k(); }
  int index_bytes() const { return structure_.index_bytes(); }
  const cbsr_pattern& structure() const { return structure_; }
  /// Memory of the place: value p of row i is values()[i·k + p], its column structure().column(i,
  /// p).
  const T* values() const { return values_.data<const T>(); }
  const void* indices() const { return structure_.indices(); }
  place where() const { return structure_.where(); }
  /// The stream that the values belong to; the indices have theirs, structure().stream().
  void* stream() const { return values_.stream(); }

  /// The same in another place, copied once; shared where it is there already. To a device it
  /// returns while the copies run on.
  cbsr to(place target) const {
    if (target == where()) return *this;
    return {structure_.to(target), values_.to(target)};
  }

 private:
  cbsr_pattern structure_;
  buffer values_;
};

/// MaxK, a nonlinearity that makes features sparse: of every row the k greatest numbers.
///
///   C(i,j) = X(i,j) where fewer than k of row i come before it, else no entry
///
/// Greater numbers come first, by signed value; among equal ones the lowest column. NaN counts as
/// greater than every number, so that it is propagated, and −0 as equal to +0; kept numbers keep
/// their bits. Shapes: X m×f, C m×f with k entries a row; 1 ≤ k ≤ f ≤ 65 536. Same result for any
/// number of threads; of `desc` threads and stream are used. Places: all. Cost:
/// O(rows · f), times the bits of a number at most; on the CPU f numbers a thread. Throws error:
/// range, out_of_memory. Source: MaxK-GNN, ASPLOS 2024, whose kernel finds a pivot by
/// bisection and keeps fewer than k where numbers tie.
template <class T>
requires(is_float<T> || is_small_float<T>) cbsr<T> maxk(const dense<T>& x, int k,
                                                        const descriptor& desc = {});

/// The gradient of `maxk`: that of its result at the entries it kept.
///
///   C(i,j) = dY(i,j) where `kept` has an entry; elsewhere the gradient is 0, which `to_dense` says
///
/// Shapes: dY as `kept`, whose indices C shares. Deterministic. Places: all. Cost: O(rows · k).
/// Throws error: shape, place, out_of_memory. Where the gradient is that of a
/// product A·Y, `mxm` under structure(Y) forms no more of it than this keeps. Source: MaxK-GNN.
template <class T>
requires(is_float<T> || is_small_float<T>) cbsr<T> maxk_gradient(const dense<T>& dy,
                                                                 const cbsr_pattern& kept);
template <class T, class U>
cbsr<T> maxk_gradient(const dense<T>& dy, const cbsr<U>& kept) {
  return maxk_gradient(dy, kept.structure());
}

/// The same as a dense matrix, 0 where nothing is stored. Places: all. Cost: O(rows · columns).
/// Throws error: out_of_memory.
template <class T>
requires(is_float<T> || is_small_float<T>) dense<T> to_dense(const cbsr<T>& x);

}  // namespace rig
