#pragma once

/// @file
/// Products over ranks: `mxm` and `explain` of what is distributed.

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rig/kernels/cover.hpp"
#include "rig/kernels/fetched.hpp"

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
  /// those of `fetch` and `cover`, and on devices also that of `features`, so it is 0 there.
  int64 bytes_once = 0;
  int largest_receiver = 0;  ///< the rank that receives most
  int64 largest_bytes = 0;   ///< the bytes that it receives
  double mean_bytes = 0;     ///< the bytes that a rank receives on average
  /// The share of the rows of A that need no row of X of another rank, as A and X are laid out.
  double interior = 1;
  /// The largest rank's share of the entries. By features it is the share of the columns, and a CPU
  /// counts the columns of zeros that it computes.
  double largest_part = 1;
  int slices = 1;      ///< of X's columns: on devices one travels beside the product of another
  std::string kernel;  ///< the kernel of each rank: the one that one rank would choose
  /// The scheme, its reason, the kernel, and the volumes: by pair for up to 16 ranks.
  std::string text() const;
  /// Predicts the seconds of a product, from those of one rank and from the bytes that a rank
  /// receives per second. If they are not fewer than those of one rank, do not distribute. Packing
  /// is left out, and so are the agreements of the ranks, which count in short products.
  double seconds(double one_rank, double bytes_per_second) const;
};

/// @cond internal
namespace over_ranks {

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
  using result = mxm_result<Element, S>;
  if (whole.where() != cpu()) {
    auto c =
        make_result<result>(new_problem<result>("mxm", whole, x, S(), no_mask{}, desc), no_mask{});
    multiply_slice<S>(whole, x, c, first, columns, desc);
    return c;
  }
  const auto parts = on_cpu::column_parts<S>(first, first + x.columns(), columns);
  if (parts.size() == 1 && parts[0].computed == parts[0].count)
    return mxm_creating<Element>(whole, x, S(), no_mask{}, desc);
  result c;
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
  if (said.lacking > 0) access::keep_whole(a);
  mxm_result<Element, S> c;
  agree(ranks, "mxm", [&] {
    const index first = first_feature(x.columns(), ranks.rank(), ranks.size());
    c = multiply_features<Element, S>(access::whole(a).front().entries, x.local(), first,
                                      x.columns(), access::of_one_rank(a, desc));
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
    return multiply<Element, S>(access::turned(a, "mxm"), x, mask, straight(desc), true);
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
/// Fills in how A's rows and entries are shared. Collective.
void add_shares(const communicator& ranks, const pattern& rows_here, const layout& rows_of_x,
                ranks_explanation& out);
/// Fills in everything but the choice and the local product: from the bytes that this rank receives
/// from each. Collective.
void add_volumes(const communicator& ranks, const callback<std::vector<int64>>& received,
                 ranks_explanation& out);
void add_volumes(const volumes& of, ranks_explanation& out);

/// The columns that this rank computes by features; on the CPU columns of zeros among them.
template <class S, class TX>
int64 columns_computed(const distributed<dense<TX>>& x, place where) {
  const communicator& ranks = x.communicator();
  const index first = first_feature(x.columns(), ranks.rank(), ranks.size()),
              last = first_feature(x.columns(), ranks.rank() + 1, ranks.size());
  if (where != cpu()) return last - first;
  int64 computed = 0;
  for (const on_cpu::column_part& part : on_cpu::column_parts<S>(first, last, x.columns()))
    computed += part.computed;
  return computed;
}

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
  if (desc.transpose_a) return explained<S>(access::turned(a, "explain"), x, mask, straight(desc));
  volumes of{ranks,       a.layout(),         x.layout(), x.columns(), sizeof(TX),
             bytes_of<S>, x.is_by_features(), nullptr,    nullptr,     bytes_of<before_finish<S>>};
  std::shared_ptr<const fetch_plan> plan;
  ranks_explanation out;
  if (choice.scheme == exchange::features) {
    if (a.local().where() != cpu()) a.prepare(x.layout(), {.exchange = exchange::features});
    out.bytes_once = access::bytes_of_whole(a, "explain");
  } else if (choice.scheme == exchange::cover) {
    of.cover = access::cover(a, x.layout(), "explain").plan.get();
    of.plan = of.cover->fetched.get();
  } else {
    a.prepare(x.layout());
    plan = access::find(a, x.layout());
    of.plan = plan.get();
  }
  add_volumes(of, out);
  add_shares(ranks, access::rows_here(a), x.layout(), out);
  if (choice.scheme == exchange::features && x.columns() > 0)
    out.largest_part = static_cast<double>(ranks.all_reduce(
                           columns_computed<S>(x, a.local().where()), joining::greatest)) /
                       x.columns();
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
/// Parts on devices take `fetch` and `features`; their bits are those of one device with a packed
/// X. Ranks have one kind of machine and one build. Collective; the first product builds a plan,
/// which A keeps. Throws error on all ranks if it is thrown on one: shape, place, type, cannot,
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

/// Explains such a product: what moves between which ranks, and why. Builds the plan that the
/// product would build, but does not gather A on the CPU. Moves no rows of X. Collective. Throws as
/// the product.
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
