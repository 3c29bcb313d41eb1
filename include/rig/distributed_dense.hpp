#pragma once

/// @file
/// Dense matrices on several ranks: `distributed<dense<T>>`, by rows or by features.

#include <cstddef>
#include <typeinfo>
#include <utility>

#include "rig/communicator.hpp"
#include "rig/dense.hpp"
#include "rig/kernels/ranks.hpp"
#include "rig/layout.hpp"
#include "rig/mask.hpp"

namespace rig {

/// A dense on several ranks: each has some rows of it, or some columns ("by features").
///
/// By features rank r of P has the columns F·r/P … F·(r + 1)/P of all rows. A value like `dense`:
/// copies are deep, and what was moved from may only be assigned to. Places: all parts are on the
/// CPU, or each is on a device.
/// @code
/// const auto part = rig::distributed<rig::dense<float>>::from_whole(ranks, X, rows);
/// const auto columns = part.by_features();
/// @endcode
template <class T>
class distributed<dense<T>> {
 public:
  /// The type of the elements.
  using value_type = T;

  /// From this rank's rows, in ascending order. Collective. Throws error, on all ranks: shape,
  /// place.
  static distributed from_rows(const rig::communicator& ranks, dense<T> local,
                               const rig::layout& rows) {
    over_ranks::agree(ranks, "from_rows",
                      [&] { over_ranks::check_part("from_rows", ranks, rows, local.rows()); });
    over_ranks::require_one_kind(ranks, "from_rows", local.where());
    over_ranks::require_one_layout(ranks, "from_rows", rows);
    over_ranks::require_equal(ranks, "from_rows", "the dense's columns", local.columns());
    const index columns = local.columns();
    return distributed(ranks, std::move(local), rows, columns, false);
  }
  /// The same from the whole dense on each rank, which keeps its rows. Collective. Throws error, on
  /// all ranks: shape, place, out_of_memory.
  static distributed from_whole(const rig::communicator& ranks, const dense<T>& whole,
                                const rig::layout& rows) {
    dense<T> local;
    over_ranks::agree(ranks, "from_whole", [&] {
      over_ranks::check_ranks("from_whole", ranks, rows);
      const index here = rows.rows_of(ranks.rank());
      over_ranks::check_part("from_whole", ranks, rows, here);
      over_ranks::require_cpu("from_whole", whole.where(), "the dense");
      if (whole.rows() != rows.rows())
        fail(errc::shape, {"from_whole: the dense has ", whole.rows(), " rows, the layout ",
                           rows.rows(), "; pass a layout of the whole dense"});
      local = dense<T>::uninitialised(here, whole.columns());
      for (index k = 0; k < here; ++k)
        copy_rows(local.data() + k * local.stride(), 0,
                  whole.data() + int64{rows.row_at(ranks.rank(), k)} * whole.stride(), 0,
                  static_cast<std::size_t>(whole.columns()) * sizeof(T), 1, cpu(), nullptr);
    });
    return from_rows(ranks, std::move(local), rows);
  }

  /// The number of rows of all ranks.
  index rows() const { return rows_.rows(); }
  /// The number of columns of all ranks.
  index columns() const { return columns_; }
  /// Whether ranks have columns; otherwise they have rows.
  bool is_by_features() const { return by_features_; }
  /// This rank's part: its rows of all columns, or by features its columns of all rows.
  const dense<T>& local() const { return local_; }
  /// The same for writing: a view, so that its shape stays.
  dense<T> view() {
    return dense<T>::view(local_.data(), local_.rows(), local_.columns(), local_.stride(),
                          local_.where(), local_.stream());
  }
  /// Which rank has which rows; by features, had them before and has them again after `by_rows`.
  const rig::layout& layout() const { return rows_; }
  /// The ranks.
  const rig::communicator& communicator() const { return ranks_; }

