#pragma once

/// @file
/// The fixed point of products over ranks: `closure`.

#include "rig/closure.hpp"
#include "rig/distributed_mxm.hpp"

namespace rig {

/// @cond internal
namespace over_ranks {

/// S over the transpose, where zero() is no value, so that it has no products. Both operands are
/// read, whatever S ignores.
template <class S>
struct along_arcs : flipped<S> {
  using left = typename S::right;
  using right = typename S::left;
  using accum = typename S::accum;
  static constexpr bool ignores_right = false;
  static constexpr accum multiply(left a, right b) {
    const bool is_there = on_cpu::differs(b, S::zero()) || on_cpu::differs(S::zero(), b);
    return is_there ? S::multiply(b, a) : S::zero();
  }
};

/// Elements that a round changed.
struct changes {
  int64 all = 0;
  int64 finite = 0;  ///< those that another round can improve without end
};
/// y = y ⊕ t.
template <class S>
changes add_into(dense<typename S::accum>& y, const dense<typename S::accum>& t) {
  changes made;
  for (index i = 0; i < y.rows(); ++i) {
    const auto to = y.row(i);
    const auto from = t.row(i);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const auto sum = S::add(to[j], from[j]);
      if (!on_cpu::differs(sum, to[j])) continue;
      to[j] = sum;
      ++made.all;
      made.finite += on_cpu::may_improve(sum);
    }
  }
  return made;
}

}  // namespace over_ranks

/// y = y ⊕ y·A until nothing changes on any rank. Returns the number of rounds. Collective.
template <semiring S>
int64 close_into(const char* name, distributed<dense<typename S::accum>>& y,
                 const distributed<matrix<typename S::right>>& a, S, const closure_options& given,
                 const descriptor& desc) {
  static_assert(is_same<typename S::left, typename S::accum>,
                "closure multiplies its own sums: left and accum of the semiring are one type");
  static_assert(!has_finish<S>, "closure multiplies its own sums, so the semiring has no finish");
  static_assert(!positional<S>, "closure over ranks reads no positions");
  using namespace over_ranks;
  const communicator& ranks = a.communicator();
  agree(ranks, name, [&] {
    check_closing_laws<S>(name);
    require_cpu(name, a.local().where());
    check_closing(name, a.rows(), a.columns(), y.rows(), desc);
  });
  require_one_call<S>(name, a, y, no_mask{}, desc);
  const auto& turned = access::turned(a, name);
  dense<typename S::accum> mine = y.view();
  int64 rounds = 0, changed = 1;
  while (changed > 0) {
    const auto offers =
        multiply<void, along_arcs<S>>(turned, y, no_mask{}, {.threads = desc.threads}, true);
    const changes made = add_into<S>(mine, offers.local());
    changed = ranks.all_reduce(made.all, joining::sum);
    ++rounds;
    const bool is_late = rounds > a.rows();
    const int64 finite = is_late ? ranks.all_reduce(made.finite, joining::sum) : 0;
    agree(ranks, name, [&] {
      if (finite > 0) refuse_to_settle(name, name_of<S>(), a.rows());
      if (given.progress) given.progress(static_cast<int>(rounds), changed);
    });
  }
  return rounds;
}
/// @endcond

/// The closure x·A* over ranks: the bits of `closure` on one rank. A is square; x is by rows, in
/// A's layout.
///
///   y = x ⊕ y·A,  the least one:  y(j) = ⊕ over walks i → … → j of x(i) ⊗ A(i,k) ⊗ … ⊗ A(l,j)
///
/// Each round is a product of the transpose, which A keeps, with the rows of y that it needs. The
/// options' width has no effect. Everything else is as for `closure` of a dense. Collective. Cost:
/// a product per round, as many rounds as the longest of the best walks has arcs. Throws on all
/// ranks.
/// @code
/// rig::dense<float> x(A.rows(), 1, rig::highest<float>());
/// x(0, 0) = 0;
/// const auto from = rig::distributed<rig::dense<float>>::from_whole(ranks, x, rows);
/// const auto lengths = rig::closure(from, parts_of_A, rig::min_plus<float>{});
/// @endcode
template <class T, class TA, semiring S>
distributed<dense<typename S::accum>> closure(const distributed<dense<T>>& x,
                                              const distributed<matrix<TA>>& a, S s,
                                              const closure_options& given = {},
                                              const descriptor& desc = {}) {
  using over_ranks::access;
  using accum = typename S::accum;
  const communicator& ranks = a.communicator();
  dense<accum> first;
  std::optional<distributed<matrix<typename S::right>>> weights;
  over_ranks::agree(ranks, "closure", [&] {
    over_ranks::check_by_rows("closure", x.is_by_features(), x.layout() == a.layout());
    const descriptor other{.threads = desc.threads};
    first = first_values<S>(x.local(), other);
    weights.emplace(a, weights_of<S>(a.local(), other));
  });
  auto y = access::make<accum>(ranks, std::move(first), x.layout(), x.columns(), false);
  close_into("closure", y, *weights, s, given, desc);
  return y;
}

}  // namespace rig
