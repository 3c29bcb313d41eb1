#pragma once

/// @file
/// Products over ranks: `mxm` and `explain` of what is distributed.

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "rig/distributed_dense.hpp"
#include "rig/distributed_matrix.hpp"
#include "rig/kernels/cover.hpp"
#include "rig/kernels/cpu/order.hpp"
#include "rig/mxm.hpp"
#include "rig/mxv.hpp"

namespace rig {

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
  int64 bytes_by_fetch = 0;  ///< bytes that `fetch` would move, where `cover` is the scheme
  /// Bytes that the first product also moves between all ranks, to build its plan. `explain` builds
  /// those of `fetch` and `cover`, so it is 0 there.
  int64 bytes_once = 0;
  int largest_receiver = 0;  ///< the rank that receives most
  int64 largest_bytes = 0;   ///< the bytes that it receives
  double mean_bytes = 0;     ///< the bytes that a rank receives on average
  int slices = 1;      ///< of X's columns: on devices one travels beside the product of another
  std::string kernel;  ///< the kernel of each rank: the one that one rank would choose
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
  const char* semiring;
  bool is_exact, needs_whole_numbers, is_masked, is_sparse;
  place where, place_of_x;
  bool is_by_features;  ///< X
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
  /// Bytes that the whole matrix moves from this rank, but for what is gathered already.
  template <class T>
  static int64 bytes_of_whole(const distributed<matrix<T>>& of) {
    if (!whole(of).empty()) return 0;
    const matrix<T>& here = of.local_;
    const int64 numbers = of.plans_->whole != nullptr ? 0 : here.nnz() + here.rows();
    const int64 values = here.iso() ? 0 : int64{sizeof(T)} * here.nnz();
    return (of.ranks_.size() - 1) * (int64{sizeof(index)} * numbers + values);
  }
  template <class T>
  static const distributed<matrix<T>>& turned(const distributed<matrix<T>>& of) {
    return of.turned();
  }
  template <class T>
  static void gather(const distributed<matrix<T>>& of) {
    of.gather("mxm");
  }
  template <class T>
  static const covered<T>& cover(const distributed<matrix<T>>& of, const layout& of_x,
                                 const char* name) {
    return of.cover(of_x, name);
  }
  template <class T>
  static sent_values values_to_send(const distributed<matrix<T>>& of, const char* name) {
    return of.values_to_send(name);
  }
  template <class T>
  static matrix<T> with_sent_values(std::shared_ptr<const pattern> structure,
                                    const sent_values& sent, buffer values) {
    return distributed<matrix<T>>::with_sent_values(std::move(structure), sent, std::move(values));
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
  /// The kernel that one rank would choose for the whole matrix: it determines the bits. On a
  /// device, the plan of a fetch knows.
  template <class T>
  static descriptor of_one_rank(const distributed<matrix<T>>& of, const descriptor& desc,
                                const fetch_plan* plan = nullptr) {
    descriptor out = desc;
    const bool is_on_device = plan != nullptr && plan->where() != cpu();
    const bool splits = is_on_device ? plan->splits : on_cpu::splits(of.nnz_, of.longest_);
    if (desc.kernel.empty()) out.kernel = splits ? "split" : "row";
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

template <class X>
bool lies_by_features(const distributed<X>& x) {
  if constexpr (requires { x.is_by_features(); }) return x.is_by_features();
  return false;
}

template <class S, class TA, class X, class Mask>
void check(const distributed<matrix<TA>>& a, const distributed<X>& x, const Mask& mask,
           const descriptor& desc, exchange scheme) {
  const bool turns = desc.transpose_a;
  check_product({a.communicator(), x.communicator(), turns ? a.columns() : a.rows(),
                 turns ? a.rows() : a.columns(), x.rows(), x.columns(), desc, scheme, name_of<S>(),
                 is_exact<S>, needs_whole_numbers<S>, is_masked<Mask>, is_matrix<X>,
                 a.local().where(), x.local().where(), lies_by_features(x)});
  check_mask_of(a.communicator(), a.layout(), mask);
  if constexpr (is_masked<Mask>)
    if (mask.container.columns() != x.columns())
      fail(errc::shape, {"mxm: the result has ", x.columns(), " columns, the mask ",
                         mask.container.columns(), "; pass a mask of the result's shape"});
  constexpr bool is_converted = !is_ignoring_right<S> && !is_same<X, dense<typename S::right>> &&
                                !is_cbsr<X> && !is_matrix<X>;
  if constexpr (is_converted && !is_exact<S>)
    if (const index of_tile = on_cpu::columns_of_tile<S>(); x.columns() % of_tile == 1)
      refuse_conversion(x.columns(), of_tile, name_of<S>());
}

template <class Mask>
int64 kind_of_mask(const Mask& of) {
  if constexpr (is_masked<Mask>)
    return 1 + 2 * of.structural + 4 * of.complemented;
  else
    return 0;
}

/// Throws on all ranks if their calls differ. Collective.
template <class S, class TA, class X, class Mask>
void require_one_call(const char* name, const distributed<matrix<TA>>& a, const distributed<X>& x,
                      const Mask& mask, const descriptor& desc) {
  const std::array<fact, 9> facts = {
      fact("the layout of A", a.layout().hash()),
      fact("the columns of A", int64{a.columns()}),
      fact("the type of A", std::string_view(typeid(TA).name())),
      fact("the layout of the right operand", x.layout().hash()),
      fact("the columns of the right operand", int64{x.columns()}),
      fact("the type of the right operand", std::string_view(typeid(X).name())),
      fact("the semiring", std::string_view(name_of<S>())),
      fact("the mask", kind_of_mask(mask)),
      fact("the kernel", std::string_view(desc.kernel))};
  require_alike(a.communicator(), name, facts);
}

/// Checks on all ranks, and counts their schemes. Collective.
template <class S, class TA, class X, class Mask>
votes agree_on_product(const char* name, const distributed<matrix<TA>>& a, const distributed<X>& x,
                       const Mask& mask, const descriptor& desc, exchange scheme) {
  const votes said = {.features = scheme == exchange::features,
                      .cover = scheme == exchange::cover,
                      .transposed = desc.transpose_a};
  return agree(
      a.communicator(), name, [&] { check<S>(a, x, mask, desc, scheme); }, said);
}

/// The arrays of an X of which a rank fetches rows, and the operand that it makes of them.
template <class X>
struct carried;
template <class T>
struct carried<dense<T>> {
  static std::array<row_array, 1> arrays(const dense<T>& x) {
    return {{{x.data(), static_cast<std::size_t>(x.stride()) * sizeof(T),
              static_cast<std::size_t>(x.columns()) * sizeof(T), x.stream()}}};
  }
  static dense<T> operand(const dense<T>& like, index rows, const std::array<fetch, 1>& moved) {
    const buffer& x = moved[0].x;
    return dense<T>::view(x.template data<const T>(), rows, like.columns(), 0, x.where(),
                          x.stream());
  }
};

/// This rank's rows of A, with the plan's numbers of columns.
template <class TA>
matrix<TA> renumbered(const matrix<TA>& here, const fetch_plan& plan) {
  const std::size_t bytes = static_cast<std::size_t>(here.nnz()) * sizeof(TA);
  return here.iso() ? matrix<TA>(plan.local, here.iso_value())
                    : matrix<TA>(plan.local, buffer::borrow(const_cast<TA*>(here.values()), bytes,
                                                            here.where(), here.values_stream()));
}

/// Replaces the numbers of columns in the result of an arg form, on the CPU.
template <class C, class Number>
void renumber_indices(C& c, const Number& number) {
  if constexpr (has_indices<C>)
    for (int32& k : c.indices.span())
      if (k >= 0) k = number(k);
}

/// This rank's product by fetch of these entries, by the kernel that one rank would choose.
template <class Element, class S, class TA, class X, class Mask>
mxm_result<Element, S> multiply_fetched(const matrix<TA>& entries, const fetch_plan& plan,
                                        const X& x, const Mask& mask, const descriptor& of_one) {
  auto c = mxm_creating<Element>(renumbered(entries, plan), x, S(), local_mask(mask), of_one);
  if constexpr (positional<S> && has_indices<mxm_result<Element, S>>)
    name_columns(plan, c.indices.data(), int64{c.indices.rows()} * c.indices.columns(),
                 c.indices.stream());
  return c;
}

template <class X>
inline constexpr bool is_dense = false;
template <class T>
inline constexpr bool is_dense<dense<T>> = true;

/// Some columns of a result.
template <class T>
dense<T> columns_of(dense<T>& c, index first, index count) {
  T* const begin = c.rows() > 0 ? c.data() + first : c.data();
  return dense<T>::view(begin, c.rows(), count, c.stride(), c.where(), c.stream());
}
template <class T>
indexed_dense<T> columns_of(indexed_dense<T>& c, index first, index count) {
  return {columns_of(c.values, first, count), columns_of(c.indices, first, count)};
}

/// A slice of the columns of a product, in the bits of the whole.
template <class S, class TA, class TX, class C>
void multiply_slice(const matrix<TA>& a, const dense<TX>& x, C&& c, index columns,
                    const descriptor& desc) {
  problem p = make_problem("mxm", a, x, no_mask{}, desc, S());
  p.planned_columns = columns;
  fill_in_result<S>(p, c);
  check(p);
  run(p);
}

/// The number of slices of columns in which the rows of X travel to parts on devices. Collective.
template <class Element, class S, class TA, class TX>
int agree_on_slices(const char* name, const distributed<matrix<TA>>& a, const dense<TX>& x,
                    const fetch_plan& plan, const descriptor& desc) {
  const communicator& ranks = a.communicator();
  int64 slices = 1;
  agree(ranks, name, [&] {
    const matrix<TA> entries = renumbered(a.local(), plan);
    problem p = new_problem<mxm_result<Element, S>>("mxm", entries, x, S(), no_mask{}, desc);
    slices = slices_of(plan, p, carried<dense<TX>>::arrays(x)[0].bytes);
  });
  return static_cast<int>(ranks.all_reduce(slices, joining::least));
}

/// The product by fetch of parts on devices, while rows of later columns travel.
template <class Element, class S, class TA, class TX>
mxm_result<Element, S> multiply_in_slices(const distributed<matrix<TA>>& a, const dense<TX>& x,
                                          const fetch_plan& plan, int slices,
                                          const descriptor& of_one) {
  const index width = x.columns() / slices;
  std::optional<matrix<TA>> entries;
  mxm_result<Element, S> c;
  fetch_in_slices(
      a.communicator(), plan, carried<dense<TX>>::arrays(x)[0], slices, of_one.stream,
      [&] {
        entries.emplace(renumbered(a.local(), plan));
        const problem p =
            new_problem<mxm_result<Element, S>>("mxm", *entries, x, S(), no_mask{}, of_one);
        c = make_result<mxm_result<Element, S>>(p, no_mask{});
      },
      [&](int k, const buffer& rows) {
        const auto part =
            dense<TX>::view(rows.data<const TX>(), static_cast<index>(plan.columns.size()), width,
                            0, plan.where(), of_one.stream);
        multiply_slice<S>(*entries, part, columns_of(c, k * width, width), x.columns(), of_one);
        if constexpr (positional<S> && has_indices<mxm_result<Element, S>>)
          if (k + 1 == slices)
            name_columns(plan, c.indices.data(), int64{c.indices.rows()} * x.columns(),
                         c.indices.stream());
      });
  return c;
}

/// X, A and what they are multiplied by, on their way to the result by rows.
template <class Element, class S, class TA, class X, class Mask>
mxm_result<Element, S> multiply_by_fetch(const distributed<matrix<TA>>& a, const distributed<X>& x,
                                         const Mask& mask, const descriptor& desc) {
  const communicator& ranks = a.communicator();
  auto plan = access::find(a, x.layout());
  const auto arrays = carried<X>::arrays(x.local());
  std::array<fetch, arrays.size()> moved;
  constexpr bool may_slice = !is_masked<Mask> && is_dense<X>;
  const auto may_pay = [&] { return may_slice && is_worth_slices(ranks, *plan, arrays[0].bytes); };
  const auto start = [&] {
    for (std::size_t k = 0; k < arrays.size(); ++k)
      moved[k] = start_fetch(*plan, ranks, arrays[k], desc.stream);
  };
  const votes said = agree(ranks, "mxm",
                           [&] {
                             if (plan != nullptr && !may_pay()) start();
                           },
                           {.lacking = plan == nullptr});
  if (said.lacking > 0) {
    plan = access::plan(a, x.layout(), "mxm");
    if (!may_pay()) agree(ranks, "mxm", start);
  }
  if constexpr (may_slice)
    if (may_pay()) {
      const descriptor of_one = access::of_one_rank(a, desc, plan.get());
      const int slices = agree_on_slices<Element, S>("mxm", a, x.local(), *plan, of_one);
      if (slices > 1) return multiply_in_slices<Element, S>(a, x.local(), *plan, slices, of_one);
      agree(ranks, "mxm", start);
    }
  for (const fetch& of : moved) ranks.exchange(of.sends, of.receives, of.stream);
  mxm_result<Element, S> c;
  agree(ranks, "mxm", [&] {
    for (std::size_t k = 0; k < arrays.size(); ++k)
      finish_fetch(*plan, moved[k], ranks.rank(), arrays[k].bytes);
    const auto rows = static_cast<index>(plan->columns.size());
    c = multiply_fetched<Element, S>(a.local(), *plan, carried<X>::operand(x.local(), rows, moved),
                                     mask,
                                     is_cbsr<X> ? desc : access::of_one_rank(a, desc, plan.get()));
  });
  return c;
}

/// The product of the entries that stay, with the rows of X that came and the partial rows of C.
template <class Element, class S, class TA, class TX, class Sums>
mxm_result<Element, S> join_partial(const distributed<matrix<TA>>& a, const covered<TA>& of,
                                    const dense<TX>& x, const Sums& partial,
                                    const descriptor& desc) {
  using sums = before_finish<S>;
  using result = mxm_result<Element, S>;
  constexpr bool is_finished = is_same<sums, S> && is_same<Sums, result>;
  const descriptor of_one = access::of_one_rank(a, desc);
  descriptor of_sums = of_one;
  if (!is_finished) of_sums.fill = {};
  const cover_plan& plan = *of.plan;
  auto c = multiply_fetched<void, sums>(of.kept, *plan.fetched, x, no_mask{}, of_sums);
  add_rows<sums>(c, of.kept.structure(), partial, plan.added, x.columns());
  if constexpr (is_finished) {
    return c;
  } else {
    const result fill = mxm_creating<Element>(matrix<TA>(1, x.rows()), x, S(), no_mask{}, of_one);
    return finished_rows<S>(a.local().structure(), c, fill, x.columns());
  }
}

/// This rank's product by a cover: rows of X and partial rows of C travel together.
template <class Element, class S, class TA, class TX>
mxm_result<Element, S> multiply_by_cover(const distributed<matrix<TA>>& a,
                                         const distributed<dense<TX>>& x, const descriptor& desc) {
  using sums = before_finish<S>;
  const communicator& ranks = a.communicator();
  const covered<TA>& of = access::cover(a, x.layout(), "mxm");
  const cover_plan& plan = *of.plan;
  const row_array rows = carried<dense<TX>>::arrays(x.local())[0];
  std::array<fetch, 1> moved;
  mxm_result<void, sums> sent, came;
  agree(ranks, "mxm", [&] {
    moved[0] = start_fetch(*plan.fetched, ranks, rows);
    descriptor of_sums = desc;
    of_sums.fill = {};
    sent = mxm_creating<void>(of.partial, x.local(), sums(), no_mask{}, of_sums);
    if constexpr (positional<S>)
      renumber_indices(sent, [&](index k) { return x.layout().row_at(ranks.rank(), k); });
    make_room(came, static_cast<index>(plan.added.size()), x.columns());
    add_messages(moved[0].sends, sent, plan.partial_first);
    add_messages(moved[0].receives, came, plan.added_first);
  });
  ranks.exchange(moved[0].sends, moved[0].receives, desc.stream);
  mxm_result<Element, S> c;
  agree(ranks, "mxm", [&] {
    finish_fetch(*plan.fetched, moved[0], ranks.rank(), rows.bytes);
    const auto count = static_cast<index>(plan.fetched->columns.size());
    c = join_partial<Element, S>(a, of, carried<dense<TX>>::operand(x.local(), count, moved), came,
                                 desc);
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

template <class Element, class S, class TA, class TX>
mxm_result<Element, S> multiply_by_rows(const distributed<matrix<TA>>& a,
                                        const distributed<dense<TX>>& x, const descriptor& desc,
                                        exchange scheme) {
  if constexpr (is_exact<S>)  // others were refused
    if (scheme == exchange::cover) return multiply_by_cover<Element, S>(a, x, desc);
  return multiply_by_fetch<Element, S>(a, x, no_mask{}, desc);
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

/// The descriptor of the same product of the transpose. Its kernel's name is short, or refused
/// before, so no rank allocates.
inline descriptor straight(descriptor desc) {
  desc.transpose_a = false;
  return desc;
}

template <class Element, class S, class TA, class TX, class Mask>
distributed<mxm_result<Element, S>> multiply(const distributed<matrix<TA>>& a,
                                             const distributed<dense<TX>>& x, const Mask& mask,
                                             const descriptor& desc, bool is_one_call = false) {
  const bool by_features = x.is_by_features();
  const exchange scheme = scheme_of<S, Mask>(by_features, desc).scheme;
  const bool is_split = scheme == exchange::features;
  const communicator& ranks = a.communicator();
  require_one_scheme(ranks, "mxm", agree_on_product<S>("mxm", a, x, mask, desc, scheme));
  if (!is_one_call) require_one_call<S>("mxm", a, x, mask, desc);
  if (desc.transpose_a)
    return multiply<Element, S>(access::turned(a), x, mask, straight(desc), true);
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
  } else if (is_split) {
    local = multiply_by_features<Element, S>(a, from, desc);
  } else {
    local = multiply_by_rows<Element, S>(a, from, desc, scheme);
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
  const fetch_plan* plan;        ///< of what is fetched; null: nothing
  const cover_plan* cover;       ///< null: another scheme
  std::size_t partial_bytes;     ///< of an element of a partial row
};
/// Fills in everything but the choice and the local product: from the bytes that this rank receives
/// from each. Collective.
void add_volumes(const communicator& ranks, const callback<std::vector<int64>>& received,
                 ranks_explanation& out);
void add_volumes(const volumes& of, ranks_explanation& out);

/// Bytes of an element of a product.
template <class S>
inline constexpr std::size_t bytes_of = sizeof(typename mxm_result<void, S>::value_type) +
                                        (has_indices<mxm_result<void, S>> ? sizeof(int32) : 0);

template <class S, class TA, class TX, class Mask>
ranks_explanation explained(const distributed<matrix<TA>>& a, const distributed<dense<TX>>& x,
                            const Mask& mask, const descriptor& desc) {
  const communicator& ranks = a.communicator();
  const auto choice = scheme_of<S, Mask>(x.is_by_features(), desc);
  require_one_scheme(ranks, "explain",
                     agree_on_product<S>("explain", a, x, mask, desc, choice.scheme));
  require_one_call<S>("explain", a, x, mask, desc);
  if (desc.transpose_a) return explained<S>(access::turned(a), x, mask, straight(desc));
  volumes of{ranks,       a.layout(),         x.layout(), x.columns(), sizeof(TX),
             bytes_of<S>, x.is_by_features(), nullptr,    nullptr,     bytes_of<before_finish<S>>};
  std::shared_ptr<const fetch_plan> plan;
  ranks_explanation out;
  if (choice.scheme == exchange::features) {
    out.bytes_once = ranks.all_reduce(access::bytes_of_whole(a), joining::sum);
  } else if (choice.scheme == exchange::cover) {
    of.cover = access::cover(a, x.layout(), "explain").plan.get();
    of.plan = of.cover->fetched.get();
  } else {
    a.prepare(x.layout());
    plan = access::find(a, x.layout());
    of.plan = plan.get();
  }
  add_volumes(of, out);
  if constexpr (!is_masked<Mask>)
    if (plan && is_worth_slices(ranks, *plan, carried<dense<TX>>::arrays(x.local())[0].bytes))
      out.slices = agree_on_slices<void, S>("explain", a, x.local(), *plan,
                                            access::of_one_rank(a, desc, plan.get()));
  agree(ranks, "explain", [&] {
    out.scheme = choice.scheme;
    out.reason = choice.reason;
    out.kernel = access::of_one_rank(a, desc, plan.get()).kernel;
  });
  return out;
}

}  // namespace over_ranks
/// @endcond

/// Sparse × dense over ranks and a semiring: the same bits as `mxm` of the whole operands on one
/// rank, for any semiring, layout and number of ranks. Under a mask: C⟨mask⟩ = A ⊕.⊗ X.
///
///   C(i,j) = finish(⊕_k A(i,k) ⊗ X(k,j), n_i),  n_i = entries of row i of A
///
/// Shapes: A m×k, X k×f, C m×f, with the rows of A's layout; C is by rows or by features as X is.
/// `desc.exchange` says what moves, the other fields mean what they mean on one rank; kernels are
/// `row` and `split`. With transpose_a A is square, and Aᵀ goes to the ranks that have its rows.
/// Parts on devices take `exchange::fetch`; their bits are those of one device with a packed X.
/// Ranks have one kind of machine and one build. Collective; the first product builds a plan, which
/// A keeps. Throws error on all ranks if it is thrown on one: shape, place, type, cannot,
/// out_of_memory.
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
                          const Option& option = {}, const behind<Option>& desc = {}) {
  static_assert(require_type<S>() && require_semiring<S>());
  return over_ranks::explained<S>(a, x, mask_among(option), descriptor_among(option, desc));
}

}  // namespace rig