  /// The same parts in other places: all on the CPU, or each on a device. Collective. Throws error,
  /// on all ranks: place, out_of_memory.
  distributed to(place target) const {
    dense<T> made;
    over_ranks::agree(ranks_, "to", [&] { made = local_.to(target); });
    over_ranks::require_one_kind(ranks_, "to", target);
    return distributed(ranks_, std::move(made), rows_, columns_, by_features_);
  }
  /// The same elements by features; those on devices go through host memory. Collective. Throws
  /// error(out_of_memory) on all ranks.
  distributed by_features() const {
    require_one_form("by_features");
    if (by_features_) return copied("by_features");
    if (local_.where() != cpu()) return to(cpu()).by_features().to(local_.where());
    const index here = first_column(ranks_.rank() + 1) - first_column(ranks_.rank());
    return moved(over_ranks::rows_to_features, rows(), here, true);
  }
  /// The same elements by rows; those on devices go through host memory. Collective. Throws
  /// error(out_of_memory) on all ranks.
  distributed by_rows() const {
    require_one_form("by_rows");
    if (!by_features_) return copied("by_rows");
    if (local_.where() != cpu()) return to(cpu()).by_rows().to(local_.where());
    return moved(over_ranks::features_to_rows, rows_.rows_of(ranks_.rank()), columns_, false);
  }
  /// The whole dense on each rank, on the CPU. Collective. Throws error(out_of_memory) on all
  /// ranks.
  dense<T> gather() const {
    if (local_.where() != cpu()) return to(cpu()).gather();
    if (by_features_) return by_rows().gather();
    require_one_form("gather");
    dense<T> made;
    over_ranks::gather_rows(ranks_, rows_, elements(), [&] {
      made = dense<T>::uninitialised(rows(), columns_);
      return static_cast<void*>(made.data());
    });
    return made;
  }

  /// @cond internal
  /// A read-only view that keeps the memory alive.
  distributed sharing() const {
    return distributed(ranks_, local_.sharing(), rows_, columns_, by_features_);
  }
  /// @endcond

 private:
  friend over_ranks::access;

  distributed(const rig::communicator& ranks, dense<T> local, const rig::layout& rows,
              index columns, bool by_features)
      : ranks_(ranks),
        local_(std::move(local)),
        rows_(rows),
        columns_(columns),
        by_features_(by_features) {}

  index first_column(int rank) const {
    return over_ranks::first_feature(columns_, rank, ranks_.size());
  }
  over_ranks::elements elements() const {
    return {local_.data(), static_cast<std::size_t>(local_.stride()) * sizeof(T), sizeof(T),
            columns_};
  }
  /// Throws on all ranks if they pass containers of another form. Collective.
  void require_one_form(const char* name) const {
    over_ranks::require_one_form(ranks_, name, rows_, columns_, typeid(T).name(), by_features_);
  }
  distributed copied(const char* name) const {
    dense<T> made;
    over_ranks::agree(ranks_, name, [&] { made = local_; });
    return distributed(ranks_, std::move(made), rows_, columns_, by_features_);
  }
  template <class Move>
  distributed moved(Move move, index rows_here, index columns_here, bool to_features) const {
    dense<T> made;
    move(ranks_, rows_, elements(), [&] {
      made = dense<T>::uninitialised(rows_here, columns_here);
      return static_cast<void*>(made.data());
    });
    return distributed(ranks_, std::move(made), rows_, columns_, to_features);
  }

  rig::communicator ranks_;
  dense<T> local_;
  rig::layout rows_;
  index columns_;
  bool by_features_;
};

/// The result of arg-max and arg-min over ranks: two arrays that are distributed alike.
template <class T>
class distributed<indexed_dense<T>> {
 public:
  /// The type of the values.
  using value_type = T;
  distributed<dense<T>> values;       ///< the extreme values, or the fill
  distributed<dense<int32>> indices;  ///< the inner index k that gave each value, or −1
  /// Both arrays by rows. Collective. Throws error(out_of_memory) on all ranks.
  distributed by_rows() const { return {values.by_rows(), indices.by_rows()}; }
  /// Both arrays by features. Collective. Throws error(out_of_memory) on all ranks.
  distributed by_features() const { return {values.by_features(), indices.by_features()}; }
  /// The whole result, on each rank. Collective. Throws error(out_of_memory) on all ranks.
  indexed_dense<T> gather() const { return {values.gather(), indices.gather()}; }

  /// Of two arrays that are distributed alike.
  distributed(distributed<dense<T>> values_of, distributed<dense<int32>> indices_of)
      : values(std::move(values_of)), indices(std::move(indices_of)) {}
};

/// @cond internal
template <class T>
distributed<dense<T>> sharing(const distributed<dense<T>>& of) {
  return of.sharing();
}
/// @endcond

/// True at the elements that are not 0 of a dense over ranks, whose rows are laid out as those of
/// A.
template <class T>
mask<distributed<dense<T>>> values(const distributed<dense<T>>& container) {
  require_values<T>();
  return {container, false, false};
}

}  // namespace rig
