#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "rig/semiring.hpp"

namespace rig {

/// What `check_semiring` is made of.
namespace laws {

/// Draws operands that are numbers: special ones, then random ones.
struct numbers {};

/// Compares sums as they are.
struct as_they_are {};

/// splitmix64: the same bits everywhere, unlike the distributions of <random>.
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

template <class T>
concept number = std::is_arithmetic_v<T> || is_small_float<T>;

/// x in words; nothing where T is a structure without a to_string of its own.
template <class T>
std::string text(const T& x) {
  if constexpr (std::same_as<T, bool>) {
    return x ? "true" : "false";
  } else if constexpr (is_small_float<T>) {
    return text(static_cast<float>(x));
  } else if constexpr (std::is_arithmetic_v<T>) {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(x)) return "NaN";
    char digits[64];
    return std::string(digits, std::to_chars(digits, digits + sizeof(digits), +x).ptr);
  } else if constexpr (is_indexed<T>) {
    return "(" + text(x.value) + ", " + text(x.index) + ")";
  } else if constexpr (requires {
                         { to_string(x) } -> std::convertible_to<std::string>;
                       }) {
    return to_string(x);
  } else {
    return {};
  }
}

/// Not equal to itself: NaN, or a structure that holds one.
template <class T>
bool is_unordered(const T& x) {
  if constexpr (is_small_float<T>)
    return std::isnan(static_cast<float>(x));
  else if constexpr (std::is_floating_point_v<T>)
    return std::isnan(x);
  else if constexpr (std::is_arithmetic_v<T>)
    return false;
  else if constexpr (is_indexed<T>)
    return is_unordered(x.value);
  else if constexpr (std::equality_comparable<T>)
    return !(x == x);
  else
    return false;
}

/// Equal, NaN to NaN, zeros of either sign to each other.
template <class T>
bool are_same(const T& x, const T& y) {
  if constexpr (is_indexed<T>)
    return are_same(x.value, y.value) && x.index == y.index;
  else
    return x == y || (is_unordered(x) && is_unordered(y));
}

/// A value, and how to write it.
template <class T>
struct drawn {
  T value;
  std::string words;
};

/// Numbers on which mistakes show: both signs, ends of the range, infinities, NaN. No float is near
/// overflow, nor a product of two: there sums do not associate, whatever the semiring.
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
    using limits = std::numeric_limits<T>;
    out = {T(0),
           T(1),
           T(-1),
           T(2),
           T(7),
           T(-13),
           limits::max(),
           limits::min(),
           static_cast<T>(limits::max() - 1),
           static_cast<T>(limits::min() + 1)};
    for (int k = 0; k < randoms; ++k) {
      const std::uint64_t bits = random.next();
      out.push_back(static_cast<T>(k % 2 == 0 ? bits : bits % 2001 - 1000));
    }
  }
  return out;
}

/// Operands of type T: of a caller's generator those of 0, 1, 2, … and of random bits, named after
/// them, so that a value without words can be made again.
template <class T, bool Logical, class Generator>
std::vector<drawn<T>> operands(const Generator& generator, std::string name, random_bits& random) {
  std::vector<drawn<T>> out;
  if constexpr (std::same_as<Generator, numbers>) {
    static_assert(number<T>,
                  "rig draws operands that are numbers: pass check_semiring a generator for the "
                  "operand that is not");
    if constexpr (Logical) {
      for (const int x : {0, 1}) out.push_back({T(x), std::to_string(x)});
    } else {
      for (const T x : special_numbers<T>(random)) out.push_back({x, text(x)});
    }
  } else {
    static_assert(
        requires(std::uint64_t bits) {
          { generator(bits) } -> std::convertible_to<T>;
        },
        "a generator makes an operand from 64 random bits");
    for (std::uint64_t k = 0; k < 20; ++k) {
      const std::uint64_t bits = k < 8 ? k : random.next();
      const T value = generator(bits);
      std::string words = text(value);
      if (words.empty()) words = name + "(" + std::to_string(bits) + ")";
      out.push_back({value, words});
    }
  }
  return out;
}

