#pragma once

/// @file
/// Products over ranks: `distributed` matrices and dense matrices, their `mxm` and `explain`.
///
/// The ranks come from `loopback`, or from MPI by `rig/distributed/mpi.hpp`. Every call that takes
/// something distributed is collective: all ranks make the same calls in the same order.

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rig/communicator.hpp"
#include "rig/kernels/cpu/order.hpp"
#include "rig/kernels/ranks.hpp"
#include "rig/layout.hpp"
#include "rig/mxm.hpp"

namespace rig {

/// A container whose rows are on several ranks: of a `matrix`, a `dense` or an `indexed_dense`.
template <class Container>
class distributed;

/// @cond internal
namespace over_ranks {

struct access;

/// What products with a matrix have built; copies of the matrix share it.
struct plans {
  std::vector<std::pair<layout, std::shared_ptr<const fetch_plan>>> fetches;
  std::shared_ptr<const pattern> whole;

  std::shared_ptr<const fetch_plan> find(const layout& of_x) const {
    for (const auto& [kept, plan] : fetches)
      if (kept == of_x) return plan;
    return nullptr;
  }
};

/// Throws unless the layout has as many ranks as the communicator.
void check_ranks(const char* name, const communicator& ranks, const layout& rows);
/// Throws if a part does not fit its layout.
void check_part(const char* name, const communicator& ranks, const layout& rows, index rows_here,
                place where);
/// Throws on all ranks unless all exchange alike.
void require_one_scheme(const communicator& ranks, const char* name, const votes& said);
/// Throws on all ranks unless all have one layout. Collective.
void require_one_layout(const communicator& ranks, const char* name, const layout& rows);

}  // namespace over_ranks
/// @endcond

/// A matrix whose rows are on several ranks; its columns have the numbers of the whole matrix.
///
/// Immutable and cheap to copy. Plans are built by the first product that needs them, or by
/// `prepare`; copies and `with_values` share them. Places: the parts are on the CPU.
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
  /// Collective. Throws error, on all ranks: shape, place.
  static distributed from_rows(const rig::communicator& ranks, const matrix<T>& local,
                               const rig::layout& rows) {
    over_ranks::agree(ranks, "from_rows", [&] {
      over_ranks::check_part("from_rows", ranks, rows, local.rows(), local.where());
    });
    over_ranks::require_one_layout(ranks, "from_rows", rows);
    over_ranks::require_equal(ranks, "from_rows", "the matrix's columns", local.columns());
    return distributed(ranks, local, rows);
  }
  /// The same from the whole matrix on each rank, which keeps its rows. Collective. Throws error,
  /// on all ranks: shape, place, out_of_memory.
  static distributed from_whole(const rig::communicator& ranks, const matrix<T>& whole,
                                const rig::layout& rows) {
    matrix<T> local;
    over_ranks::agree(ranks, "from_whole", [&] {
      over_ranks::check_ranks("from_whole", ranks, rows);
      over_ranks::check_part("from_whole", ranks, rows, rows.rows_of(ranks.rank()), whole.where());
      if (whole.rows() != rows.rows())
        fail(errc::shape, {"from_whole: the matrix has ", whole.rows(), " rows, the layout ",
                           rows.rows(), "; pass a layout of the whole matrix"});
      local = rows_of(whole, rows, ranks.rank());
    });
    return from_rows(ranks, local, rows);
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

  /// Builds what a product with this descriptor and an X of this layout would build: the plan of
  /// `fetch`, or for `exchange::features` the whole matrix on each rank. Collective. Throws error,
  /// on all ranks: shape, out_of_memory.
  const distributed& prepare(const rig::layout& of_x, const descriptor& desc = {}) const {
    const bool is_whole = desc.exchange == exchange::features;
    const auto said = over_ranks::agree(
        ranks_, "prepare",
        [&] {
          if (of_x.rows() != columns())
            fail(errc::shape, {"prepare: the matrix has ", columns(), " columns, the layout ",
                               of_x.rows(), " rows; pass the layout of X"});
          over_ranks::check_ranks("prepare", ranks_, of_x);
        },
        {.lacking = is_whole ? whole_->empty() : plans_->find(of_x) == nullptr,
         .features = is_whole});
    over_ranks::require_one_scheme(ranks_, "prepare", said);
    if (said.lacking > 0 && is_whole) gather("prepare");
    if (said.lacking > 0 && !is_whole) plan(of_x, "prepare");
    return *this;
  }
  /// The plans built so far, with this rank's bytes.
  std::vector<derived_info> plans() const {
    std::vector<derived_info> out;
    for (const auto& [of_x, plan] : plans_->fetches) out.push_back({"fetch", plan->bytes()});
    if (!whole_->empty()) {
      const matrix<T>& whole = whole_->front();
      const auto entries = static_cast<std::size_t>(whole.nnz());
      out.push_back(
          {"whole matrix", static_cast<std::size_t>(whole.rows()) * sizeof(int32) +
                               entries * (sizeof(index) + (whole.iso() ? 0 : sizeof(T)))});
    }
    return out;
  }
  /// Drops the plans, also for the copies on this rank; a copy by `with_values` keeps its own whole
  /// matrix. Not collective: if one rank lacks a plan, the next product builds it on all of them.
  void drop_plans() const {
    *plans_ = {};
    whole_->clear();
  }

  /// @cond internal
  template <class U>
  distributed(const distributed<matrix<U>>& pattern_of, matrix<T> local)
      : ranks_(pattern_of.ranks_),
        local_(std::move(local)),
        rows_(pattern_of.rows_),
        nnz_(pattern_of.nnz_),
        longest_(pattern_of.longest_),
        plans_(pattern_of.plans_) {}
  /// @endcond

 private:
  template <class>
  friend class distributed;
  friend over_ranks::access;

  distributed(const rig::communicator& ranks, const matrix<T>& local, const rig::layout& rows)
      : ranks_(ranks), local_(local), rows_(rows) {
    int64 longest = 0;
    over_ranks::agree(ranks, "from_rows", [&] {
      longest = local.structure().template derived_of<row_lengths>()->longest;
    });
    nnz_ = ranks.all_reduce(local.nnz(), joining::sum);
    longest_ = ranks.all_reduce(longest, joining::greatest);
  }

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
    auto made = over_ranks::make_fetch_plan(ranks_, name, local_.shared_structure(), of_x);
    over_ranks::agree(ranks_, name, [&] {
      std::erase_if(plans_->fetches, [&](const auto& kept) { return kept.first == of_x; });
      plans_->fetches.emplace_back(of_x, made);
    });
    return made;
  }

