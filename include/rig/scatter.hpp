#pragma once

/// @file
/// Sums of elements at rows that each one names: `scatter_add`.

#include "rig/accumulate.hpp"
#include "rig/checked_index.hpp"
#include "rig/dense.hpp"
#include "rig/descriptor.hpp"

namespace rig {

/// Adds each element of X to the row of Y that `rows` names for it, in its column.
///
///   Y(r,j) = Σ X(i,j) over the i whose rows(i,j) is r
///
/// It is the gradient of a maximum: X is the incoming gradient, and `rows` the indices of `mxm`
/// over arg_max_second or arg_min_second. An element counts nowhere if its row is not one of Y's,
/// such as −1, which a row without entries has. Shapes: X and rows m×f, Y r×f. `accum` is none, or
/// plus: Y += the sums. On a CPU the sums are formed in the order of the rows of X, of 16-bit
/// numbers in float. On a GPU they are formed in fixed point, in any order: a unit is 2^(n − 62) of
/// the greatest finite |X(i,j)|, of doubles 2^(2n − 124), for m ≤ 2^n. So each run gives the same
/// bits. Places: all. Cost: O((m + r) · f); on a GPU 1 GB of scratch at most, or 8 bytes per row if
/// that is more, and of doubles twice that. Throws error: shape, place, cannot (another accum; Y
/// shares memory with X or rows), out_of_memory; Y is unchanged then.
/// @code
/// const auto best = rig::mxm(A, X, rig::arg_max_second<float>{}, {.fill = 0});
/// const auto dX = rig::scatter_add(dY, best.indices, X.rows());
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
