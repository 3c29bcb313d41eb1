#pragma once

/// @file
/// The structure of a sparse matrix: `pattern`, and `input`, how far arrays are trusted.

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rig/buffer.hpp"
#include "rig/checked_index.hpp"
#include "rig/error.hpp"
#include "rig/kernels/integers.hpp"
#include "rig/scalar.hpp"

namespace rig {

class pattern;

/// @cond internal
/// A structure derived from a pattern and kept beside it: indices and permutations, never values.
struct derived {
  virtual ~derived() = default;
  virtual std::size_t bytes() const = 0;
};

/// @endcond

/// A derived structure as `matrix::derived_structures()` lists it.
struct derived_info {
  std::string name;       ///< what it is: "transpose", "row lengths"
  std::size_t bytes = 0;  ///< its memory, in the pattern's place
};

/// How far rig trusts the caller's arrays.
enum class input {
  checked,  ///< offsets, column ranges, order and duplicates are verified: O(nnz)
  sorted,   ///< as checked, after rows whose columns do not ascend are sorted (copies; views
            ///< refuse)
  trusted,  ///< nothing is verified; invalid or changing arrays can hang kernels
};

/// The structure of a sparse matrix in CSR: offsets and ascending columns. Immutable and shared.
/// Derived structures are built on first use, by one thread, and live until `drop_derived`.
/// @code
/// const rig::pattern& structure = A.structure();
/// for (auto p = structure.offset(0); p < structure.offset(1); ++p)
///   std::printf("%d\n", structure.column_indices()[p]);
/// @endcode
class pattern {
 public:
  /// A pattern over buffers that satisfy its rules; they are not checked. `pattern_from_csr` and
  /// `pattern_view` check.
  pattern(checked_index rows, checked_index columns, int64 nnz, buffer offsets, bool offsets_64,
          buffer columns_of_entries);

  /// The number of rows.
  index rows() const { return rows_; }
  /// The number of columns.
  index columns() const { return columns_; }
  /// Stored entries.
  int64 nnz() const { return nnz_; }
  /// The place of the arrays.
  place where() const { return offsets_.where(); }
  /// The stream that the arrays belong to; null on the CPU.
  void* stream() const { return offsets_.stream(); }

  /// Whether offsets are int64; otherwise they are int32. A run-time flag.
  bool offsets_64() const { return offsets_64_; }
  /// rows + 1 offsets: the entries of row i begin at offset i and end before offset i + 1.
  const void* offsets() const { return offsets_.data(); }
  /// The column of each entry, row by row.
  const index* column_indices() const { return entries_.data<index>(); }
  /// The number of entries before `row`; only for a pattern on the CPU.
  int64 offset(index row) const {
    return offsets_64_ ? offsets_.data<int64>()[row] : offsets_.data<int32>()[row];
  }

  /// The same pattern in another place, without its derived structures; a copy always. Throws
  /// error: place, out_of_memory.
  std::shared_ptr<const pattern> to(place target) const;

  /// @cond internal
  /// The derived structure F of this pattern, built on first use. F has `static constexpr const
  /// char* name` and a constructor from `const pattern&`. Thread-safe; a dropped structure lives
  /// while a shared_ptr refers to it.
  template <class F>
  std::shared_ptr<const F> derived_of() const {
    return std::static_pointer_cast<const F>(find_or_build(
        F::name,
        [](const pattern& p) -> std::shared_ptr<const derived> { return std::make_shared<F>(p); }));
  }
  /// Keeps a structure that was made from more than this pattern, in place of the one that
  /// `derived_of` would build.
  void keep_derived(const char* name, std::shared_ptr<const derived> made) const;
  /// Whether `prepare` was called for this kernel (empty: for any) and orientation. Choices depend
  /// on this, and not on what earlier calls happened to build.
  bool is_prepared(bool transposed, std::string_view kernel = {}) const;
  void set_prepared(bool transposed, std::string_view kernel) const;
  /// The same arrays and derived structures, prepared alike: what an algorithm then prepares for
  /// itself changes no choice of its caller.
  static std::shared_ptr<const pattern> prepared_apart(const std::shared_ptr<const pattern>& of);
  /// @endcond
  /// The derived structures built so far, with their bytes. Throws error(out_of_memory).
  std::vector<derived_info> derived_structures() const;
  /// Drops the derived structures; calls that run keep theirs.
  void drop_derived() const;

 private:
  using build = std::shared_ptr<const derived> (*)(const pattern&);
  std::shared_ptr<const derived> find_or_build(const char* name, build make) const;

