#pragma once

/// @file
/// Masks: which places of a result are written.

#include "rig/cbsr.hpp"
#include "rig/dense.hpp"
#include "rig/matrix.hpp"

namespace rig {

/// @cond internal
/// The same content over the same memory: what copies of a container share, except for a dense.
template <class Container>
Container sharing(const Container& of) {
  return of;
}
template <class T>
dense<T> sharing(const dense<T>& of) {
  return of.sharing();
}
/// @endcond

/// The places of the result that may be written, as `structure`, `values` and `complement` return
/// them.
///
/// Every call with a result takes one behind its operands, before the descriptor.
/// A mask shares the memory of its container, so it outlives the container and may be made of a
/// temporary. It sees later writes to a dense. Shapes: as the result. Places: that of the operands.
/// @code
/// const auto kept = rig::mxm(A, B, rig::plus_times<float>{}, rig::structure(M), {.fill = 0});
/// const auto rest = rig::mxm(A, B, rig::plus_times<float>{}, rig::complement(rig::values(M)));
/// @endcode
template <class Container>
struct mask {
  Container container;  ///< a matrix, a vector, a dense or a cbsr, over the memory of the one given
  bool structural;      ///< true at entries; otherwise at entries that are not 0
  bool complemented;    ///< true at the other places

  /// Over the memory of `of`.
  mask(const Container& of, bool by_structure, bool is_complemented)
      : container(sharing(of)), structural(by_structure), complemented(is_complemented) {}
  /// Over the same memory.
  mask(const mask& other) : mask(other.container, other.structural, other.complemented) {}
  /// Over the same memory; `other` is left without its container.
  mask(mask&& other) noexcept = default;
  /// Over the memory of `other`; the memory of the previous container is not written.
  mask& operator=(const mask& other) { return *this = mask(other); }
  /// The same; `other` is left without its container.
  mask& operator=(mask&& other) noexcept = default;
  ~mask() = default;
};

/// @cond internal
struct no_mask {};

/// What `structure`, `values` and `complement` return, or none.
template <class Mask>
inline constexpr bool is_mask = std::is_same_v<Mask, no_mask>;
template <class Container>
inline constexpr bool is_mask<mask<Container>> = true;
/// A container where a mask is due, which require_mask refuses.
template <class Mask>
inline constexpr bool is_bare_mask = false;
template <class T>
inline constexpr bool is_bare_mask<matrix<T>> = true;
template <class T>
inline constexpr bool is_bare_mask<dense<T>> = true;
template <class T>
inline constexpr bool is_bare_mask<cbsr<T>> = true;

/// The mask of a call.
template <class Mask>
concept mask_like = is_mask<Mask> || is_bare_mask<Mask>;

template <class Mask>
constexpr void require_mask() {
  static_assert(is_mask<Mask>, "a mask is rig::structure(M) or rig::values(M), not M itself");
}
/// Arguments with two masks, which every operation refuses with one error.
template <class... Arguments>
concept has_two_masks = (is_mask<Arguments> + ... + 0) > 1;
template <class... Arguments>
constexpr void refuse_two_masks() {
  static_assert(sizeof...(Arguments) == 0,
                "a call has one mask: join two with rig::ewise_mult<bool>(M, N, "
                "rig::binary::logical_and), and pass rig::values of the result");
}
template <class T>
constexpr void require_values() {
  static_assert(is_storage<T>,
                "a mask's values must have a storage type; rig::structure(M) serves every type");
}
/// @endcond

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
  require_values<T>();
  return {container, false, false};
}
/// True at the elements that are not 0.
template <class T>
mask<dense<T>> values(const dense<T>& container) {
  require_values<T>();
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