template <semiring S, class Left, class Right, class Equal>
class check {
 public:
  using accum = typename S::accum;
  using left = typename S::left;
  using right = typename S::right;
  static_assert(!std::same_as<Equal, as_they_are> || std::equality_comparable<accum>,
                "check_semiring compares sums: give S::accum an operator ==, or pass `equal`");

  check(std::uint64_t seed, const Left& left_of, const Right& right_of, const Equal& equal)
      : random_(seed),
        lefts_(operands<left, is_logical<S>>(left_of, "left", random_)),
        rights_(operands<right, is_logical<S>>(right_of, "right", random_)),
        equal_(equal) {}

  /// The first law broken. Those of products come first: a sum of wrong products proves nothing.
  std::optional<std::string> run() {
    draw_sums();
    check_finish();
    check_products();
    check_pairs();
    check_triples();
    return wrong_;
  }

 private:
  bool same(const accum& x, const accum& y) const {
    if constexpr (std::same_as<Equal, as_they_are>)
      return are_same(x, y);
    else
      return equal_(x, y) || (!equal_(x, x) && !equal_(y, y));
  }

  static std::string equals(const accum& x) {
    const std::string words = text(x);
    return words.empty() ? words : " = " + words;
  }
  void report(std::string violation) {
    if (!wrong_) wrong_ = std::move(violation);
  }
  /// Both sides of a law as formulas, with the values they have.
  void expect_same(const char* law, const accum& x, const auto& formula, const accum& y,
                   const auto& other) {
    if (!wrong_ && !same(x, y))
      report(std::string(law) + ": " + formula() + equals(x) + ", unlike " + other() +
             (other() == text(y) ? "" : equals(y)));
  }

  static std::string sum(const std::string& x, const std::string& y) {
    return "add(" + x + ", " + y + ")";
  }
  static std::string product_of(const std::string& a, const std::string& b, position at) {
    std::string out = "multiply(" + a + ", " + b;
    if (positional<S>) out += ", {" + text(at.row) + ", " + text(at.inner) + "}";
    return out + ")";
  }

  position any_position() {
    static constexpr index places[] = {0, 1, 5, 1000, highest<index>() - 1};
    const index row = places[random_.below(5)];
    return {row, places[random_.below(5)]};
  }

  void draw_sum(const accum& x, const auto& formula) {
    for (const drawn<accum>& other : sums_)
      if (same(other.value, x)) return;
    std::string words = text(x);
    if (words.empty()) words = formula();
    sums_.push_back({x, std::move(words)});
  }
  /// What S can have added up: laws bind no other value, so that a maximum of distances may start
  /// from 0.
  void draw_sums() {
    draw_sum(S::zero(), [] { return std::string("zero()"); });
    for (const auto& a : lefts_)
      for (const auto& b : rights_) {
        const position at = any_position();
        draw_sum(product<S>(a.value, b.value, at),
                 [&] { return product_of(a.words, b.words, at); });
      }
    for (int k = 0; k < 32; ++k) {
      const drawn<accum> x = sums_[random_.below(sums_.size())];
      const drawn<accum> y = sums_[random_.below(sums_.size())];
      draw_sum(S::add(x.value, y.value), [&] { return sum(x.words, y.words); });
    }
  }

  void check_finish() {
    if (is_unordered(finished<S>(S::zero(), 0)))
      report(std::string("the value without products is no number: ") +
             (has_finish<S> ? "finish(zero(), 0)" : "zero()") + " = NaN");
  }

