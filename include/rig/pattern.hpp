#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rig/buffer.hpp"
#include "rig/error.hpp"
#include "rig/kernels/integers.hpp"
#include "rig/scalar.hpp"

namespace rig {

class pattern;

/// Something derived from a pattern and kept beside it: structure and permutations, never values.
struct derived {
  virtual ~derived() = default;
  virtual std::size_t bytes() const = 0;
};

/// A derived structure as `matrix::derived_structures()` lists it.
struct derived_info {
  std::string name;
  std::size_t bytes = 0;
};

/// How far caller data is believed.
enum class input {
  checked,  ///< offsets, column ranges, order and duplicates are verified: O(nnz)
  sorted,   ///< as checked, and rows whose columns do not ascend are sorted first (copies; views
            ///< refuse)
  trusted,  ///< nothing is verified, and nothing may change: kernels wait for what lists promise
};

/// The structure of a sparse matrix in CSR: offsets, ascending columns. Immutable and shared;
/// structures derived from it are built on first need, by one thread, and live until
/// `drop_derived`.
class pattern {
 public:
  pattern(index rows, index columns, int64 nnz, buffer offsets, bool offsets_64,
          buffer columns_of_entries);

  index rows() const { return rows_; }
  index columns() const { return columns_; }
  int64 nnz() const { return nnz_; }
  place where() const { return offsets_.where(); }
  void* stream() const { return offsets_.stream(); }

  /// Offsets are int64 if wide, else int32: one flag at run time.
  bool offsets_64() const { return offsets_64_; }
  const void* offsets() const { return offsets_.data(); }
  const index* column_indices() const { return entries_.data<index>(); }
  /// Entries before `row`; only of a pattern on the CPU.
  int64 offset(index row) const {
    return offsets_64_ ? offsets_.data<int64>()[row] : offsets_.data<int32>()[row];
  }

  /// The same pattern in another place, without its derived structures.
  std::shared_ptr<const pattern> to(place target) const;

  /// The derived structure F of this pattern. F has `static constexpr const char* name` and a
  /// constructor from `const pattern&`. Thread-safe; a dropped one lives on while somebody holds
  /// it.
  template <class F>
  std::shared_ptr<const F> derived_of() const {
    return std::static_pointer_cast<const F>(find_or_build(
        F::name,
        [](const pattern& p) -> std::shared_ptr<const derived> { return std::make_shared<F>(p); }));
  }
  std::vector<derived_info> derived_structures() const;
  void drop_derived() const;

 private:
  using build = std::shared_ptr<const derived> (*)(const pattern&);
  std::shared_ptr<const derived> find_or_build(const char* name, build make) const;

  index rows_, columns_;
  int64 nnz_;
  bool offsets_64_;
  buffer offsets_, entries_;
  mutable std::recursive_mutex mutex_;  // one may be built from another
  mutable std::vector<std::pair<std::string_view, std::shared_ptr<const derived>>> derived_;
};

/// rows×columns without entries; many rows take address space, but no memory.
std::shared_ptr<const pattern> pattern_without_entries(index rows, index columns);

/// The pattern of 0×0 that matrices hold which were moved from; it allocates nothing.
std::shared_ptr<const pattern> empty_pattern() noexcept;

/// The transpose: its pattern, and for each of its entries the entry of the original it came from.
struct transposed : derived {
  static constexpr const char* name = "transpose";
  explicit transposed(const pattern& original);
  std::size_t bytes() const override;

  std::shared_ptr<const pattern> structure;
  buffer permutation;  ///< int64 if structure->wide(), else int32
};

/// Builds now what products with this pattern, or its transpose, would build on first need; what
/// `maxk_backward` or `spmv_panels` alone needs where that is the kernel's name.
void prepare_derived(const pattern& structure, bool transpose, std::string_view kernel = {});

/// One look at the row lengths of a pattern on the CPU: what kernels are chosen by.
struct row_lengths : derived {
  static constexpr const char* name = "row lengths";
  explicit row_lengths(const pattern& original);
  std::size_t bytes() const override { return sizeof(*this); }

  int64 longest = 0;
  index empty = 0;
};

/// Copies and checks CSR arrays of the caller. Columns that are not int32 are narrowed with a
/// check, trusted or not. `order`, where given, receives the permutation that sorting applied
/// (entry p of the result was entry order[p]), empty if nothing moved.
std::shared_ptr<const pattern> pattern_from_csr(index rows, index columns, const integers& offsets,
                                                const integers& entries, input how,
                                                std::vector<int64>* order = nullptr);

/// The same without a copy: the caller keeps the arrays alive and unchanged. Offsets have 4 or 8
/// bytes, columns 4; other arrays are error(type), and `pattern_from_csr` copies them. On a device
/// only `trusted`, and the arrays are used in the order of `stream`.
std::shared_ptr<const pattern> pattern_view(index rows, index columns, const integers& offsets,
                                            const integers& entries, input how, place where = cpu(),
                                            void* stream = nullptr);

/// Tuples sorted by row, then column, then place in the input. Entry p of the result gathers the
/// tuples order[groups[p]] … order[groups[p + 1] − 1], in input order; a group of two or more is a
/// duplicate.
struct sorted_tuples {
  std::shared_ptr<const pattern> structure;
  std::vector<int64> order, groups;
};
sorted_tuples sort_tuples(index rows, index columns, const integers& i, const integers& j,
                          bool duplicates_allowed);

/// Offsets of `count + 1` numbers as a pattern keeps them: int32 where nnz fits, else int64.
buffer pack_offsets(const integers& offsets, bool& offsets_64);

}  // namespace rig
