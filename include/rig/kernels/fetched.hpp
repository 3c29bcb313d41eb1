#pragma once

// Products over ranks: what each rank checks, and its product of the rows of X that it fetches.

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "rig/distributed_dense.hpp"
#include "rig/distributed_matrix.hpp"
#include "rig/kernels/cpu/order.hpp"
#include "rig/mxm.hpp"
#include "rig/mxv.hpp"

namespace rig::over_ranks {

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
  static const std::vector<gathered<T>>& whole(const distributed<matrix<T>>& of) {
    return *of.whole_;
  }
  /// The pattern of this rank's rows, on the CPU.
  template <class T>
  static const pattern& rows_here(const distributed<matrix<T>>& of) {
    return *of.on_host_;
  }
  /// Bytes that the whole matrix moves between all ranks, but for what is gathered already.
  /// Collective.
  template <class T>
  static int64 bytes_of_whole(const distributed<matrix<T>>& of, const char* name) {
    const communicator& ranks = of.ranks_;
    const auto lacking = [&](bool here) { return ranks.all_reduce(here, joining::sum) > 0; };
    if (!lacking(whole(of).empty())) return 0;
    const matrix<T>& here = of.local_;
    const int64 numbers = lacking(of.plans_->whole == nullptr) ? here.nnz() + here.rows() : 0;
    const T iso = here.iso_value();
    const plain_iso one = common_iso(ranks, name, here.nnz(), sizeof(T), here.iso(), &iso);
    const int64 values = one.is_iso ? 0 : int64{sizeof(T)} * here.nnz();
    const int64 sent = int64{sizeof(index)} * numbers + values + int64{plain_iso_bytes};
    return ranks.all_reduce((ranks.size() - 1) * sent, joining::sum);
  }
  template <class T>
  static const distributed<matrix<T>>& turned(const distributed<matrix<T>>& of, const char* name) {
    return of.turned(name);
  }
  template <class T>
  static void keep_whole(const distributed<matrix<T>>& of) {
    of.keep_whole("mxm");
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
  /// device, the plan of a fetch knows, or without one the whole matrix.
  template <class T>
  static descriptor of_one_rank(const distributed<matrix<T>>& of, const descriptor& desc,
                                const fetch_plan* plan = nullptr) {
    descriptor out = desc;
    const bool splits = of.local_.where() == cpu() ? on_cpu::splits(of.nnz_, of.longest_)
                        : plan != nullptr          ? plan->splits
                                                   : whole(of).front().splits;
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

template <class S, class TA, class X, class Mask>
void check(const distributed<matrix<TA>>& a, const distributed<X>& x, const Mask& mask,
           const descriptor& desc, exchange scheme) {
  const bool turns = desc.transpose_a;
  check_product({a.communicator(), x.communicator(), turns ? a.columns() : a.rows(),
                 turns ? a.rows() : a.columns(), x.rows(), x.columns(), desc, scheme, name_of<S>(),
                 is_exact<S>, needs_whole_numbers<S>, is_masked<Mask>, is_matrix<X>,
                 a.local().where(), x.local().where()});
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
  const std::array<fact, 10> facts = {
      fact("the layout of A", a.layout().hash()),
      fact("the columns of A", int64{a.columns()}),
      fact("the type of A", std::string_view(typeid(TA).name())),
      fact("the layout of the right operand", x.layout().hash()),
      fact("the columns of the right operand", int64{x.columns()}),
      fact("the type of the right operand", std::string_view(typeid(X).name())),
      fact("the semiring", std::string_view(name_of<S>())),
      fact("the mask", kind_of_mask(mask)),
      fact("the kernel", std::string_view(desc.kernel)),
      fact("the fill", desc.fill)};
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

/// Columns of a product on a device from `first` on, in the bits of a product of `columns`.
template <class S, class TA, class TX, class C>
void multiply_slice(const matrix<TA>& a, const dense<TX>& x, C&& c, index first, index columns,
                    const descriptor& desc) {
  problem p = make_problem("mxm", a, x, no_mask{}, desc, S());
  p.planned_columns = columns;
  p.planned_first = first;
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
        multiply_slice<S>(*entries, part, columns_of(c, k * width, width), k * width, x.columns(),
                          of_one);
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

}  // namespace rig::over_ranks