  static bool is_zero_or_one(const accum& x) {
    if constexpr (number<accum>)
      return x == accum(0) || x == accum(1);
    else
      return true;
  }
  /// zero() as an operand, where there is such an operand.
  template <class T>
  static std::optional<T> zero_as() {
    const accum zero = S::zero();
    if constexpr (std::same_as<T, accum>) {
      return zero;
    } else if constexpr (is_storage<T> && is_storage<accum>) {
      const T operand = convert<T>(zero);
      if (are_same(convert<accum>(operand), zero)) return operand;
    }
    return {};
  }
  template <class T>
  static bool is_finite(const T& x) {
    if constexpr (is_small_float<T>)
      return std::isfinite(static_cast<float>(x));
    else if constexpr (std::is_floating_point_v<T>)
      return std::isfinite(x);
    else
      return !is_unordered(x);
  }

  void check_products() {
    const accum zero = S::zero();
    const auto zero_words = [] { return std::string("zero()"); };
    for (const auto& a : lefts_)
      for (const auto& b : rights_) {
        const position at = any_position();
        const accum x = product<S>(a.value, b.value, at);
        const auto words = [&] { return product_of(a.words, b.words, at); };
        if constexpr (is_ignoring_left<S>) {
          const auto& other = lefts_.front();
          expect_same("ignores_left is claimed, but multiply reads its left operand", x, words,
                      product<S>(other.value, b.value, at),
                      [&] { return product_of(other.words, b.words, at); });
        }
        if constexpr (is_ignoring_right<S>) {
          const auto& other = rights_.front();
          expect_same("ignores_right is claimed, but multiply reads its right operand", x, words,
                      product<S>(a.value, other.value, at),
                      [&] { return product_of(a.words, other.words, at); });
        }
        if constexpr (is_annihilating<S>) {
          static constexpr const char* law = "annihilates is claimed, but zero() does not";
          if (const auto operand = zero_as<left>(); operand && is_finite(b.value))
            expect_same(
                law, product<S>(*operand, b.value, at),
                [&] { return product_of("zero()", b.words, at); }, zero, zero_words);
          if (const auto operand = zero_as<right>(); operand && is_finite(a.value))
            expect_same(
                law, product<S>(a.value, *operand, at),
                [&] { return product_of(a.words, "zero()", at); }, zero, zero_words);
        }
        if (is_logical<S> && !is_zero_or_one(x))
          report("logical is claimed, but values leave {0, 1}: " + words() + equals(x));
      }
  }

  void check_pairs() {
    const accum zero = S::zero();
    for (const auto& x : sums_) {
      const auto x_words = [&] { return x.words; };
      static constexpr const char* identity = "zero() is not the identity of add";
      expect_same(
          identity, S::add(zero, x.value), [&] { return sum("zero()", x.words); }, x.value,
          x_words);
      expect_same(
          identity, S::add(x.value, zero), [&] { return sum(x.words, "zero()"); }, x.value,
          x_words);
      if constexpr (has_terminal<S>) {
        const accum end = S::terminal();
        const auto words = [] { return std::string("terminal()"); };
        expect_same(
            "add leaves terminal()", S::add(end, x.value),
            [&] { return sum("terminal()", x.words); }, end, words);
      }
    }
    for (const auto& x : sums_)
      for (const auto& y : sums_) {
        if (wrong_) return;
        const accum xy = S::add(x.value, y.value);
        const auto words = [&] { return sum(x.words, y.words); };
        expect_same("add does not commute", xy, words, S::add(y.value, x.value),
                    [&] { return sum(y.words, x.words); });
        if constexpr (std::is_floating_point_v<accum> || is_indexed<accum>)
          if (is_unordered(x.value) && !is_unordered(xy))
            report("add loses NaN: " + words() + equals(xy));
        if (is_logical<S> && !is_zero_or_one(xy))
          report("logical is claimed, but values leave {0, 1}: " + words() + equals(xy));
      }
  }

