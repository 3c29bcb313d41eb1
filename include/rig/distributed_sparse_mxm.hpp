#pragma once

/// @file
/// Products with sparse results over ranks: `mxm` of two matrices.

#include <cstring>
#include <optional>
#include <utility>

#include "rig/distributed_mxm.hpp"
#include "rig/sparse_mxm.hpp"

namespace rig {

/// @cond internal
namespace over_ranks {

/// The rows of B that this rank's rows of A name. Collective.
template <class TB>
matrix<TB> fetch_rows(const fetch_plan& plan, const distributed<matrix<TB>>& b) {
  const communicator& ranks = b.communicator();
  const matrix<TB>& here = b.local();
  const sent_values sent = access::values_to_send(b, "mxm");
  sparse_rows rows = fetch_sparse_rows(ranks, "mxm", plan, here.structure(), sent.data,
                                       sent.one.is_iso ? 0 : sizeof(TB));
  std::optional<matrix<TB>> made;
  agree(ranks, "mxm", [&] {
    made.emplace(
        access::with_sent_values<TB>(std::move(rows.structure), sent, std::move(rows.values)));
  });
  return *std::move(made);
}

template <class Element, class S, class TA, class TB, class Mask>
auto multiply_here(const matrix<TA>& a, const matrix<TB>& b, const Mask& mask,
                   const descriptor& desc) {
  if constexpr (is_masked<Mask>)
    return rig::mxm<Element>(a, b, S(), local_mask(mask), desc);
  else
    return rig::mxm<Element>(a, b, S(), desc);
}

/// Checks on all ranks. Collective.
template <class S, class TA, class TB, class Mask>
void agree_on_sparse(const char* name, const distributed<matrix<TA>>& a,
                     const distributed<matrix<TB>>& b, const Mask& mask, const descriptor& desc) {
  static_assert(!needs_whole_numbers<S>,
                "a product over ranks with a sparse result reads no positions");
  const auto check_all = [&] {
    require_cpu(name, a.local().where());
    check<S>(a, b, mask, desc, exchange::fetch);
    check_fetched(desc, false);
  };
  const communicator& ranks = a.communicator();
  require_one_scheme(ranks, name, agree(ranks, name, check_all, {.transposed = desc.transpose_a}));
  require_one_call<S>(name, a, b, mask, desc);
}

template <class Element, class S, class TA, class TB, class Mask>
auto multiply_sparse(const distributed<matrix<TA>>& a, const distributed<matrix<TB>>& b,
                     const Mask& mask, const descriptor& desc) {
  using result = decltype(multiply_here<Element, S>(a.local(), b.local(), mask, desc));
  const communicator& ranks = a.communicator();
  agree_on_sparse<S>("mxm", a, b, mask, desc);
  const distributed<matrix<TA>>& left = desc.transpose_a ? access::turned(a, "mxm") : a;
  auto plan = access::find(left, b.layout());
  const votes said = agree(ranks, "mxm", [] {}, {.lacking = plan == nullptr});
  if (said.lacking > 0) plan = access::plan(left, b.layout(), "mxm");
  const matrix<TB> rows_of_b = fetch_rows(*plan, b);
  std::optional<result> made;
  agree(ranks, "mxm", [&] {
    made.emplace(multiply_here<Element, S>(renumbered(left.local(), *plan), rows_of_b, mask,
                                           straight(desc)));
  });
  return distributed<result>::from_rows(ranks, *made, left.layout());
}

template <class S, class TA, class TB, class Mask>
ranks_explanation explained_sparse(const distributed<matrix<TA>>& a,
                                   const distributed<matrix<TB>>& b, const Mask& mask,
                                   const descriptor& desc) {
  const communicator& ranks = a.communicator();
  agree_on_sparse<S>("explain", a, b, mask, desc);
  const distributed<matrix<TA>>& left = desc.transpose_a ? access::turned(a, "explain") : a;
  left.prepare(b.layout());
  const auto plan = access::find(left, b.layout());
  const matrix<TB>& here = b.local();
  const TB iso = here.iso_value();
  const bool is_iso = common_iso(ranks, "explain", here.nnz(), sizeof(TB), here.iso(), &iso).is_iso;
  std::vector<int64> received =
      sparse_volumes(ranks, "explain", *plan, here.structure(), is_iso ? 0 : sizeof(TB));
  ranks_explanation out;
  add_volumes(
      ranks, [&] { return std::move(received); }, out);
  add_shares(ranks, access::rows_here(left), b.layout(), out);
  agree(ranks, "explain", [&] {
    out.reason = "the rows of B that A names";
    out.kernel = desc.kernel.empty() ? "chosen by each rank" : desc.kernel;
  });
  return out;
}

}  // namespace over_ranks
/// @endcond

/// Sparse × sparse over ranks, into a new matrix: the bits of one rank, for any layout and number
/// of ranks.
///
///   C(i,j) = finish(⊕_k op(A)(i,k) ⊗ B(k,j), n_i), where some k has both entries
///
/// Each rank fetches the rows of B that its rows of A name. A B of one column is a sparse vector
/// over ranks. Shapes: op(A) m×k, B k×n, C m×n, with the rows of A's layout, as the mask. With
/// transpose_a A is square; B is not transposed, so pass `transpose(B, layout)`. Everything else is
/// as for `mxm` of two matrices. Collective; the first product builds a plan, which A keeps. Throws
/// error on all ranks if it is thrown on one: shape, place, unknown_kernel, cannot, out_of_memory.
/// @code
/// const auto two_steps = rig::mxm(parts_of_A, parts_of_A, rig::plus_times<float>{});
/// @endcode
template <class Element = void, class TA, class TB, class S, option_like Option = descriptor>
auto mxm(const distributed<matrix<TA>>& a, const distributed<matrix<TB>>& b, S,
         const Option& option = {}, const behind<Option>& desc = {}) {
  static_assert(require_type<S>() && require_semiring<S>());
  return over_ranks::multiply_sparse<Element, S>(a, b, mask_among(option),
                                                 descriptor_among(option, desc));
}

/// Explains such a product: what moves between which ranks. Builds the plan, and moves the lengths
/// of the rows of B that A names, but no entries. Collective. Throws as the product.
/// @code
/// const auto why = rig::explain(parts_of_A, parts_of_A, rig::plus_times<float>{});
/// std::printf("rank %d receives most\n", why.largest_receiver);
/// @endcode
template <class TA, class TB, class S, option_like Option = descriptor>
ranks_explanation explain(const distributed<matrix<TA>>& a, const distributed<matrix<TB>>& b, S,
                          const Option& option = {}, const behind<Option>& desc = {}) {
  static_assert(require_type<S>() && require_semiring<S>());
  return over_ranks::explained_sparse<S>(a, b, mask_among(option), descriptor_among(option, desc));
}

}  // namespace rig
