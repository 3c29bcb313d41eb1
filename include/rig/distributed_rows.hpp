#pragma once

/// @file
/// Small rows over ranks: `distributed<cbsr<T>>` and `distributed<quantized>`, and their `mxm`.

#include <array>
#include <cstring>
#include <utility>

#include "rig/cbsr.hpp"
#include "rig/distributed_mxm.hpp"
#include "rig/quantized.hpp"

namespace rig {

/// @cond internal
namespace over_ranks {

/// Rows of X on each rank; all ranks agree on what rows share.
template <class X>
class row_parts {
 public:
  /// The number of rows of all ranks.
  index rows() const { return rows_.rows(); }
  /// The number of columns.
  index columns() const { return local_.columns(); }
  /// This rank's rows.
  const X& local() const { return local_; }
  /// Which rank has which rows.
  const rig::layout& layout() const { return rows_; }
  /// The ranks.
  const rig::communicator& communicator() const { return ranks_; }

 protected:
  /// Collective. `shared` is a number that tells apart what rows share.
  row_parts(const rig::communicator& ranks, X local, const rig::layout& rows, const char* what,
            int64 shared)
      : ranks_(ranks), local_(std::move(local)), rows_(rows) {
    agree(ranks, "from_rows", [&] {
      check_part("from_rows", ranks, rows, local_.rows());
      require_cpu("from_rows", local_.where());
    });
    require_one_layout(ranks, "from_rows", rows);
    require_equal(ranks, "from_rows", "the columns", local_.columns());
    require_alike(ranks, "from_rows", what, shared);
  }

 private:
  rig::communicator ranks_;
  X local_;
  rig::layout rows_;
};

/// A number of the ranges of a quantized.
int64 number_of_ranges(const quantized& of);

template <class T>
struct carried<cbsr<T>> {
  static std::array<row_array, 2> arrays(const cbsr<T>& x) {
    const auto k = static_cast<std::size_t>(x.k()),
               indices = k * static_cast<std::size_t>(x.index_bytes());
    return {
        {{x.values(), k * sizeof(T), k * sizeof(T)}, {x.structure().indices(), indices, indices}}};
  }
  static cbsr<T> operand(const cbsr<T>& like, index rows, const std::array<fetch, 2>& moved) {
    const auto structure = cbsr_pattern::uninitialised(rows, like.columns(), like.k());
    if (structure.nnz() > 0)
      std::memcpy(const_cast<void*>(structure.indices()), moved[1].x.data(), moved[1].x.bytes());
    return {structure, moved[0].x};
  }
};
template <>
struct carried<quantized> {
  static std::array<row_array, 1> arrays(const quantized& x) {
    const auto bytes = static_cast<std::size_t>(x.columns());
    return {{{x.data(), bytes, bytes}}};
  }
  static quantized operand(const quantized& like, index rows, const std::array<fetch, 1>& moved);
};

template <class Element, class S, class TA, class X, class Mask>
distributed<mxm_result<Element, S>> multiply_rows(const distributed<matrix<TA>>& a,
                                                  const distributed<X>& x, const Mask& mask,
                                                  const descriptor& desc) {
  static_assert(!needs_whole_numbers<S>,
                "a product over ranks with a cbsr or a quantized reads no positions");
  const communicator& ranks = a.communicator();
  require_one_scheme(ranks, "mxm",
                     agree(ranks, "mxm",
                           [&] {
                             check<S>(a, x, mask, desc, exchange::fetch);
                             check_fetched(desc, is_cbsr<X>);
                           },
                           {.transposed = desc.transpose_a}));
  require_one_call<S>("mxm", a, x, mask, desc);
  if (desc.transpose_a)
    return multiply_rows<Element, S>(access::turned(a, "mxm"), x, mask, straight(desc));
  auto local = multiply_by_fetch<Element, S>(a, x, mask, desc);
  return spread(ranks, std::move(local), a.layout(), x.columns(), false);
}

}  // namespace over_ranks
/// @endcond

/// A cbsr whose rows are on several ranks. In a product its rows travel as k values and k indices.
/// @code
/// const auto x = parts_of_X.local();
/// const auto part = rig::distributed<rig::cbsr<float>>::from_rows(ranks, rig::maxk(x, 2), rows);
/// @endcode
template <class T>
class distributed<cbsr<T>> : public over_ranks::row_parts<cbsr<T>> {
 public:
  /// From this rank's rows, in ascending order. Collective. Throws error, on all ranks: shape, also
  /// if k differs; place.
  static distributed from_rows(const rig::communicator& ranks, cbsr<T> local,
                               const rig::layout& rows) {
    const int k = local.k();
    return {ranks, std::move(local), rows, "k", k};
  }

 private:
  using over_ranks::row_parts<cbsr<T>>::row_parts;
};

/// A quantized whose rows are on several ranks, with the ranges of the whole. In a product its rows
/// travel as codes.
/// @code
/// const auto all = rig::quantized::from(parts_of_X.gather());
/// const auto part = rig::distributed<rig::quantized>::from_whole(ranks, all, rows);
/// @endcode
template <>
class distributed<quantized> : public over_ranks::row_parts<quantized> {
 public:
  /// From this rank's rows, in ascending order, with the same ranges on all ranks. Collective.
  /// Throws error, on all ranks: shape, also if ranges differ; place.
  static distributed from_rows(const rig::communicator& ranks, const quantized& local,
                               const rig::layout& rows) {
    return {ranks, local, rows, "the ranges", over_ranks::number_of_ranges(local)};
  }
  /// The same from the whole on each rank, which keeps its rows. Collective. Throws error, on all
  /// ranks: shape, place, out_of_memory.
  static distributed from_whole(const rig::communicator& ranks, const quantized& whole,
                                const rig::layout& rows);

 private:
  using over_ranks::row_parts<quantized>::row_parts;
};

/// Sparse × cbsr over ranks, by fetch: the bits of one rank. Everything is as for a dense X by
/// rows; no kernel is named, and C is dense. Collective.
/// @code
/// const auto x = rig::maxk(parts_of_X.local(), 2);
/// const auto part = rig::distributed<rig::cbsr<float>>::from_rows(ranks, x, rows);
/// const auto sums = rig::mxm(parts_of_A, part, rig::plus_times<float>{});
/// @endcode
template <class Element = void, class TA, class TX, class S, option_like Option = descriptor>
distributed<mxm_result<Element, S>> mxm(const distributed<matrix<TA>>& a,
                                        const distributed<cbsr<TX>>& x, S,
                                        const Option& option = {},
                                        const behind<Option>& desc = {}) {
  static_assert(require_type<S>() && require_semiring<S>());
  return over_ranks::multiply_rows<Element, S>(a, x, mask_among(option),
                                               descriptor_among(option, desc));
}
/// Sparse × quantized over ranks, by fetch: the bits of one rank. Everything is as for a dense X by
/// rows. Collective.
/// @code
/// const auto all = rig::quantized::from(parts_of_X.gather());
/// const auto part = rig::distributed<rig::quantized>::from_whole(ranks, all, rows);
/// const auto sums = rig::mxm(parts_of_A, part, rig::plus_times<float>{});
/// @endcode
template <class Element = void, class TA, class S, option_like Option = descriptor>
distributed<mxm_result<Element, S>> mxm(const distributed<matrix<TA>>& a,
                                        const distributed<quantized>& x, S,
                                        const Option& option = {},
                                        const behind<Option>& desc = {}) {
  static_assert(require_type<S>() && require_semiring<S>());
  return over_ranks::multiply_rows<Element, S>(a, x, mask_among(option),
                                               descriptor_among(option, desc));
}

}  // namespace rig
