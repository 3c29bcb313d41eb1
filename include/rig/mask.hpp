#pragma once

#include "rig/cbsr.hpp"
#include "rig/dense.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// Which places of the result may be written: a non-owning view, made by `structure`, `values` and
/// `complement` for one call and never stored.
template <class Container>
struct mask {
  const Container& container;
  bool structural;
  bool complemented;
};

/// True where the container has an entry.
template <class T>
mask<matrix<T>> structure(const matrix<T>& container) {
  return {container, true, false};
}
template <class T>
mask<dense<T>> structure(const dense<T>& container) {
  return {container, true, false};
}

/// A product under it is a cbsr with these entries.
template <class T>
mask<cbsr<T>> structure(const cbsr<T>& container) {
  return {container, true, false};
}

/// True where the container has an entry that is not 0.
template <class T>
mask<matrix<T>> values(const matrix<T>& container) {
  return {container, false, false};
}
template <class T>
mask<dense<T>> values(const dense<T>& container) {
  return {container, false, false};
}

/// The other places.
template <class Container>
mask<Container> complement(const mask<Container>& of) {
  return {of.container, of.structural, !of.complemented};
}
/// What a cbsr leaves out has no pattern of k entries a row for a result.
template <class T>
mask<cbsr<T>> complement(const mask<cbsr<T>>& of) = delete;

}  // namespace rig
