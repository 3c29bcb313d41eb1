#pragma once

/// @file
/// Matrices whose rows are on several ranks: `distributed<matrix<T>>`.

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <typeinfo>
#include <utility>
#include <vector>

#include "rig/communicator.hpp"
#include "rig/kernels/ranks.hpp"
#include "rig/layout.hpp"
#include "rig/mask.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// @cond internal
namespace over_ranks {

/// What products with a matrix have built; copies of the matrix share it.
struct plans {
  std::vector<std::pair<layout, std::shared_ptr<const fetch_plan>>> fetches;
  std::shared_ptr<const whole_pattern> whole;
  std::shared_ptr<const cover_plan> cover;  ///< of the last layout
  std::shared_ptr<const turn_plan> turned;  ///< the same
  std::shared_ptr<plans> of_turned;

  std::shared_ptr<const fetch_plan> find(const layout& of_x) const {
    for (const auto& [kept, plan] : fetches)
      if (kept == of_x) return plan;
    return nullptr;
  }
};

/// The whole matrix, where A lies.
template <class T>
struct gathered {
  matrix<T> entries;
  bool splits;  ///< on a device: rows are split
};

/// Entries of a matrix by a cover: those that stay, and those of other ranks that came.
template <class T>
struct covered {
  std::shared_ptr<const cover_plan> plan;
  matrix<T> kept, partial;
};

}  // namespace over_ranks
/// @endcond

/// A matrix whose rows are on several ranks; its columns have the numbers of the whole matrix.
///
/// Immutable and cheap to copy. Plans are built by the first product that needs them, or by
/// `prepare`; copies and `with_values` share them. Places: all parts are on the CPU, or each is on
/// a device; there `mxm` with a dense runs, by `exchange::fetch` or `features`.
/// @code
/// const auto rows = rig::layout::by_entries(A.structure(), ranks.size());
/// const auto part = rig::distributed<rig::matrix<float>>::from_whole(ranks, A, rows);
/// @endcode
template <class T>
class distributed<matrix<T>> {
 public:
  /// The type of the values.
  using value_type = T;

  /// From this rank's rows, in ascending order, whose columns have the numbers of the whole matrix.
  /// Collective. Throws error, on all ranks: shape, place, out_of_memory.
  static distributed from_rows(const rig::communicator& ranks, const matrix<T>& local,
                               const rig::layout& rows) {
    std::optional<distributed> made;
    over_ranks::agree(ranks, "from_rows", [&] {
      over_ranks::check_part("from_rows", ranks, rows, local.rows());
      made.emplace(distributed(ranks, local, rows));
    });
    over_ranks::require_one_kind(ranks, "from_rows", local.where());
    over_ranks::require_one_layout(ranks, "from_rows", rows);
    over_ranks::require_equal(ranks, "from_rows", "the matrix's columns", local.columns());
    made->nnz_ = ranks.all_reduce(made->nnz_, joining::sum);
    made->longest_ = ranks.all_reduce(made->longest_, joining::greatest);
    return *std::move(made);
  }
  /// The same from the whole matrix on each rank, which keeps its rows. Collective. Throws error,
  /// on all ranks: shape, place, out_of_memory.
  static distributed from_whole(const rig::communicator& ranks, const matrix<T>& whole,
                                const rig::layout& rows) {
    std::optional<matrix<T>> local;
    over_ranks::agree(ranks, "from_whole", [&] {
      over_ranks::check_ranks("from_whole", ranks, rows);
      over_ranks::check_part("from_whole", ranks, rows, rows.rows_of(ranks.rank()));
      over_ranks::require_cpu("from_whole", whole.where(), "the matrix");
      if (whole.rows() != rows.rows())
        fail(errc::shape, {"from_whole: the matrix has ", whole.rows(), " rows, the layout ",
                           rows.rows(), "; pass a layout of the whole matrix"});
      local = rows_of(whole, rows, ranks.rank());
    });
    return from_rows(ranks, *local, rows);
  }

