#pragma once

#include "rig/cbsr.hpp"
#include "rig/dense.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// The places of the result that may be written. It is a non-owning view that `structure`, `values`
/// and `complement` return, for one call.
template <class Container>
struct mask {
  const Container& container;
  bool structural;
  bool complemented;
};

/// True at the container's entries.
template <class T>
mask<matrix<T>> structure(const matrix<T>& container) {
  return {container, true, false};
}
template <class T>
mask<dense<T>> structure(const dense<T>& container) {
  return {container, true, false};
}

/// A product under this mask is a cbsr with these entries.
template <class T>
mask<cbsr<T>> structure(const cbsr<T>& container) {
  return {container, true, false};
}

/// True at the container's entries that are not 0.
template <class T>
mask<matrix<T>> values(const matrix<T>& container) {
  return {container, false, false};
}
template <class T>
mask<dense<T>> values(const dense<T>& container) {
  return {container, false, false};
}

/// True at the other places.
template <class Container>
mask<Container> complement(const mask<Container>& of) {
  return {of.container, of.structural, !of.complemented};
}
/// Deleted because the complement of a cbsr does not have k entries per row.
template <class T>
mask<cbsr<T>> complement(const mask<cbsr<T>>& of) = delete;

}  // namespace rig
