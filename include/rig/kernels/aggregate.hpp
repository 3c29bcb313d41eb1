#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

// Finds the members of a struct without its help, so laws can compare sums by members and messages
// can show them.

namespace rig::laws {

/// Converts to the type of any member of the aggregate T, except its bases.
template <class T>
struct any_member {
  template <class M>
  requires(!std::is_base_of_v<M, T>) operator M() const;
};

/// Converts to the members that a structured binding may refuse: a base of T, or a union. They are
/// called odd.
template <class T>
struct odd_member {
  template <class M>
  requires(!std::is_same_v<M, T> && (std::is_base_of_v<M, T> || std::is_union_v<M>)) operator M()
      const;
};

template <class T, std::size_t>
using any_of = any_member<T>;

template <class T, std::size_t... Before>
constexpr bool takes_odd(std::index_sequence<Before...>) {
  return requires { T{any_of<T, Before>()..., odd_member<T>()}; };
}

/// Whether T has at least this many members, counting arrays by element, and no odd one.
template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { T{any_of<T, I>()...}; }
  &&!(takes_odd<T>(std::make_index_sequence<I>()) || ...);
}
/// The same, with the members in the middle in their own braces.
template <class T, std::size_t... Before, std::size_t... Inside, std::size_t... After>
constexpr bool takes_in_braces(std::index_sequence<Before...>, std::index_sequence<Inside...>,
                               std::index_sequence<After...>) {
  return requires { T{any_of<T, Before>()..., {any_of<T, Inside>()...}, any_of<T, After>()...}; };
}

inline constexpr std::size_t most_elements = 16, most_members = 8;

/// The number of members of T, counting arrays by element; 0 if T is no aggregate or has an odd
/// one.
template <class T>
constexpr std::size_t element_count() {
  std::size_t count = 0;
  if constexpr (std::is_class_v<T> && std::is_aggregate_v<T>) {
    const auto count_them = [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((count = takes<T>(std::make_index_sequence<I + 1>()) ? I + 1 : count), ...);
    };
    count_them(std::make_index_sequence<most_elements + 1>());
  }
  return count <= most_elements ? count : 0;
}

/// The number of elements of the member that begins with element `At` of `Count`. Only an array
/// takes as many elements in braces as without.
template <class T, std::size_t At, std::size_t Count>
constexpr std::size_t elements_of_member() {
  std::size_t extent = 1;
  const auto try_each = [&]<std::size_t... I>(std::index_sequence<I...>) {
    [[maybe_unused]] const auto is_array = [](auto n) {
      constexpr std::make_index_sequence<At> before;
      constexpr std::make_index_sequence<n> inside;
      return takes_in_braces<T>(before, inside, std::make_index_sequence<Count - At - n>()) &&
             !takes_in_braces<T>(before, inside, std::make_index_sequence<Count - At - n + 1>());
    };
    ((extent = is_array(std::integral_constant<std::size_t, I + 2>()) ? I + 2 : extent), ...);
  };
  try_each(std::make_index_sequence<Count - At - 1>());
  return extent;
}

template <class T, std::size_t At = 0, std::size_t Count = element_count<T>()>
constexpr std::size_t member_count() {
  if constexpr (At >= Count)
    return 0;
  else
    return 1 + member_count<T, At + elements_of_member<T, At, Count>(), Count>();
}

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

template <class T>
concept tuple_like = requires {
  requires std::tuple_size<T>::value <= most_elements;
};

/// Whether `members` can find T's members.
template <class T>
concept structured = tuple_like<T> || is_complex<T> ||
    (member_count<T>() > 0 && member_count<T>() <= most_members);

template <class M>
auto copy_of(const M& member) {
  if constexpr (std::is_array_v<M>) return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array{copy_of(member[I])...};
    }
  (std::make_index_sequence<std::extent_v<M>>());
  else return member;
}

/// Copies of the members of x, in order.
template <structured T>
auto members(const T& x) {
  const auto copies = [](const auto&... member) { return std::make_tuple(copy_of(member)...); };
  if constexpr (is_complex<T>) {
    return copies(x.real(), x.imag());
  } else if constexpr (tuple_like<T>) {
    return std::apply(copies, x);
  } else if constexpr (constexpr std::size_t count = member_count<T>(); count == 1) {
    const auto& [a] = x;
    return copies(a);
  } else if constexpr (count == 2) {
    const auto& [a, b] = x;
    return copies(a, b);
  } else if constexpr (count == 3) {
    const auto& [a, b, c] = x;
    return copies(a, b, c);
  } else if constexpr (count == 4) {
    const auto& [a, b, c, d] = x;
    return copies(a, b, c, d);
  } else if constexpr (count == 5) {
    const auto& [a, b, c, d, e] = x;
    return copies(a, b, c, d, e);
  } else if constexpr (count == 6) {
    const auto& [a, b, c, d, e, f] = x;
    return copies(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    const auto& [a, b, c, d, e, f, g] = x;
    return copies(a, b, c, d, e, f, g);
  } else {
    const auto& [a, b, c, d, e, f, g, h] = x;
    return copies(a, b, c, d, e, f, g, h);
  }
}

}  // namespace rig::laws