  /// The number of rows of all ranks.
  index rows() const { return rows_.rows(); }
  /// The number of columns.
  index columns() const { return local_.columns(); }
  /// The number of entries of all ranks.
  int64 nnz() const { return nnz_; }
  /// This rank's rows.
  const matrix<T>& local() const { return local_; }
  /// Which rank has which rows.
  const rig::layout& layout() const { return rows_; }
  /// The ranks.
  const rig::communicator& communicator() const { return ranks_; }

  /// The same pattern and plans with other values: one for each of this rank's entries. Not
  /// collective. Throws error: shape, out_of_memory.
  template <class Values>
  auto with_values(const Values& values) const {
    auto local = local_.with_values(values);
    return distributed<decltype(local)>(*this, std::move(local));
  }
  /// The same with one value, as `matrix::with_value`. Not collective. Throws error: range,
  /// out_of_memory.
  template <class Named = void, class Number = Named>
  auto with_value(Number iso) const {
    auto local = local_.template with_value<Named>(iso);
    return distributed<decltype(local)>(*this, std::move(local));
  }

  /// The same parts in other places: all on the CPU, or each on a device. Collective. Throws error,
  /// on all ranks: place, out_of_memory.
  distributed to(place target) const {
    over_ranks::require_one_kind(ranks_, "to", target);
    std::optional<matrix<T>> moved;
    over_ranks::agree(ranks_, "to", [&] { moved = local_.to(target); });
    return from_rows(ranks_, *moved, rows_);
  }

  /// Builds what a product with this descriptor and an X of this layout would build: the transpose
  /// with `transpose_a`, and the plan of `fetch` or of `cover`, or for `exchange::features` the
  /// whole matrix on each rank. Collective. Throws error, on all ranks: shape, cannot (a transpose
  /// of an A that is not square), out_of_memory.
  const distributed& prepare(const rig::layout& of_x, const descriptor& desc = {}) const {
    const bool is_whole = desc.exchange == exchange::features,
               is_covered = desc.exchange == exchange::cover, turns = desc.transpose_a;
    const auto said = over_ranks::agree(
        ranks_, "prepare",
        [&] {
          const index inner = turns ? rows() : columns();
          if (of_x.rows() != inner)
            fail(errc::shape, {"prepare: the matrix has ", inner, turns ? " rows" : " columns",
                               ", the layout ", of_x.rows(), " rows; pass the layout of X"});
          over_ranks::check_ranks("prepare", ranks_, of_x);
          if (is_covered) over_ranks::require_cpu("prepare", local_.where());
        },
        {.lacking = is_whole ? whole_->empty() : plans_->find(of_x) == nullptr,
         .features = is_whole,
         .cover = is_covered,
         .transposed = turns});
    over_ranks::require_one_scheme(ranks_, "prepare", said);
    const std::array<over_ranks::fact, 2> facts = {
        over_ranks::fact("the layout of A", rows_.hash()),
        over_ranks::fact("the layout of X", of_x.hash())};
    over_ranks::require_alike(ranks_, "prepare", facts);
    if (turns)
      turned("prepare").prepare(of_x, {.exchange = desc.exchange});
    else if (is_covered)
      cover(of_x, "prepare");
    else if (said.lacking > 0 && is_whole)
      keep_whole("prepare");
    else if (said.lacking > 0)
      plan(of_x, "prepare");
    return *this;
  }
  /// Aᵀ with rows in this layout. The pattern's part of the work is kept for `with_values`, but on
  /// devices: there A is copied to the CPU, and Aᵀ back.
  /// Collective. Throws error, on all ranks: shape, out_of_memory.
  distributed transposed(const rig::layout& of_columns) const {
    const char* const name = "transpose";
    const auto& kept = plans_->turned;
    const auto said = over_ranks::agree(
        ranks_, name,
        [&] {
          if (of_columns.rows() != columns())
            fail(errc::shape, {"transpose: the matrix has ", columns(), " columns, the layout ",
                               of_columns.rows(), " rows; pass a layout of the columns"});
          over_ranks::check_ranks(name, ranks_, of_columns);
        },
        {.lacking = kept == nullptr || !(kept->rows == of_columns)});
    if (local_.where() != cpu()) return to(cpu()).transposed(of_columns).to(local_.where());
    if (said.lacking > 0) {
      over_ranks::require_one_layout(ranks_, name, of_columns);
      auto made = over_ranks::make_turn_plan(ranks_, name, rows_, local_.structure(), of_columns);
      over_ranks::agree(ranks_, name, [&] {
        plans_->of_turned = std::make_shared<over_ranks::plans>();
        plans_->turned = std::move(made);
      });
    }
    return with_turned_values(*plans_->turned);
  }
  /// The whole matrix on each rank, on the CPU. Iso if all ranks that have entries have one value.
  /// Collective. Throws error, on all ranks: shape (ranks that pass others), out_of_memory.
  matrix<T> gather() const {
    if (local_.where() != cpu()) return to(cpu()).gather();
    over_ranks::require_one_form(ranks_, "gather", rows_, columns(), typeid(T).name());
    const auto whole = over_ranks::gather_pattern(ranks_, "gather", rows_, *on_host_);
    const over_ranks::plain_values of = gathered_values(local_, *whole, "gather");
    std::optional<matrix<T>> made;
    over_ranks::agree(ranks_, "gather", [&] { made.emplace(with_gathered_values(whole, of)); });
    return *std::move(made);
  }

