#pragma once

/// @file
/// Tests of a semiring: `check_semiring`.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rig/kernels/aggregate.hpp"
#include "rig/semiring.hpp"

namespace rig {

/// @cond internal
/// The implementation of `check_semiring`. It depends on the types alone, with S behind function
/// pointers, so a program that checks many semirings compiles the laws once per type.
namespace laws {

/// The default generator: special numbers, then random ones.
struct numbers {};

/// The default equality: compares sums directly.
struct as_they_are {};

/// splitmix64: the same bits on every platform, unlike the distributions of <random>.
class random_bits {
 public:
  explicit random_bits(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() % count); }

 private:
  std::uint64_t state_;
};

inline std::string joined(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) out += part;
  return out;
}

template <class T>
concept number = std::is_arithmetic_v<T> || is_small_float<T>;

/// Not equal to itself: NaN, or a structure that contains one.
template <class T>
bool is_unordered(const T& x) {
  if constexpr (is_small_float<T>)
    return is_unordered(static_cast<float>(x));
  else if constexpr (is_indexed<T>)
    return is_unordered(x.value);
  else if constexpr (std::is_floating_point_v<T>)
    return x != x;
  else if constexpr (!std::is_arithmetic_v<T> && std::equality_comparable<T>)
    return !(x == x);
  else if constexpr (structured<T>)
    return std::apply([](const auto&... member) { return (is_unordered(member) || ...); },
                      members(x));
  else
    return false;
}

template <class T>
bool is_finite(const T& x) {
  if constexpr (is_small_float<T>)
    return is_finite(static_cast<float>(x));
  else if constexpr (std::is_floating_point_v<T>)
    return x - x == 0;
  else if constexpr (structured<T>)
    return std::apply([](const auto&... member) { return (is_finite(member) && ...); }, members(x));
  else
    return !is_unordered(x);
}

/// test(member of x, of y, …) for each member until a test is false.
template <structured T, class Test, class... More>
bool holds_for_members(Test test, const T& x, const More&... more) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto test_one = [&](auto i, const auto&... members_of_each) {
      return test(std::get<i>(members_of_each)...);
    };
    return (test_one(std::integral_constant<std::size_t, I>(), members(x), members(more)...) &&
            ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(members(x))>>());
}

/// Whether x equals y; NaN equals NaN and −0 equals +0. Compares by members if T has no ==.
template <class T>
bool are_same(const T& x, const T& y) {
  if constexpr (is_indexed<T>)
    return are_same(x.value, y.value) && x.index == y.index;
  else if constexpr (std::equality_comparable<T>)
    return x == y || (is_unordered(x) && is_unordered(y));
  else
    return holds_for_members([](const auto& a, const auto& b) { return are_same(a, b); }, x, y);
}

/// Whether two sums of the same terms agree up to float rounding, member by member. The tolerance
/// is relative to all magnitudes met; sums that overflowed agree. Indexed values are chosen and not
/// rounded.
template <class T>
bool are_close(const T& one, const T& other, const std::array<T, 3>& terms,
               const std::array<T, 2>& met) {
  if (are_same(one, other)) return true;
  if constexpr (std::is_floating_point_v<T>) {
    const auto magnitude = [](T x) { return x < 0 ? -x : x; };
    T size = magnitude(one) + magnitude(other);
    for (const T x : terms) {
      if (!is_finite(x)) return false;
      size += magnitude(x);
    }
    for (const T x : met) size += magnitude(x);
    const T bound = 4 * std::numeric_limits<T>::epsilon() * size;
    return !is_finite(size) || magnitude(one - other) <= bound;
  } else if constexpr (structured<T> && !is_indexed<T>) {
    const auto members_are_close = [](const auto& a, const auto& b, const auto& x, const auto& y,
                                      const auto& z, const auto& xy, const auto& yz) {
      return are_close(a, b, {x, y, z}, {xy, yz});
    };
    return holds_for_members(members_are_close, one, other, terms[0], terms[1], terms[2], met[0],
                             met[1]);
  } else {
    return false;
  }
}

/// x with the fewest digits that read back as x.
inline std::string shortest(double x, bool is_single) {
  if (x != x) return "NaN";
  char digits[40];
  for (int precision = 1; precision <= 17; ++precision) {
    std::snprintf(digits, sizeof(digits), "%.*g", precision, x);
    const double back = is_single ? std::strtof(digits, nullptr) : std::strtod(digits, nullptr);
    if (back == x) break;
  }
  return digits;
}