  /// Makes the whole matrix on each rank. Collective.
  void gather(const char* name) const {
    const auto said = over_ranks::agree(ranks_, name, [] {}, {.lacking = plans_->whole == nullptr});
    if (said.lacking > 0)
      plans_->whole = over_ranks::gather_pattern(ranks_, rows_, local_.structure());
    const T iso = local_.iso_value();
    const void* const values = local_.iso() ? &iso : static_cast<const void*>(local_.values());
    over_ranks::plain_values of = over_ranks::gather_values(
        ranks_, rows_, *plans_->whole, local_.nnz(), sizeof(T), local_.iso(), values);
    over_ranks::agree(ranks_, name, [&] {
      whole_->clear();
      whole_->push_back(of.is_iso ? matrix<T>(plans_->whole, *of.values.template data<T>())
                                  : matrix<T>(plans_->whole, std::move(of.values)));
    });
  }

  rig::communicator ranks_;
  matrix<T> local_;
  rig::layout rows_;
  int64 nnz_ = 0, longest_ = 0;
  std::shared_ptr<over_ranks::plans> plans_ = std::make_shared<over_ranks::plans>();
  std::shared_ptr<std::vector<matrix<T>>> whole_ = std::make_shared<std::vector<matrix<T>>>();
};

/// A dense on several ranks: each has some rows of it, or some columns ("by features").
///
/// By features rank r of P has the columns F·r/P … F·(r + 1)/P of all rows. A value like `dense`:
/// copies are deep. Places: the parts are on the CPU.
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
    over_ranks::agree(ranks, "from_rows", [&] {
      over_ranks::check_part("from_rows", ranks, rows, local.rows(), local.where());
    });
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
      over_ranks::check_part("from_whole", ranks, rows, here, whole.where());
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
    return dense<T>::view(local_.data(), local_.rows(), local_.columns(), local_.stride());
  }
  /// Which rank has which rows; by features, had them before and has them again after `by_rows`.
  const rig::layout& layout() const { return rows_; }
  /// The ranks.
  const rig::communicator& communicator() const { return ranks_; }

  /// The same elements by features. Collective. Throws error(out_of_memory) on all ranks.
  distributed by_features() const {
    if (by_features_) return *this;
    const index here = first_column(ranks_.rank() + 1) - first_column(ranks_.rank());
    return moved(over_ranks::rows_to_features, rows(), here, true);
  }
  /// The same elements by rows. Collective. Throws error(out_of_memory) on all ranks.
  distributed by_rows() const {
    if (!by_features_) return *this;
    return moved(over_ranks::features_to_rows, rows_.rows_of(ranks_.rank()), columns_, false);
  }
  /// The whole dense, on each rank. Collective. Throws error(out_of_memory) on all ranks.
  dense<T> gather() const {
    if (by_features_) return by_rows().gather();
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
/// True at the elements that are not 0 of a dense over ranks, whose rows are laid out as those of
/// A.
template <class T>
mask<distributed<dense<T>>> values(const distributed<dense<T>>& container) {
  require_values<T>();
  return {container, false, false};
}

/// Why a product over ranks moves what it moves: what `explain` returns.
/// @code
/// const auto why = rig::explain(parts_of_A, parts_of_X, rig::plus_times<float>{});
/// std::puts(why.text().c_str());
/// @endcode
struct ranks_explanation {
  rig::exchange scheme = exchange::fetch;  ///< what moves
  std::string reason;                      ///< the reason of the choice
  int ranks = 1;                           ///< the number of ranks
  /// Bytes that one product moves from rank `from` to rank `to`: bytes[from · ranks + to].
  std::vector<int64> bytes;
  int64 bytes_once = 0;      ///< bytes that the plan itself moves, once, where it is not yet built
  int largest_receiver = 0;  ///< the rank that receives most
  int64 largest_bytes = 0;   ///< the bytes that it receives
  double mean_bytes = 0;     ///< the bytes that a rank receives on average
  std::string kernel;        ///< the kernel of each rank: the one that one rank would choose
  /// The scheme, its reason, the kernel, and the volumes: by pair for up to 16 ranks.
  std::string text() const;
};

/// @cond internal
namespace over_ranks {

/// Whether multiply reads positions that rig cannot map back: then it needs the numbers of the
/// whole matrix. Of rig's arg-max and arg-min the indices are mapped.
template <class S>
inline constexpr bool needs_whole_numbers =
    positional<S> && !(is_of_rig<S>() && is_indexed<output<S>>);

template <class Mask>
inline constexpr bool is_masked = !std::is_same_v<Mask, no_mask>;

/// A choice and its reason.
struct scheme_choice {
  exchange scheme;
  const char* reason;
};
template <class S, class Mask>
scheme_choice scheme_of(bool by_features, const descriptor& desc) {
  if (desc.exchange != exchange::automatic) return {desc.exchange, "named by the descriptor"};
  if (is_masked<Mask>) return {exchange::fetch, "a mask is distributed by rows"};
  if (needs_whole_numbers<S>)
    return {exchange::features, "the semiring reads positions of the whole matrix"};
  if (by_features) return {exchange::features, "X is distributed by features"};
  return {exchange::fetch, "X is distributed by rows"};
}

/// What each rank checks of a product, but for types.
struct product_shape {
  const communicator &ranks, &ranks_of_x;
  index rows, inner, rows_of_x, columns;
  const descriptor& desc;
  exchange scheme;
  bool needs_whole_numbers, is_masked;
};
void check_product(const product_shape& of);
void check_mask(const communicator& ranks, const layout& rows_of_mask, const layout& rows_of_a,
                bool is_by_features);
/// Refuses a column whose order of sums depends on when X is converted.
void refuse_conversion(index columns, index of_tile, const char* semiring);

/// The one that reads private members.
struct access {
  template <class T, class... Arguments>
  static distributed<dense<T>> make(Arguments&&... arguments) {
    return distributed<dense<T>>(std::forward<Arguments>(arguments)...);
  }
  template <class T>
  static const std::vector<matrix<T>>& whole(const distributed<matrix<T>>& of) {
    return *of.whole_;
  }
  template <class T>
  static void gather(const distributed<matrix<T>>& of) {
    of.gather("mxm");
  }
  template <class T>
  static std::shared_ptr<const fetch_plan> find(const distributed<matrix<T>>& of,
                                                const layout& of_x) {
    return of.plans_->find(of_x);
  }
  template <class T>
  static std::shared_ptr<const fetch_plan> plan(const distributed<matrix<T>>& of,
                                                const layout& of_x, const char* name) {
    return of.plan(of_x, name);
  }
  /// The kernel that one rank would choose for the whole matrix: it determines the bits.
  template <class T>
  static descriptor of_one_rank(const distributed<matrix<T>>& of, const descriptor& desc) {
    descriptor out = desc;
    if (desc.kernel.empty()) out.kernel = on_cpu::splits(of.nnz_, of.longest_) ? "split" : "row";
    return out;
  }
};

inline no_mask local_mask(const no_mask&) { return {}; }
template <class Container>
auto local_mask(const mask<distributed<Container>>& of) {
  return mask<Container>(of.container.local(), of.structural, of.complemented);
}

inline void check_mask_of(const communicator&, const layout&, const no_mask&) {}
template <class T>
void check_mask_of(const communicator& ranks, const layout& rows,
                   const mask<distributed<matrix<T>>>& of) {
  check_mask(ranks, of.container.layout(), rows, false);
}
template <class T>
void check_mask_of(const communicator& ranks, const layout& rows,
                   const mask<distributed<dense<T>>>& of) {
  check_mask(ranks, of.container.layout(), rows, of.container.is_by_features());
}

template <class S, class TA, class TX, class Mask>
void check(const distributed<matrix<TA>>& a, const distributed<dense<TX>>& x, const Mask& mask,
           const descriptor& desc, exchange scheme) {
  check_product({a.communicator(), x.communicator(), a.rows(), a.columns(), x.rows(), x.columns(),
                 desc, scheme, needs_whole_numbers<S>, is_masked<Mask>});
  check_mask_of(a.communicator(), a.layout(), mask);
  constexpr bool is_converted = !is_ignoring_right<S> && !is_same<TX, typename S::right>;
  if constexpr (is_converted && !is_exact<S>)
    if (const index of_tile = on_cpu::columns_of_tile<S>(); x.columns() % of_tile == 1)
      refuse_conversion(x.columns(), of_tile, name_of<S>());
}

/// This rank's product by fetch.
template <class Element, class S, class TA, class TX, class Mask>
mxm_result<Element, S> multiply_fetched(const distributed<matrix<TA>>& a, const fetch_plan& plan,
                                        const fetch& fetched, index columns, const Mask& mask,
                                        const descriptor& desc) {
  const matrix<TA>& here = a.local();
  const std::size_t bytes = static_cast<std::size_t>(here.nnz()) * sizeof(TA);
  const matrix<TA> local =
      here.iso() ? matrix<TA>(plan.local, here.iso_value())
                 : matrix<TA>(plan.local, buffer::borrow(const_cast<TA*>(here.values()), bytes));
  const auto x =
      dense<TX>::view(fetched.x.data<const TX>(), static_cast<index>(plan.columns.size()), columns);
  auto c = mxm_creating<Element>(local, x, S(), local_mask(mask), access::of_one_rank(a, desc));
  if constexpr (has_indices<decltype(c)>)
    if constexpr (positional<S>)
      for (int32& k : c.indices.span())
        if (k >= 0) k = plan.columns[static_cast<std::size_t>(k)];
  return c;
}

/// X, A and what they are multiplied by, on their way to the result by rows.
template <class Element, class S, class TA, class TX, class Mask>
mxm_result<Element, S> multiply_by_fetch(const distributed<matrix<TA>>& a,
                                         const distributed<dense<TX>>& x, const Mask& mask,
                                         const descriptor& desc) {
  const communicator& ranks = a.communicator();
  auto plan = access::find(a, x.layout());
  const std::size_t bytes = static_cast<std::size_t>(x.columns()) * sizeof(TX);
  fetch moved;
  const auto start = [&] {
    moved = start_fetch(*plan, ranks.rank(), x.local().data(),
                        static_cast<std::size_t>(x.local().stride()) * sizeof(TX), bytes);
  };
  const votes said = agree(ranks, "mxm",
                           [&] {
                             if (plan != nullptr) start();
                           },
                           {.lacking = plan == nullptr});
  if (said.lacking > 0) {
    plan = access::plan(a, x.layout(), "mxm");
    agree(ranks, "mxm", start);
  }
  ranks.exchange(moved.sends, moved.receives, desc.stream);
  mxm_result<Element, S> c;
  agree(ranks, "mxm", [&] {
    finish_fetch(*plan, moved, ranks.rank(), bytes);
    c = multiply_fetched<Element, S, TA, TX>(a, *plan, moved, x.columns(), mask, desc);
  });
  return c;
}

/// Copies columns 0 … count of a part to columns first … of the result.
template <class T>
void copy_columns(dense<T>& to, index first, const dense<T>& part, index count) {
  if (to.rows() == 0 || count == 0) return;
  copy_rows(to.data() + first, static_cast<std::size_t>(to.stride()) * sizeof(T), part.data(),
            static_cast<std::size_t>(part.stride()) * sizeof(T),
            static_cast<std::size_t>(count) * sizeof(T), to.rows(), cpu(), nullptr);
}
template <class T>
void copy_columns(indexed_dense<T>& to, index first, const indexed_dense<T>& part, index count) {
  copy_columns(to.values, first, part.values, count);
  copy_columns(to.indices, first, part.indices, count);
}
template <class T>
void make_room(dense<T>& of, index rows, index columns) {
  of = dense<T>::uninitialised(rows, columns);
}
template <class T>
void make_room(indexed_dense<T>& of, index rows, index columns) {
  make_room(of.values, rows, columns);
  make_room(of.indices, rows, columns);
}

/// This rank's columns of the product, of the whole A.
template <class Element, class S, class TA, class TX>
mxm_result<Element, S> multiply_features(const matrix<TA>& whole, const dense<TX>& x, index first,
                                         index columns, const descriptor& desc) {
  const auto parts = on_cpu::column_parts<S>(first, first + x.columns(), columns);
  if (parts.size() == 1 && parts[0].computed == parts[0].count)
    return mxm_creating<Element>(whole, x, S(), no_mask{}, desc);
  mxm_result<Element, S> c;
  make_room(c, whole.rows(), x.columns());
  for (const on_cpu::column_part& part : parts) {
    const index here = part.first - first;
    auto operand = dense<TX>::view(x.data() + here, x.rows(), part.count, x.stride());
    if (part.computed > part.count) {
      dense<TX> padded(x.rows(), part.computed);
      copy_columns(padded, 0, operand, part.count);
      operand = std::move(padded);
    }
    const auto made = mxm_creating<Element>(whole, operand, S(), no_mask{}, desc);
    copy_columns(c, here, made, part.count);
  }
  return c;
}

template <class Element, class S, class TA, class TX>
mxm_result<Element, S> multiply_by_features(const distributed<matrix<TA>>& a,
                                            const distributed<dense<TX>>& x,
                                            const descriptor& desc) {
  const communicator& ranks = a.communicator();
  const votes said = agree(ranks, "mxm", [] {}, {.lacking = access::whole(a).empty()});
  if (said.lacking > 0) access::gather(a);
  mxm_result<Element, S> c;
  agree(ranks, "mxm", [&] {
    const index first = first_feature(x.columns(), ranks.rank(), ranks.size());
    c = multiply_features<Element, S>(access::whole(a).front(), x.local(), first, x.columns(),
                                      access::of_one_rank(a, desc));
  });
  return c;
}

template <class T>
distributed<dense<T>> spread(const communicator& ranks, dense<T> local, const layout& rows,
                             index columns, bool by_features) {
  return access::make<T>(ranks, std::move(local), rows, columns, by_features);
}
template <class T>
distributed<indexed_dense<T>> spread(const communicator& ranks, indexed_dense<T> local,
                                     const layout& rows, index columns, bool by_features) {
  return {spread(ranks, std::move(local.values), rows, columns, by_features),
          spread(ranks, std::move(local.indices), rows, columns, by_features)};
}

template <class Element, class S, class TA, class TX, class Mask>
distributed<mxm_result<Element, S>> multiply(const distributed<matrix<TA>>& a,
                                             const distributed<dense<TX>>& x, const Mask& mask,
                                             const descriptor& desc) {
  const bool by_features = x.is_by_features();
  const exchange scheme = scheme_of<S, Mask>(by_features, desc).scheme;
  const bool is_split = scheme == exchange::features;
  const communicator& ranks = a.communicator();
  require_one_scheme(
      ranks, "mxm",
      agree(ranks, "mxm", [&] { check<S>(a, x, mask, desc, scheme); }, {.features = is_split}));
  std::optional<distributed<dense<TX>>> turned;
  if (is_split != by_features) turned.emplace(is_split ? x.by_features() : x.by_rows());
  const distributed<dense<TX>>& from = turned ? *turned : x;
  mxm_result<Element, S> local;
  if constexpr (is_masked<Mask> || needs_whole_numbers<S>) {
    // The other scheme was refused.
    if constexpr (!needs_whole_numbers<S>)
      local = multiply_by_fetch<Element, S>(a, from, mask, desc);
    else
      local = multiply_by_features<Element, S>(a, from, desc);
  } else {
    local = is_split ? multiply_by_features<Element, S>(a, from, desc)
                     : multiply_by_fetch<Element, S>(a, from, mask, desc);
  }
  auto c = spread(ranks, std::move(local), a.layout(), x.columns(), is_split);
  if (is_split == by_features) return c;
  return by_features ? c.by_features() : c.by_rows();
}

/// What explain adds up, without types.
struct volumes {
  const communicator& ranks;
  const layout &rows, &rows_of_x;
  index columns;
  std::size_t x_bytes, c_bytes;  ///< of an element
  bool by_features;              ///< X
  const fetch_plan* plan;        ///< of fetch
};
/// Fills in everything but the choice and the local product. Collective.
void add_volumes(const volumes& of, ranks_explanation& out);

}  // namespace over_ranks
/// @endcond

/// Sparse × dense over ranks and a semiring: the same bits as `mxm` of the whole operands on one
/// rank, for any semiring, layout and number of ranks. Under a mask: C⟨mask⟩ = A ⊕.⊗ X.
///
///   C(i,j) = finish(⊕_k A(i,k) ⊗ X(k,j), n_i),  n_i = entries of row i of A
///
/// Shapes: A m×k, X k×f, C m×f, with the rows of A's layout; C is by rows or by features as X is.
/// `desc.exchange` says what moves, the other fields mean what they mean on one rank; kernels are
/// `row` and `split`. Ranks have one kind of machine and one build. Collective; the first product
/// builds a plan, which A keeps. Throws error on all ranks if it is thrown on one: shape, place,
/// type, cannot, out_of_memory.
/// @code
/// const auto s = rig::plus_times<float>{};
/// const auto parts = rig::mxm(parts_of_A, parts_of_X, s, {.exchange = rig::exchange::fetch});
/// @endcode
template <class Element = void, class TA, class TX, class S, option_like Option = descriptor>
distributed<mxm_result<Element, S>> mxm(const distributed<matrix<TA>>& a,
                                        const distributed<dense<TX>>& x, S,
                                        const Option& option = {},
                                        const behind<Option>& desc = {}) {
  static_assert(require_type<S>() && require_semiring<S>());
  return over_ranks::multiply<Element, S>(a, x, mask_among(option), descriptor_among(option, desc));
}

/// Explains such a product: what moves between which ranks, and why. Builds the plan of `fetch`,
/// and moves no rows of X. Collective. Throws as the product.
/// @code
/// const auto why = rig::explain(parts_of_A, parts_of_X, rig::plus_times<float>{});
/// std::printf("rank %d receives most\n", why.largest_receiver);
/// @endcode
template <class TA, class TX, class S, option_like Option = descriptor>
ranks_explanation explain(const distributed<matrix<TA>>& a, const distributed<dense<TX>>& x, S,
                          const Option& option = {}, const behind<Option>& desc_of_mask = {}) {
  static_assert(require_type<S>() && require_semiring<S>());
  using result = mxm_result<void, S>;
  using over_ranks::access;
  const communicator& ranks = a.communicator();
  const auto& mask = mask_among(option);
  const descriptor& desc = descriptor_among(option, desc_of_mask);
  const auto choice =
      over_ranks::scheme_of<S, std::remove_cvref_t<decltype(mask)>>(x.is_by_features(), desc);
  const bool is_split = choice.scheme == exchange::features;
  over_ranks::require_one_scheme(
      ranks, "explain",
      over_ranks::agree(ranks, "explain",
                        [&] { over_ranks::check<S>(a, x, mask, desc, choice.scheme); },
                        {.features = is_split}));
  if (!is_split) a.prepare(x.layout());
  const auto plan = access::find(a, x.layout());
  ranks_explanation out;
  out.scheme = choice.scheme;
  out.reason = choice.reason;
  if (is_split && access::whole(a).empty())
    out.bytes_once = (ranks.size() - 1) * ((a.local().iso() ? 0 : int64{sizeof(TA)} * a.nnz()) +
                                           int64{sizeof(index)} * (a.nnz() + a.rows()));
  over_ranks::add_volumes(
      {ranks, a.layout(), x.layout(), x.columns(), sizeof(TX),
       sizeof(typename result::value_type) + (has_indices<result> ? sizeof(int32) : 0),
       x.is_by_features(), is_split ? nullptr : plan.get()},
      out);
  out.kernel = access::of_one_rank(a, desc).kernel;
  return out;
}

}  // namespace rig