  /// The plans built so far, with this rank's bytes.
  std::vector<derived_info> plans() const {
    std::vector<derived_info> out;
    for (const auto& [of_x, plan] : plans_->fetches) out.push_back({"fetch", plan->bytes()});
    if (plans_->cover != nullptr) out.push_back({"cover", plans_->cover->bytes()});
    if (plans_->turned != nullptr) out.push_back({"transpose", plans_->turned->bytes()});
    if (!whole_->empty()) {
      const matrix<T>& whole = whole_->front().entries;
      const auto entries = static_cast<std::size_t>(whole.nnz());
      out.push_back(
          {"whole matrix", static_cast<std::size_t>(whole.rows()) * sizeof(int32) +
                               entries * (sizeof(index) + (whole.iso() ? 0 : sizeof(T)))});
    }
    return out;
  }
  /// Drops the plans, also for the copies on this rank; a copy by `with_values` keeps its own whole
  /// matrix, or its entries by a cover. Not collective: if one rank lacks a plan, the next product
  /// builds it on all of them.
  void drop_plans() const {
    *plans_ = {};
    whole_->clear();
    covered_->clear();
    turned_->clear();
  }

  /// @cond internal
  template <class U>
  distributed(const distributed<matrix<U>>& pattern_of, matrix<T> local)
      : ranks_(pattern_of.ranks_),
        local_(std::move(local)),
        rows_(pattern_of.rows_),
        on_host_(pattern_of.on_host_),
        nnz_(pattern_of.nnz_),
        longest_(pattern_of.longest_),
        plans_(pattern_of.plans_) {}
  /// @endcond

 private:
  template <class>
  friend class distributed;
  friend over_ranks::access;

  /// The transpose in A's own layout, kept for the products of these values. Collective.
  const distributed& turned(const char* name) const {
    const auto said = over_ranks::agree(
        ranks_, name,
        [&] {
          if (rows() != columns())
            fail(errc::cannot,
                 {name, ": A is ", rows(), "x", columns(), ", and the columns of one that ",
                  "is not square have no layout; pass transpose(A, layout) instead"});
        },
        {.lacking = turned_->empty()});
    if (said.lacking == 0) return turned_->front();
    distributed made = transposed(rows_);
    over_ranks::agree(ranks_, name, [&] {
      turned_->clear();
      turned_->push_back(std::move(made));
    });
    return turned_->front();
  }

