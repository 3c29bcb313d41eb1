#pragma once

/// @file
/// `mxm_update`: a sparse × dense product and the dense update that follows it, in one call.

#include <utility>

#include "rig/mxm.hpp"

namespace rig {

/// @cond internal
/// Returns work(problem) for an update over S, whose new result has this shape.
template <class S, class TA, class TB, class Work>
auto with_update(const char* caller, const matrix<TA>& a, const dense<TB>& b, const dense<float>& w,
                 const descriptor& desc, Work work) {
  using made = decltype(work(std::declval<problem&>()));
  return or_out_of_memory(caller, [&] {
    if constexpr (require_type<S>() && require_semiring<S>()) {
      static_assert(
          is_same<output<S>, float>,
          "mxm_update multiplies sums of float: the semiring's output type must be float");
      // The product itself is not stored unless a call sets it.
      problem p = new_problem<dense<float>>("mxm_update", a, b, S(), no_mask(), desc);
      p.is_updated = true;
      fill_in(p.weights, w);
      p.updated.rows = desc.transpose_a ? a.columns() : a.rows();
      p.updated.columns = w.columns();
      p.updated.where = a.where();
      return work(p);
    } else {
      return made();
    }
  });
}

template <class S, class TA, class TB>
void update_into(dense<float>& c, dense<float>* product, const matrix<TA>& a, const dense<TB>& b,
                 const dense<float>& w, const descriptor& desc) {
  with_update<S>("mxm_update", a, b, w, desc, [&](problem& p) {
    p.creates_result = product == nullptr;
    if (product != nullptr) fill_in_result<S>(p, *product);
    static_cast<void>(c.data());  // throws for read-only views
    fill_in(p.updated, c);
    check(p);
    run(p);
  });
}
/// @endcond

/// A product and a dense update of it: the aggregation of a GNN layer and its linear map.
///
///   C = (op(A) ⊕.⊗ op(B)) · W
///
/// Shapes: op(A) m×k, op(B) k×f, W f×g, C m×g. A row of op(A) without entries is `desc.fill` before
/// the update: set it to 0 for a maximum. The same inputs and machine give the same bits;
/// docs/reference/mxm.md has the bound of the error. Places: all operands in one. Cost:
/// O(nnz · f + m · f · g), and m · f floats during the call. Throws error as `mxm`; nothing is
/// written then. Source: HC-SpMM (Li et al.), ICDE 2025.
/// @code
/// const auto H = rig::mxm_update(A, X, W, rig::plus_times<float>{});
/// const auto pooled = rig::mxm_update(A, X, W, rig::max_second<float>{}, {.fill = 0});
/// @endcode
template <class TA, class TB, class S>
dense<float> mxm_update(const matrix<TA>& a, const dense<TB>& b, const dense<float>& w, S,
                        const descriptor& desc = {}) {
  return with_update<S>("mxm_update", a, b, w, desc, [&](problem& p) {
    check(p);
    auto c = dense<float>::uninitialised(p.updated.rows, p.updated.columns, a.where(),
                                         owner_for(a.where(), desc.stream));
    fill_in(p.updated, c);
    run(p);
    return c;
  });
}

/// Into an existing C, which may share memory with any operand.
template <class TA, class TB, class S>
void mxm_update(dense<float>& c, const matrix<TA>& a, const dense<TB>& b, const dense<float>& w, S,
                const descriptor& desc = {}) {
  update_into<S>(c, nullptr, a, b, w, desc);
}

/// The same, and stores the product too: Z = op(A) ⊕.⊗ op(B), C = Z · W. A gradient by W needs it.
/// C and Z share no memory.
/// @code
/// rig::mxm_update(C, Z, A, X, W, rig::plus_times<float>{});
/// @endcode
template <class TA, class TB, class S>
void mxm_update(dense<float>& c, dense<float>& z, const matrix<TA>& a, const dense<TB>& b,
                const dense<float>& w, S, const descriptor& desc = {}) {
  update_into<S>(c, &z, a, b, w, desc);
}

/// Explains such a call: the answers of the kernels, and the choice. Computes nothing.
template <class TA, class TB, class S>
explanation explain(const matrix<TA>& a, const dense<TB>& b, const dense<float>& w, S,
                    const descriptor& desc = {}) {
  return with_update<S>("explain", a, b, w, desc, [](problem& p) { return explain(p); });
}

}  // namespace rig