  index rows_, columns_;
  int64 nnz_;
  bool offsets_64_;
  buffer offsets_, entries_;
  std::shared_ptr<const pattern> original_;  ///< of one that is `prepared_apart`
  mutable std::recursive_mutex mutex_;  // recursive because one structure may be built from another
  mutable std::vector<std::pair<std::string_view, std::shared_ptr<const derived>>> derived_;
  mutable std::vector<std::pair<bool, std::string>> prepared_;
};

/// @cond internal
/// Whether two patterns on the CPU have one shape and the same places.
bool has_same_places(const pattern& x, const pattern& y);

/// rows×columns without entries; many rows take address space and no memory.
std::shared_ptr<const pattern> pattern_without_entries(checked_index rows, checked_index columns);

/// The 0×0 pattern of moved-from matrices, and the 1×0 one of moved-from vectors; they allocate
/// nothing.
std::shared_ptr<const pattern> empty_pattern() noexcept;
std::shared_ptr<const pattern> empty_row() noexcept;

/// The transpose: its pattern, and for each of its entries the corresponding entry of the original.
struct transposed : derived {
  static constexpr const char* name = "transpose";
  explicit transposed(const pattern& original);
  std::size_t bytes() const override;

  std::shared_ptr<const pattern> structure;
  buffer permutation;  ///< int64 if structure->offsets_64(), else int32
};

/// Builds the derived structures that the first product with this pattern, or its transpose, would
/// build. Structures for `maxk_backward`, `sell`, `spmv_panels` or `hybrid` only are built if
/// `kernel` names it.
void prepare_derived(const pattern& structure, bool transpose, std::string_view kernel = {});

/// Statistics of the row lengths of a pattern on the CPU; they guide the choice of a kernel.
struct row_lengths : derived {
  static constexpr const char* name = "row lengths";
  explicit row_lengths(const pattern& original);
  std::size_t bytes() const override { return sizeof(*this); }

  int64 longest = 0;
  index empty = 0;
};

/// @endcond

/// Copies and checks the caller's CSR arrays. Columns that are not int32 are narrowed with a check,
/// trusted or not. `order`, unless null, receives the permutation of sorting: entry p of the result
/// was entry order[p]. It is empty if nothing moved.
///
/// Shapes: rows + 1 offsets, the last one the number of entries. Places: cpu. Cost: O(rows + nnz).
/// Throws error: shape, range, order, duplicate, out_of_memory.
/// @code
/// const std::vector<int> offsets{0, 1, 3}, columns{1, 0, 2};
/// const rig::matrix<float> ones(
///     rig::pattern_from_csr(2, 3, offsets, columns, rig::input::checked));
/// @endcode
std::shared_ptr<const pattern> pattern_from_csr(checked_index rows, checked_index columns,
                                                const integers& offsets, const integers& entries,
                                                input how, std::vector<int64>* order = nullptr);

/// The same without a copy: the caller keeps the arrays alive and unchanged. Offsets have 4 or 8
/// bytes, columns 4. Other arrays are error(type); `pattern_from_csr` copies them. Arrays on a
/// device must be `trusted`, otherwise error(place), and are used in the order of `stream`.
/// @code
/// const std::vector<int> offsets{0, 1, 3}, columns{1, 0, 2};
/// const rig::matrix<float> ones(rig::pattern_view(2, 3, offsets, columns, rig::input::checked));
/// @endcode
std::shared_ptr<const pattern> pattern_view(checked_index rows, checked_index columns,
                                            const integers& offsets, const integers& entries,
                                            input how, place where = cpu(), void* stream = nullptr);
/// Deleted because temporary arrays would not outlive the call.
template <class Offsets, class Columns>
requires(is_temporary<Offsets> || is_temporary<Columns>)
    std::shared_ptr<const pattern> pattern_view(checked_index rows, checked_index columns,
                                                Offsets&& offsets, Columns&& entries, input how,
                                                place where = cpu(), void* stream = nullptr)
= delete;

/// @cond internal
/// Tuples sorted by row, then column, then input order. Entry p of the result combines the tuples
/// order[groups[p]] … order[groups[p + 1] − 1], in input order. A group of two or more tuples is a
/// duplicate.
struct sorted_tuples {
  std::shared_ptr<const pattern> structure;
  std::vector<int64> order, groups;
};
sorted_tuples sort_tuples(checked_index rows, checked_index columns, const integers& i,
                          const integers& j, bool duplicates_allowed);

/// to[p] = from[order[p]], elements of so many bytes each; `to` may not overlap.
void take_elements(const void* from, std::size_t bytes_each, const std::vector<int64>& order,
                   void* to);

/// Packs `count + 1` offsets as a pattern stores them: int32 if nnz fits, else int64.
buffer pack_offsets(const integers& offsets, bool& offsets_64);
/// @endcond

}  // namespace rig
