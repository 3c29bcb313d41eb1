#pragma once

/// @file
/// Masks: which places of a result are written.

#include "rig/cbsr.hpp"
#include "rig/dense.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// The places of the result that may be written. It is a non-owning view that `structure`, `values`
/// and `complement` return, for one call.
///
/// Shapes: as the result. Places: that of the operands. The container must live until the call
/// returns.
/// @code
/// const auto kept = rig::mxm(A, B, rig::plus_times<float>{}, rig::structure(M), {.fill = 0});
/// const auto rest = rig::mxm(A, B, rig::plus_times<float>{}, rig::complement(rig::values(M)));
/// @endcode
template <class Container>
struct mask {
  const Container& container;  ///< a matrix, a vector, a dense or a cbsr
  bool structural;             ///< true at entries; otherwise at entries that are not 0
  bool complemented;           ///< true at the other places
};

/// True at the container's entries.
/// @code
/// const auto product = rig::mxm(A, B, rig::plus_times<float>{}, rig::structure(M));
/// @endcode
template <class T>
mask<matrix<T>> structure(const matrix<T>& container) {
  return {container, true, false};
}
/// True everywhere, because every element of a dense is an entry.
template <class T>
mask<dense<T>> structure(const dense<T>& container) {
  return {container, true, false};
}

/// A product under this mask is a cbsr with these entries.
/// @code
/// const auto s = rig::plus_times<float>{};
/// const auto dY = rig::mxm(A, dC, s, rig::structure(Y), {.transpose_a = true});
/// @endcode
template <class T>
mask<cbsr<T>> structure(const cbsr<T>& container) {
  return {container, true, false};
}

/// True at the container's entries that are not 0.
/// @code
/// const auto product = rig::mxm(A, B, rig::plus_times<float>{}, rig::values(M));
/// @endcode
template <class T>
mask<matrix<T>> values(const matrix<T>& container) {
  return {container, false, false};
}
/// True at the elements that are not 0.
template <class T>
mask<dense<T>> values(const dense<T>& container) {
  return {container, false, false};
}

/// True at the other places.
/// @code
/// const auto rest = rig::mxm(A, B, rig::plus_times<float>{}, rig::complement(rig::structure(M)));
/// @endcode
template <class Container>
mask<Container> complement(const mask<Container>& of) {
  return {of.container, of.structural, !of.complemented};
}
/// Deleted because the complement of a cbsr does not have k entries per row.
template <class T>
mask<cbsr<T>> complement(const mask<cbsr<T>>& of) = delete;

}  // namespace rig