  /// Whether two groupings of x, y and z agree: among floats up to rounding relative to all that
  /// was on the way, and wherever that overflowed.
  bool agree(const accum& one, const accum& other, const accum& x, const accum& y, const accum& z,
             const accum& xy, const accum& yz) const {
    if (same(one, other)) return true;
    if constexpr (std::is_floating_point_v<accum> && std::same_as<Equal, as_they_are>) {
      if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z)) return false;
      const accum size = std::fabs(x) + std::fabs(y) + std::fabs(z) + std::fabs(xy) +
                         std::fabs(yz) + std::fabs(one) + std::fabs(other);
      return !std::isfinite(size) ||
             std::fabs(one - other) <= 4 * std::numeric_limits<accum>::epsilon() * size;
    } else {
      return false;
    }
  }
  void check_triple(const drawn<accum>& x, const drawn<accum>& y, const drawn<accum>& z) {
    const accum xy = S::add(x.value, y.value), yz = S::add(y.value, z.value);
    const accum one = S::add(xy, z.value), other = S::add(x.value, yz);
    if (!agree(one, other, x.value, y.value, z.value, xy, yz))
      report("add does not associate: " + sum(sum(x.words, y.words), z.words) + equals(one) +
             ", unlike " + sum(x.words, sum(y.words, z.words)) + equals(other));
  }
  void check_triples() {
    // All of the first few, so that simple values are reported where they do, then some of the
    // rest.
    const std::size_t few = std::min<std::size_t>(sums_.size(), 20);
    for (std::size_t k = 0; k < few * few * few && !wrong_; ++k)
      check_triple(sums_[k / (few * few)], sums_[k / few % few], sums_[k % few]);
    for (int k = 0; k < 20000 && !wrong_; ++k) {
      const std::size_t x = random_.below(sums_.size()), y = random_.below(sums_.size());
      check_triple(sums_[x], sums_[y], sums_[random_.below(sums_.size())]);
    }
  }

  random_bits random_;
  std::vector<drawn<left>> lefts_;
  std::vector<drawn<right>> rights_;
  std::vector<drawn<accum>> sums_;
  const Equal& equal_;
  std::optional<std::string> wrong_;
};

}  // namespace laws

/// Checks on special and random values that S keeps the laws without which results would depend on
/// order, threads or kernel; the first one broken comes back in words, nothing if all hold.
///
///   x ⊕ 0 = 0 ⊕ x = x,  x ⊕ y = y ⊕ x,  (x ⊕ y) ⊕ z = x ⊕ (y ⊕ z),  NaN ⊕ x = NaN,
///   and what S claims: terminal() ⊕ x = terminal();  0 ⊗ b = a ⊗ 0 = 0 for finite a and b
///   (annihilates);  ⊗ does not see an ignored operand;  logical values stay 0 or 1
///
/// 0 is zero(); x, y, z are 0, products, and sums of these. finish(0, 0) must not be NaN. Floats
/// associate up to rounding: 4 epsilons of the sum of all magnitudes met; where finite numbers
/// overflow they need not. Logical NaN need not stay.
/// Operands are numbers of both signs, ends of the range, ±inf and NaN, of logical S 0 and 1; for
/// others, or fewer, pass left(bits) and right(bits), which make one from 64 random bits. equal(x,
/// y) replaces == of sums, as structures of floats need. `{}` stands for a default.
/// Deterministic in `seed`. On the host only. Cost: some 10^5 additions, milliseconds. Throws only
/// what S, the generators or `equal` throw, and std::bad_alloc.
///
///   if (auto wrong = rig::check_semiring<my_algebra>()) std::puts(wrong->c_str());
template <semiring S, class Left = laws::numbers, class Right = laws::numbers,
          class Equal = laws::as_they_are>
std::optional<std::string> check_semiring(std::uint64_t seed = 1, const Left& left = {},
                                          const Right& right = {}, const Equal& equal = {}) {
  return laws::check<S, Left, Right, Equal>(seed, left, right, equal).run();
}

}  // namespace rig
