#pragma once

/// @file
/// Sums of elements at rows that each one names: `scatter_add`.

#include "rig/accumulate.hpp"
#include "rig/checked_index.hpp"
#include "rig/dense.hpp"
#include "rig/descriptor.hpp"

namespace rig {

/// Adds each element of X to the row of Y that `rows` names for it: a maximum's gradient, if `rows`
/// are the indices of `mxm` over arg_max_second.
///
///   Y(r,j) = Σ X(i,j) over the i whose rows(i,j) is r
///
/// An index that is no row of Y, such as −1, adds nowhere. Shapes: X and rows m×f, Y r×f; `accum`:
/// none or plus. On a CPU sums are in the order of the rows of X, of 16-bit numbers in float. On a
/// GPU they are in fixed point, so their order does not matter. The unit is at most u = 2m · 2^−62
/// of the greatest finite |X(i,j)|, or u² of it for doubles. Same bits in each run. Places: all.
/// Cost: O((m + r) · f); docs/guide/gnn_gradients.md has the scratch. Throws error: range, shape,
/// place, cannot (another accum; Y shares memory with X or rows), out_of_memory; Y is unchanged
/// then.
/// @code
/// const auto best = rig::mxm(A, X, rig::arg_max_second<float>{}, {.fill = 0});
/// const auto dX = rig::scatter_add(dC, best.indices, X.rows());
/// @endcode
template <class T>
requires(is_float<T> ||
         is_small_float<T>) void scatter_add(dense<T>& y, accumulator accum, const dense<T>& x,
                                             const dense<int32>& rows, const descriptor& desc = {});
/// The same as a new dense of `count` rows.
template <class T>
requires(is_float<T> ||
         is_small_float<T>) dense<T> scatter_add(const dense<T>& x, const dense<int32>& rows,
                                                 checked_index count, const descriptor& desc = {});

}  // namespace rig
