#pragma once

/// @file
/// Products with one column over ranks: `mxv` and `vxm`.

#include "rig/distributed_mxm.hpp"
#include "rig/mxv.hpp"

namespace rig {

/// @cond internal
namespace over_ranks {

/// Throws on all ranks unless u is one column.
template <class T>
void require_one_column(const char* name, const distributed<dense<T>>& u) {
  agree(u.communicator(), name, [&] {
    if (u.columns() != 1)
      fail(errc::shape, {name, ": u is ", u.rows(), "x", u.columns(), "; give one column"});
  });
}
/// The descriptor of vxm as a product with the transpose. Collective.
inline descriptor of_vxm(const communicator& ranks, descriptor desc) {
  agree(ranks, "vxm", [&] {
    if (desc.transpose_a)
      fail(errc::cannot, {"vxm: u is a dense, which is not transposed; leave transpose_a unset"});
  });
  desc.transpose_a = !desc.transpose_b;
  desc.transpose_b = false;
  return desc;
}

}  // namespace over_ranks
/// @endcond

/// Matrix × column over ranks: w = A ⊕.⊗ u, with the bits of one rank; if A is transposed, those of
/// `transpose(A)` there. Everything is as for `mxm` over ranks with one column.
/// @code
/// const auto ones = rig::distributed<rig::dense<float>>::from_whole(ranks, {A.rows(), 1, 1.0f},
/// rows); const auto sums = rig::mxv(parts_of_A, ones, rig::plus_times<float>{});
/// @endcode
template <class Element = void, class TA, class TU, class S, option_like Option = descriptor>
auto mxv(const distributed<matrix<TA>>& a, const distributed<dense<TU>>& u, S,
         const Option& option = {}, const behind<Option>& desc = {}) {
  static_assert(require_type<S>() && require_semiring<S>());
  over_ranks::require_one_column("mxv", u);
  return over_ranks::multiply<Element, S>(a, u, mask_among(option), descriptor_among(option, desc));
}

/// Row × matrix over ranks: wᵀ = uᵀ ⊕.⊗ A, with the bits of `transpose(A)` on one rank. u is the
/// left operand of ⊗. A keeps its transpose, so A is square unless transpose_b is set. Everything
/// else is as for `mxv`.
/// @code
/// const auto ones = rig::distributed<rig::dense<float>>::from_whole(ranks, {A.rows(), 1, 1.0f},
/// rows); const auto sums = rig::vxm(ones, parts_of_A, rig::plus_times<float>{});
/// @endcode
template <class Element = void, class TU, class TA, class S, option_like Option = descriptor>
auto vxm(const distributed<dense<TU>>& u, const distributed<matrix<TA>>& a, S,
         const Option& option = {}, const behind<Option>& desc = {}) {
  static_assert(require_type<S>() && require_semiring<S>());
  over_ranks::require_one_column("vxm", u);
  return over_ranks::multiply<Element, over_column<S>>(
      a, u, mask_among(option),
      over_ranks::of_vxm(a.communicator(), descriptor_among(option, desc)));
}

}  // namespace rig