  /// Iso on all ranks or on none: ranks that are iso beside others send their one value each time.
  distributed with_turned_values(const over_ranks::turn_plan& plan) const {
    const auto sent = values_to_send("transpose");
    buffer values;
    if (!sent.one.is_iso)
      values = over_ranks::turn_values(ranks_, "transpose", plan, sent.data, sizeof(T));
    std::optional<distributed> made;
    over_ranks::agree(ranks_, "transpose", [&] {
      made.emplace(distributed(ranks_, with_sent_values(plan.structure, sent, std::move(values)),
                               plan.rows));
      made->plans_ = plans_->of_turned;
    });
    made->nnz_ = nnz_;
    made->longest_ = ranks_.all_reduce(made->longest_, joining::greatest);
    return *std::move(made);
  }

  /// Collective.
  over_ranks::sent_values values_to_send(const char* name) const {
    const T iso = local_.iso_value();
    return over_ranks::values_to_send(ranks_, name, local_.nnz(), sizeof(T), local_.iso(), &iso,
                                      local_.values());
  }
  static matrix<T> with_sent_values(std::shared_ptr<const pattern> structure,
                                    const over_ranks::sent_values& sent, buffer values) {
    if (!sent.one.is_iso) return matrix<T>(std::move(structure), std::move(values));
    T value;
    std::memcpy(&value, sent.one.value, sizeof(T));
    return matrix<T>(std::move(structure), value);
  }

  /// `from_rows` adds up what the ranks have.
  distributed(const rig::communicator& ranks, const matrix<T>& local, const rig::layout& rows)
      : ranks_(ranks),
        local_(local),
        rows_(rows),
        on_host_(local.where() == cpu() ? local.shared_structure() : local.structure().to(cpu())),
        nnz_(local.nnz()),
        longest_(on_host_->template derived_of<row_lengths>()->longest) {}

  static matrix<T> rows_of(const matrix<T>& whole, const rig::layout& rows, int rank) {
    std::vector<int64> offsets{0}, order;
    std::vector<index> entries;
    const index* const columns = whole.structure().column_indices();
    for (index k = 0; k < rows.rows_of(rank); ++k) {
      const index row = rows.row_at(rank, k);
      for (int64 p = whole.structure().offset(row); p < whole.structure().offset(row + 1); ++p) {
        entries.push_back(columns[p]);
        if (!whole.iso()) order.push_back(p);
      }
      offsets.push_back(static_cast<int64>(entries.size()));
    }
    auto structure =
        pattern_from_csr(rows.rows_of(rank), whole.columns(), offsets, entries, input::trusted);
    if (whole.iso()) return matrix<T>(std::move(structure), whole.iso_value());
    buffer values = buffer::allocate(order.size() * sizeof(T));
    take_elements(whole.values(), sizeof(T), order, values.data());
    return matrix<T>(std::move(structure), std::move(values));
  }

  /// Builds the plan of fetch. Collective.
  std::shared_ptr<const over_ranks::fetch_plan> plan(const rig::layout& of_x,
                                                     const char* name) const {
    const auto made = over_ranks::make_fetch_plan(ranks_, name, on_host_, of_x);
    if (const place where = local_.where(); where != cpu())
      over_ranks::place_plan(ranks_, name, *made, where, rows_, *on_host_);
    over_ranks::agree(ranks_, name, [&] {
      std::erase_if(plans_->fetches, [&](const auto& kept) { return kept.first == of_x; });
      plans_->fetches.emplace_back(of_x, made);
    });
    return made;
  }

  /// The entries of these values by a cover. Collective.
  const over_ranks::covered<T>& cover(const rig::layout& of_x, const char* name) const {
    const auto is_of_x = [&](const auto& plan) { return plan != nullptr && plan->of_x == of_x; };
    const auto lacking = [&](bool is_lacking) {
      return over_ranks::agree(ranks_, name, [] {}, {.lacking = is_lacking}).lacking > 0;
    };
    if (!lacking(covered_->empty() || !is_of_x(covered_->front().plan))) return covered_->front();
    if (lacking(!is_of_x(plans_->cover)))
      plans_->cover = over_ranks::make_cover_plan(ranks_, name, local_.structure(), of_x);
    const auto plan = plans_->cover;
    const auto sent = values_to_send(name);
    buffer came, kept;
    if (!sent.one.is_iso) came = over_ranks::deliver(ranks_, name, plan->by, sent.data, sizeof(T));
    over_ranks::agree(ranks_, name, [&] {
      if (!sent.one.is_iso) {
        kept = buffer::allocate(plan->kept.size() * sizeof(T));
        take_elements(sent.data, sizeof(T), plan->kept, kept.data());
      }
      covered_->clear();
      covered_->push_back({plan, with_sent_values(plan->fetched->original, sent, std::move(kept)),
                           with_sent_values(plan->partial, sent, std::move(came))});
    });
    return covered_->front();
  }