/// x as text, by its own to_string or by its members; empty if it has neither.
template <class T>
std::string text(const T& x) {
  if constexpr (std::same_as<T, bool>) {
    return x ? "true" : "false";
  } else if constexpr (is_small_float<T>) {
    return text(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    return shortest(static_cast<double>(x), std::same_as<T, float>);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(x);
  } else if constexpr (is_indexed<T>) {
    return joined({"(", text(x.value), ", ", text(x.index), ")"});
  } else if constexpr (requires {
                         { to_string(x) } -> std::convertible_to<std::string>;
                       }) {
    return to_string(x);
  } else if constexpr (structured<T>) {
    std::string words;
    bool is_complete = true;
    const auto add = [&](const std::string& member) {
      is_complete = is_complete && !member.empty();
      words += (words.empty() ? "{" : ", ") + member;
    };
    std::apply([&](const auto&... member) { (add(text(member)), ...); }, members(x));
    return is_complete ? words + "}" : std::string();
  } else {
    return {};
  }
}

template <class S, int64 N>
concept finishes_constantly = requires {
  typename std::bool_constant<(static_cast<void>(S::finish(S::zero(), N)), true)>;
};

/// Whether finish(zero(), 0) divides by n, among integers. Running it would end the process, so a
/// compile-time test decides: only n = 0 makes it no constant expression.
template <class S>
inline constexpr bool is_dividing_by_zero =
    has_finish<S>&& std::is_integral_v<output<S>>&& finishes_constantly<S, 1> &&
    !finishes_constantly<S, 0>;

template <class S, typename S::left A, typename S::right B>
concept multiplies_constantly = requires {
  typename std::bool_constant<(static_cast<void>(product<S>(A, B, position{0, 0})), true)>;
};

/// A description of the product of integers whose division would end the process, or null, found by
/// the same test. Only −1 makes dividing the lowest integer no constant expression. A product that
/// is none for other operands too is a sum or product that overflows.
template <class S>
constexpr const char* division_of_operands() {
  using left = typename S::left;
  using right = typename S::right;
  if constexpr (std::is_integral_v<left> && std::is_integral_v<right>) {
    if constexpr (multiplies_constantly<S, 1, 1> && !multiplies_constantly<S, 1, 0>)
      return "multiply(1, 0) divides by 0";
    else if constexpr (multiplies_constantly<S, 1, 1> && !multiplies_constantly<S, 0, 1>)
      return "multiply(0, 1) divides by 0";
    else if constexpr (std::is_signed_v<left> && std::is_signed_v<right>) {
      constexpr left low = std::numeric_limits<left>::min();
      constexpr right low_right = std::numeric_limits<right>::min();
      if constexpr (multiplies_constantly<S, low, 2> && multiplies_constantly<S, low, -2> &&
                    !multiplies_constantly<S, low, -1>)
        return "multiply(lowest, -1) exceeds the highest";
      else if constexpr (multiplies_constantly<S, 2, low_right> &&
                         multiplies_constantly<S, -2, low_right> &&
                         !multiplies_constantly<S, -1, low_right>)
        return "multiply(-1, lowest) exceeds the highest";
    }
  }
  return nullptr;
}

template <class S>
concept has_constant_zero = requires {
  typename std::bool_constant<(static_cast<void>(S::zero()), true)>;
};

/// A ⊗ B is no constant expression, and 1 ⊗ 1 is one.
template <class S, typename S::left A, typename S::right B>
concept overflows = multiplies_constantly<S, typename S::left(1), typename S::right(1)> &&
    !multiplies_constantly<S, A, B>;

/// The product of zero() and 1 or −1 that overflows, among integers, or null; found by the same
/// test. zero() is a possible result (such as "no path"), so it can be an operand of the next
/// product.
template <semiring S>
constexpr const char* overflow_of_zero() {
  using left = typename S::left;
  using right = typename S::right;
  using accum = typename S::accum;
  if constexpr (std::is_integral_v<left> && std::is_integral_v<right> && has_constant_zero<S>) {
    constexpr accum zero = S::zero();
    if constexpr (std::same_as<left, accum>) {
      if constexpr (overflows<S, zero, right(1)>) return "multiply(zero(), 1)";
      if constexpr (overflows<S, zero, right(std::is_signed_v<right> ? -1 : 1)>)
        return "multiply(zero(), -1)";
    }
    if constexpr (std::same_as<right, accum>) {
      if constexpr (overflows<S, left(1), zero>) return "multiply(1, zero())";
      if constexpr (overflows<S, left(std::is_signed_v<left> ? -1 : 1), zero>)
        return "multiply(-1, zero())";
    }
  }
  return nullptr;
}

/// Whether the value without products is NaN; an integer never is.
template <class S>
bool is_empty_sum_unordered() {
  if constexpr (std::is_integral_v<output<S>>)
    return false;
  else
    return is_unordered(finished<S>(S::zero(), 0));
}

/// A value, and its text for messages.
template <class T>
struct drawn {
  T value;
  std::string words;
};

/// Numbers that expose mistakes: both signs, ends of the range, infinities, NaN. No finite product
/// of two floats is near overflow, because sums do not associate there in any semiring.
template <number T>
std::vector<T> special_numbers(random_bits& random) {
  std::vector<T> out;
  constexpr int randoms = 6;
  if constexpr (std::same_as<T, bool>) {
    out = {false, true};
  } else if constexpr (is_small_float<T>) {
    for (const float x : special_numbers<float>(random)) out.push_back(T(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    constexpr T inf = std::numeric_limits<T>::infinity();
    out = {T(0),
           T(1),
           T(-1),
           T(2),
           T(-2.5),
           T(0.1),
           T(-7.3),
           T(1e30),
           T(-3e29),
           T(1e-30),
           inf,
           -inf,
           std::numeric_limits<T>::quiet_NaN()};
    for (int k = 0; k < randoms; ++k)
      out.push_back(static_cast<T>(static_cast<double>(random.next() >> 11) * 0x1p-42 - 1024));
  } else {
    constexpr T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
    out = {T(0),
           T(1),
           T(-1),
           T(2),
           T(7),
           T(-13),
           most,
           least,
           static_cast<T>(most - 1),
           static_cast<T>(least + 1)};
    for (int k = 0; k < randoms; ++k) {
      const std::uint64_t bits = random.next();
      out.push_back(static_cast<T>(k % 2 == 0 ? bits : bits % 2001 - 1000));
    }
  }
  return out;
}

/// Operands of type T. A caller's generator receives 0, 1, 2, … and then random bits. The text
/// names these bits, so a value without text can be reproduced.
template <class T, class Generator>
std::vector<drawn<T>> operands(const Generator& generator, const char* name, bool logical,
                               random_bits& random) {
  std::vector<drawn<T>> out;
  if constexpr (std::same_as<Generator, numbers>) {
    static_assert(number<T>,
                  "rig draws operands that are numbers: pass check_semiring a generator for the "
                  "operand that is not");
    const std::vector<T> values = logical ? std::vector<T>{T(0), T(1)} : special_numbers<T>(random);
    for (const T x : values) out.push_back({x, text(x)});
  } else {
    static_assert(std::is_invocable_r_v<T, const Generator&, std::uint64_t>,
                  "a generator makes an operand from 64 random bits");
    for (std::uint64_t k = 0; k < 20; ++k) {
      const std::uint64_t bits = k < 8 ? k : random.next();
      const T value = generator(bits);
      std::string words = text(value);
      if (words.empty()) words = joined({name, "(", std::to_string(bits), ")"});
      out.push_back({value, std::move(words)});
    }
  }
  return out;
}

/// The part of a semiring that the laws use.
template <class Left, class Right, class Accum>
struct algebra {
  using left = Left;
  using right = Right;
  using accum = Accum;
  Accum (*add)(const Accum&, const Accum&);
  Accum (*multiply)(const Left&, const Right&, position);
  bool (*replaces)(const Accum&, const Accum&);  ///< null: S has none
  Accum zero;
  std::optional<Accum> terminal;
  bool is_positional, ignores_left, ignores_right, annihilates, is_linear, is_logical, is_selective,
      keeps_first;
};

template <semiring S>
algebra<typename S::left, typename S::right, typename S::accum> algebra_of() {
  using accum = typename S::accum;
  using left = typename S::left;
  using right = typename S::right;
  std::optional<accum> terminal;
  if constexpr (has_terminal<S>) terminal = S::terminal();
  bool (*replaces)(const accum&, const accum&) = nullptr;
  if constexpr (has_replaces<S>)
    replaces = [](const accum& sum, const accum& x) -> bool { return S::replaces(sum, x); };
  return {[](const accum& x, const accum& y) -> accum { return S::add(x, y); },
          [](const left& a, const right& b, position at) { return product<S>(a, b, at); },
          replaces,
          S::zero(),
          terminal,
          positional<S>,
          is_ignoring_left<S>,
          is_ignoring_right<S>,
          is_annihilating<S>,
          is_linear<S>,
          is_logical<S>,
          is_selective<S>,
          is_keeping_first<S>};
}

/// zero as an operand of type T, if it can be one.
template <class T, class Accum>
std::optional<T> as_operand(const Accum& zero) {
  if constexpr (std::same_as<T, Accum>) {
    return zero;
  } else if constexpr (is_storage<T> && is_storage<Accum>) {
    const T operand = convert<T>(zero);
    if (are_same(convert<Accum>(operand), zero)) return operand;
  }
  return {};
}

template <class Algebra, class Equal>
class checker {
 public:
  using left = typename Algebra::left;
  using right = typename Algebra::right;
  using accum = typename Algebra::accum;
  static_assert(!std::same_as<Equal, as_they_are> || std::equality_comparable<accum> ||
                    structured<accum>,
                "check_semiring compares sums: give S::accum an operator ==, or pass an equality, "
                "check_semiring<S>(equal)");

  checker(const Algebra& s, std::vector<drawn<left>> lefts, std::vector<drawn<right>> rights,
          const Equal& equal, random_bits random)
      : s_(s),
        lefts_(std::move(lefts)),
        rights_(std::move(rights)),
        equal_(equal),
        random_(random) {}

  /// The first broken law. Laws of products come first, because a sum of wrong products proves
  /// nothing.
  std::optional<std::string> run() {
    draw_products();
    check_products();
    draw_sums();
    check_identity();
    check_pairs();
    check_triples();
    if (s_.replaces != nullptr) check_replaces();
    if (s_.keeps_first)
      for (const product_drawn& p : products_) check_first(p);
    if (s_.is_linear)
      for (const product_drawn& p : products_) check_linear(p);
    return wrong_;
  }

 private:
  struct product_drawn {
    const drawn<left>& a;
    const drawn<right>& b;
    position at;
    accum value;
  };

  bool same(const accum& x, const accum& y) const {
    if constexpr (std::same_as<Equal, as_they_are>)
      return are_same(x, y);
    else
      return equal_(x, y) || (!equal_(x, x) && !equal_(y, y));
  }
  bool is_zero_or_one(const accum& x) const {
    if constexpr (number<accum>)
      return x == accum(0) || x == accum(1);
    else
      return true;
  }
  void report(std::initializer_list<std::string_view> parts) {
    if (!wrong_) wrong_ = joined(parts);
  }
  static std::string equals(const accum& x) {
    const std::string words = text(x);
    return words.empty() ? words : " = " + words;
  }
  /// Reports two formulas that should agree, with their values.
  void report_unlike(const char* law, const std::string& formula, const accum& x,
                     const std::string& other, const accum& y) {
    report({law, ": ", formula, equals(x), ", unlike ", other, other == text(y) ? "" : equals(y)});
  }
  /// A sum with NaN must be NaN.
  void check_nan(const accum& x, const std::string& formula, const accum& value) {
    if constexpr (std::is_floating_point_v<accum> || is_indexed<accum>)
      if (is_unordered(x) && !is_unordered(value))
        report({"add loses NaN: ", formula, equals(value),
                "; rig::maximum and rig::minimum keep NaN, std::max, std::min and fmax do not"});
  }
  static std::string sum(const std::string& x, const std::string& y) {
    return joined({"add(", x, ", ", y, ")"});
  }
  std::string product_of(const std::string& a, const std::string& b, position at) const {
    if (!s_.is_positional) return joined({"multiply(", a, ", ", b, ")"});
    return joined({"multiply(", a, ", ", b, ", {", text(at.row), ", ", text(at.inner), "})"});
  }

  void draw_product(std::size_t a, std::size_t b) {
    static constexpr index places[] = {0, 1, 5, 1000, highest<index>() - 1};
    const index row = places[random_.below(5)];
    const position at{row, places[random_.below(5)]};
    products_.push_back(
        {lefts_[a], rights_[b], at, s_.multiply(lefts_[a].value, rights_[b].value, at)});
  }
  /// Draws products of simple operands first, because they make the clearest reports.
  void draw_products() {
    const std::size_t m = lefts_.size(), n = rights_.size();
    for (std::size_t k = 0; k < m || k < n; ++k) {
      for (std::size_t b = 0; b < k && b < n && k < m; ++b) draw_product(k, b);
      for (std::size_t a = 0; a <= k && a < m && k < n; ++a) draw_product(a, k);
    }
  }
  void check_products() {
    const auto zero_left = as_operand<left>(s_.zero);
    const auto zero_right = as_operand<right>(s_.zero);
    for (const product_drawn& p : products_) {
      if (s_.ignores_left) check_ignored("left", p, lefts_.front(), p.b);
      if (s_.ignores_right) check_ignored("right", p, p.a, rights_.front());
      if (s_.annihilates && zero_left && is_finite(p.b.value))
        check_annihilation(s_.multiply(*zero_left, p.b.value, p.at), "zero()", p.b.words, p.at);
      if (s_.annihilates && zero_right && is_finite(p.a.value))
        check_annihilation(s_.multiply(p.a.value, *zero_right, p.at), p.a.words, "zero()", p.at);
      if (s_.is_logical && !is_zero_or_one(p.value))
        report({"logical is claimed, but values leave {0, 1}: ",
                product_of(p.a.words, p.b.words, p.at), equals(p.value)});
    }
  }
  /// The product with the lower inner index precedes the other product of the same element.
  void check_replaces() {
    for (const product_drawn& p : products_) {
      const product_drawn& other = products_[random_.below(products_.size())];
      const position early{p.at.row, 1}, late{p.at.row, 5};
      const accum x = s_.multiply(p.a.value, p.b.value, early),
                  sum = s_.multiply(other.a.value, other.b.value, late);
      const std::string x_words = product_of(p.a.words, p.b.words, early),
                        sum_words = product_of(other.a.words, other.b.words, late);
      const auto compare = [&](const accum& before, const std::string& words) {
        const bool replaces = s_.replaces(before, x);
        const accum one = replaces ? x : before, expected = s_.add(before, x);
        if (!same(one, expected))
          report_unlike("replaces is not add",
                        joined({replaces ? "" : "not ", "replaces(", words, ", ", x_words, ")"}),
                        one, joined({"add(", words, ", ", x_words, ")"}), expected);
      };
      compare(s_.zero, "zero()");
      compare(sum, sum_words);
    }
  }
  /// A product of a higher inner index does not change a sum.
  void check_first(const product_drawn& p) {
    const product_drawn& other = products_[random_.below(products_.size())];
    const position early{p.at.row, 1}, late{p.at.row, 5};
    const accum first = s_.multiply(p.a.value, p.b.value, early),
                sum = s_.add(first, s_.multiply(other.a.value, other.b.value, late));
    if (!same(sum, first))
      report_unlike("keeps_first is claimed, but a later product changes a sum",
                    product_of(p.a.words, p.b.words, early), first, "with the later one", sum);
  }
  void check_ignored(const char* side, const product_drawn& p, const drawn<left>& a,
                     const drawn<right>& b) {
    const accum other = s_.multiply(a.value, b.value, p.at);
    if (same(p.value, other)) return;
    const std::string law =
        joined({"ignores_", side, " is claimed, but multiply reads its ", side, " operand"});
    report_unlike(law.c_str(), product_of(p.a.words, p.b.words, p.at), p.value,
                  product_of(a.words, b.words, p.at), other);
  }
  void check_annihilation(const accum& x, const std::string& a, const std::string& b, position at) {
    if (!same(x, s_.zero))
      report_unlike("annihilates is claimed, but zero() does not", product_of(a, b, at), x,
                    "zero()", s_.zero);
  }

  /// a ⊗ b = (a ⊗ 1) · b and x ⊕ x = x + x, among floats: kernels that read codes depend on it.
  void check_linear(const product_drawn& p) {
    if constexpr (std::is_floating_point_v<right> && std::same_as<right, accum>) {
      const accum unit = s_.multiply(p.a.value, right(1), p.at), scaled = unit * p.b.value;
      const accum off = p.value < scaled ? scaled - p.value : p.value - scaled;
      const accum least = std::numeric_limits<accum>::min();
      const accum room = 4 * std::numeric_limits<accum>::epsilon() *
                         (scaled < 0 ? least - scaled : least + scaled);
      if (is_finite(scaled) && is_finite(p.value) && off > room)
        report_unlike("linear is claimed, but a product is not its unit's multiple",
                      product_of(p.a.words, p.b.words, p.at), p.value,
                      product_of(p.a.words, "1", p.at) + " * " + p.b.words, scaled);
      const accum twice = s_.add(p.value, p.value);
      if (!same(twice, p.value + p.value))
        report_unlike("linear is claimed, but add is not +", sum(text(p.value), text(p.value)),
                      twice, text(p.value) + " + " + text(p.value), p.value + p.value);
    }
  }

  void draw_sum(const accum& x, std::string words) {
    for (const drawn<accum>& other : sums_)
      if (same(other.value, x)) return;
    const std::string own = text(x);
    sums_.push_back({x, own.empty() ? std::move(words) : own});
  }
  /// Draws values that S can sum up; laws bind no other values, so a maximum of distances may start
  /// from 0. Logical sums are 0 and 1, as the pairs below show.
  void draw_sums() {
    draw_sum(s_.zero, "zero()");
    for (const product_drawn& p : products_)
      draw_sum(p.value, product_of(p.a.words, p.b.words, p.at));
    for (int k = 0; k < 32 && !s_.is_logical; ++k) {
      const drawn<accum> x = sums_[random_.below(sums_.size())];
      const drawn<accum> y = sums_[random_.below(sums_.size())];
      draw_sum(s_.add(x.value, y.value), sum(x.words, y.words));
    }
  }

  void check_identity() {
    for (const drawn<accum>& x : sums_) {
      check_sum("zero() is not the identity of add", s_.zero, "zero()", x, x.value, x.words);
      if (s_.terminal)
        check_sum("add leaves terminal()", *s_.terminal, "terminal()", x, *s_.terminal,
                  "terminal()");
    }
  }
  /// special ⊕ x and x ⊕ special must both be `expected`.
  void check_sum(const char* law, const accum& special, const std::string& words,
                 const drawn<accum>& x, const accum& expected, const std::string& expected_words) {
    const accum one = s_.add(special, x.value), other = s_.add(x.value, special);
    check_nan(x.value, sum(words, x.words), one);
    check_nan(x.value, sum(x.words, words), other);
    if (!same(one, expected))
      report_unlike(law, sum(words, x.words), one, expected_words, expected);
    if (!same(other, expected))
      report_unlike(law, sum(x.words, words), other, expected_words, expected);
  }

  void check_pairs() {
    for (const drawn<accum>& x : sums_)
      for (const drawn<accum>& y : sums_) {
        if (wrong_) return;
        const accum xy = s_.add(x.value, y.value), yx = s_.add(y.value, x.value);
        check_nan(x.value, sum(x.words, y.words), xy);
        if (s_.is_logical && !is_zero_or_one(xy))
          report(
              {"logical is claimed, but values leave {0, 1}: ", sum(x.words, y.words), equals(xy)});
        if (s_.is_selective && !same(xy, x.value) && !same(xy, y.value))
          report({"selective is claimed, but add yields neither operand: ", sum(x.words, y.words),
                  equals(xy)});
        if (!same(xy, yx))
          report_unlike("add does not commute", sum(x.words, y.words), xy, sum(y.words, x.words),
                        yx);
      }
  }

  void check_triples() {
    // All triples of the first few sums, so simple values are reported first; then random triples.
    const std::size_t count = sums_.size(), few = count < 20 ? count : 20;
    for (std::size_t k = 0; k < few * few * few && !wrong_; ++k)
      check_triple(sums_[k / (few * few)], sums_[k / few % few], sums_[k % few]);
    for (int k = 0; k < 20000 && !wrong_; ++k) {
      const std::size_t x = random_.below(count), y = random_.below(count);
      check_triple(sums_[x], sums_[y], sums_[random_.below(count)]);
    }
  }
  void check_triple(const drawn<accum>& x, const drawn<accum>& y, const drawn<accum>& z) {
    const accum xy = s_.add(x.value, y.value), yz = s_.add(y.value, z.value);
    const accum one = s_.add(xy, z.value), other = s_.add(x.value, yz);
    if (!same(one, other) && !are_as_close(one, other, {x.value, y.value, z.value}, {xy, yz}))
      report_unlike("add does not associate", sum(sum(x.words, y.words), z.words), one,
                    sum(x.words, sum(y.words, z.words)), other);
  }
  bool are_as_close(const accum& one, const accum& other, const std::array<accum, 3>& terms,
                    const std::array<accum, 2>& met) const {
    if constexpr (std::same_as<Equal, as_they_are>)
      return are_close(one, other, terms, met);
    else
      return false;
  }

  Algebra s_;
  std::vector<drawn<left>> lefts_;
  std::vector<drawn<right>> rights_;
  std::vector<product_drawn> products_;
  std::vector<drawn<accum>> sums_;
  const Equal& equal_;
  random_bits random_;
  std::optional<std::string> wrong_;
};

/// The first law that S breaks, if any.
template <semiring S, class Left, class Right, class Equal>
std::optional<std::string> violation_of(std::uint64_t seed, const Left& left, const Right& right,
                                        const Equal& equal) {
  if constexpr (is_dividing_by_zero<S>)
    return "the value without products is not a number: finish(zero(), 0) divides by 0";
  if constexpr (constexpr const char* product = division_of_operands<S>(); product != nullptr)
    return joined({"a product is not a number: ", product});
  if constexpr (constexpr const char* product = overflow_of_zero<S>(); product != nullptr)
    return joined({"a product of zero() overflows: ", product,
                   "; rig::saturating_plus stays at zero(), rig::times wraps"});
  if (is_empty_sum_unordered<S>())
    return joined({"the value without products is not a number: ",
                   has_finish<S> ? "finish(zero(), 0)" : "zero()", " = NaN"});
  const auto s = algebra_of<S>();
  random_bits random(seed);
  auto lefts = operands<typename S::left>(left, "left", s.is_logical, random);
  auto rights = operands<typename S::right>(right, "right", s.is_logical, random);
  return checker(s, std::move(lefts), std::move(rights), equal, random).run();
}

}  // namespace laws
/// @endcond

/// Checks the laws without which results would depend on order, threads or kernel. Returns a
/// description of the first broken one; nothing if all hold on the drawn values.
///
///   0 ⊕ x = x ⊕ 0 = x,  x ⊕ y = y ⊕ x,  (x ⊕ y) ⊕ z = x ⊕ (y ⊕ z),  NaN ⊕ x = NaN
///   if claimed: ∞ ⊕ x = x ⊕ ∞ = ∞,  0 ⊗ b = a ⊗ 0 = 0,  operands ignored,  all values 0 or 1
///
/// 0 is zero(), ∞ terminal(); x, y, z are 0, products and their sums. a, b are special and random
/// numbers, or left(bits) and right(bits) of 64 random bits; `{}` is a default. equal(x, y) is used
/// in place of ==; a struct without either is compared by its members. docs/add_a_semiring.md has
/// the other laws, and the tolerances of floats. Deterministic: a function of `seed`. Places: cpu.
/// Cost: about 10^5 additions. Throws error(out_of_memory), and the exceptions of S and the
/// arguments.
/// @code
/// if (auto wrong = rig::check_semiring<rig::max_second<float>>()) std::puts(wrong->c_str());
/// @endcode
template <class S, class Left = laws::numbers, class Right = laws::numbers,
          class Equal = laws::as_they_are>
std::optional<std::string> check_semiring(std::uint64_t seed = 1, const Left& left = {},
                                          const Right& right = {}, const Equal& equal = {}) {
  if constexpr (require_semiring<S>())
    return or_out_of_memory("check_semiring",
                            [&] { return laws::violation_of<S>(seed, left, right, equal); });
  else
    return {};
}
/// The same with an equality, for operands that are numbers.
/// @code
/// const auto near = [](float x, float y) { return std::fabs(x - y) <= 1e-4f * std::fabs(x); };
/// const auto wrong = rig::check_semiring<rig::plus_times<float>>(near);
/// @endcode
template <class S, class Equal>
requires std::is_invocable_r_v<bool, const Equal&, typename S::accum, typename S::accum>
    std::optional<std::string> check_semiring(const Equal& equal, std::uint64_t seed = 1) {
  return check_semiring<S>(seed, laws::numbers(), laws::numbers(), equal);
}

}  // namespace rig