  /// Makes the whole matrix on each rank, where A lies; the CPU gathers it. Collective.
  void keep_whole(const char* name) const {
    const place where = local_.where();
    std::optional<matrix<T>> here;  // on the CPU
    const auto said = over_ranks::agree(ranks_, name, [&] { here = local_.to(cpu()); },
                                        {.lacking = plans_->whole == nullptr});
    if (said.lacking > 0) {
      auto made = over_ranks::gather_whole(ranks_, name, where, rows_, *on_host_);
      over_ranks::agree(ranks_, name, [&] {
        plans_->whole = std::make_shared<const over_ranks::whole_pattern>(std::move(made));
      });
    }
    const over_ranks::whole_pattern& whole = *plans_->whole;
    const over_ranks::plain_values of = gathered_values(*here, *whole.on_host, name);
    over_ranks::agree(ranks_, name, [&] {
      whole_->clear();
      whole_->push_back({with_gathered_values(whole.there, of), whole.splits});
    });
  }
  /// The values of the whole matrix, of this rank's rows on the CPU. Collective.
  over_ranks::plain_values gathered_values(const matrix<T>& here, const pattern& whole,
                                           const char* name) const {
    const T iso = here.iso_value();
    const void* const values = here.iso() ? &iso : static_cast<const void*>(here.values());
    return over_ranks::gather_values(ranks_, name, rows_, whole, here.nnz(), sizeof(T), here.iso(),
                                     values);
  }
  static matrix<T> with_gathered_values(std::shared_ptr<const pattern> structure,
                                        const over_ranks::plain_values& of) {
    if (of.is_iso) return matrix<T>(std::move(structure), *of.values.template data<T>());
    buffer values = structure->where() == cpu() ? of.values : of.values.to(structure->where());
    return matrix<T>(std::move(structure), std::move(values));
  }

  rig::communicator ranks_;
  matrix<T> local_;
  rig::layout rows_;
  std::shared_ptr<const pattern> on_host_;  ///< the pattern of the local part, to build plans from
  int64 nnz_ = 0, longest_ = 0;
  std::shared_ptr<over_ranks::plans> plans_ = std::make_shared<over_ranks::plans>();
  // Of these values; each has at most one.
  std::shared_ptr<std::vector<over_ranks::gathered<T>>> whole_ =
      std::make_shared<std::vector<over_ranks::gathered<T>>>();
  std::shared_ptr<std::vector<over_ranks::covered<T>>> covered_ =
      std::make_shared<std::vector<over_ranks::covered<T>>>();
  std::shared_ptr<std::vector<distributed>> turned_ = std::make_shared<std::vector<distributed>>();
};

/// The transpose over ranks; `rows` lays out its rows, A's columns. Collective. Throws error, on
/// all ranks: shape, out_of_memory.
/// @code
/// const auto turned = rig::transpose(parts_of_A, parts_of_A.layout());
/// @endcode
template <class T>
distributed<matrix<T>> transpose(const distributed<matrix<T>>& a, const layout& rows) {
  return a.transposed(rows);
}

/// True at the entries of a matrix over ranks, whose rows are laid out as those of A.
template <class T>
mask<distributed<matrix<T>>> structure(const distributed<matrix<T>>& container) {
  return {container, true, false};
}
/// True at the entries that are not 0.
template <class T>
mask<distributed<matrix<T>>> values(const distributed<matrix<T>>& container) {
  require_values<T>();
  return {container, false, false};
}

}  // namespace rig
