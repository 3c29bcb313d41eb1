// Every builtin semiring satisfies the laws in every type; their results at the limits of the
// numbers.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <complex>
#include <limits>
#include <string>

#include "rig/check_semiring.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"
#include "seed.hpp"

namespace {

template <class S>
void check_laws(const std::string& type) {
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{test_seed()}})
    if (const auto wrong = rig::check_semiring<S>(seed))
      FAIL_CHECK(std::string(S::name), " of ", type, ", seed ", seed, ": ", *wrong);
}

template <template <class> class Semiring>
void check_in_every_type() {
  check_laws<Semiring<float>>("float");
  check_laws<Semiring<double>>("double");
  check_laws<Semiring<int>>("int32");
  check_laws<Semiring<long>>("int64");
  check_laws<Semiring<bool>>("bool");
}

TEST_CASE("builtin semirings satisfy the laws") {
#define RIG_BUILTIN(semiring, type) check_in_every_type<rig::semiring>();
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
}

/// `finish` of no products is a result: mean is 0, arg-max has no index.
template <template <class> class Semiring>
void check_finished_zero() {
  using S = Semiring<float>;
  const auto out = rig::finished<S>(S::zero(), 0);
  if constexpr (rig::is_indexed<rig::output<S>>) {
    CHECK(out.value == S::zero().value);
    CHECK(out.index == -1);
  } else {
    CHECK(out == S::zero());
  }
}

TEST_CASE("finish") {
#define RIG_BUILTIN(semiring, type) check_finished_zero<rig::semiring>();
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
  CHECK(rig::mean_times<float>::finish(7, 2) == 3.5f);
  CHECK(rig::mean_second<int>::finish(-7, 2) == -3);
  CHECK(rig::mean_second<double>::finish(3, 1) == 3);
}

constexpr float inf = std::numeric_limits<float>::infinity();

TEST_CASE("identities") {
  CHECK(rig::max_second<float>::zero() == -inf);
  CHECK(rig::min_plus<float>::zero() == inf);
  CHECK(rig::max_plus<int>::zero() == INT_MIN);
  CHECK(rig::min_max<long>::zero() == LONG_MAX);
  CHECK(rig::max_times<bool>::zero() == false);
  CHECK(rig::min_first<bool>::zero() == true);
  // The greatest of negative numbers is negative.
  CHECK(rig::max_times<float>::add(rig::max_times<float>::zero(), -3.0f) == -3.0f);
}

// These are constant expressions, in which an undefined overflow does not compile.
static_assert(rig::plus_times<int>::add(INT_MAX, 1) == INT_MIN);
static_assert(rig::plus_times<int>::multiply(INT_MAX, 2) == -2);
static_assert(rig::plus_times<long>::multiply(LONG_MIN, -1) == LONG_MIN);
static_assert(rig::max_times<int>::multiply(1 << 16, 1 << 16) == 0);
static_assert(rig::min_plus<int>::multiply(INT_MAX, -5) == INT_MAX);
static_assert(rig::min_plus<int>::multiply(-5, INT_MAX) == INT_MAX);
static_assert(rig::min_plus<int>::multiply(INT_MAX - 1, 5) == INT_MAX);
static_assert(rig::min_plus<int>::multiply(INT_MIN, -1) == INT_MIN);
static_assert(rig::max_plus<int>::multiply(INT_MIN, 5) == INT_MIN);
static_assert(rig::max_plus<int>::multiply(INT_MIN + 1, -5) == INT_MIN);
static_assert(rig::max_plus<long>::multiply(LONG_MAX, LONG_MAX) == LONG_MAX);
static_assert(rig::max_plus<long>::multiply(3, 4) == 7);
static_assert(rig::lor_land<int>::multiply(3, -2) == 1);
static_assert(rig::lor_land<bool>::add(true, false));

TEST_CASE("floats at the limits of their range") {
  CHECK(rig::min_plus<float>::multiply(inf, 5) == inf);
  CHECK(std::isnan(rig::min_plus<float>::multiply(inf, -inf)));
  CHECK(std::isnan(rig::plus_times<float>::multiply(0, inf)));
  CHECK(rig::max_min<float>::multiply(-inf, 5) == -inf);
}

// Each of these is wrong in one way.
struct max_from_zero : rig::max_second<float> {
  static constexpr float zero() { return 0; }
};
struct max_from_least_normal : rig::max_second<float> {
  static constexpr float zero() { return std::numeric_limits<float>::min(); }
};
struct zero_on_the_left_only : rig::plus_times<int> {
  static constexpr bool annihilates = false;
  static constexpr int add(int x, int y) { return y == 0 ? 0 : x + y; }
  static constexpr int multiply(int, int) { return 1; }
};
struct keeps_the_first : rig::plus_times<float> {
  static constexpr float add(float x, float y) { return x == 0 ? y : x; }
};
struct average : rig::plus_times<float> {
  static constexpr float add(float x, float y) { return x == 0 ? y : y == 0 ? x : x / 2 + y / 2; }
};
/// Sums that round more than float does.
struct rounds_to_bfloat16 : rig::plus_times<float> {
  static constexpr float add(float x, float y) {
    return x == 0 ? y : y == 0 ? x : float(rig::bfloat16(x + y));
  }
};
struct max_without_nan : rig::max_second<float> {
  static constexpr float add(float x, float y) { return x > y || y != y ? x : y; }
};
struct max_of_std : rig::max_second<float> {
  static constexpr float add(float x, float y) { return std::max(x, y); }
};
struct max_without_nan_on_the_right : rig::max_second<float> {
  static constexpr float add(float x, float y) {
    return x != x && y == zero() ? y : rig::maximum(x, y);
  }
};
struct nan_is_a_gap : rig::plus_times<float> {
  static constexpr float add(float x, float y) {
    return x == 0 ? y : y == 0 ? x : x != x ? y : y != y ? x : x + y;
  }
};
struct stops_early : rig::plus_times<float> {
  static constexpr float terminal() { return 1; }
};
struct stops_on_the_left_only : rig::plus_times<float> {
  static constexpr bool annihilates = false;
  static constexpr float terminal() { return -0.5f; }
  static constexpr float add(float x, float y) { return x == -0.5f ? x : x + y; }
  static constexpr float multiply(float, float) { return 1; }
};
struct reads_left : rig::plus_second<float> {
  static constexpr float multiply(float a, float b) { return a + b; }
};
struct reads_right : rig::plus_first<float> {
  static constexpr float multiply(float a, float b) { return a + b; }
};
struct max_times_annihilates : rig::max_times<float> {
  static constexpr bool annihilates = true;
};
struct squares_are_linear : rig::plus_times<float> {
  static constexpr float multiply(float a, float b) { return a * b * b; }
};
struct maximum_is_linear : rig::max_second<float> {
  static constexpr bool linear = true;
};
struct first_annihilates : rig::plus_first<float> {
  static constexpr bool annihilates = true;
  static constexpr bool ignores_right = false;
};
struct counts : rig::lor_land<int> {
  static constexpr bool annihilates = false;
  static constexpr int multiply(int a, int b) { return a + b; }
};
struct counts_in_add : rig::lor_land<int> {
  static constexpr int add(int x, int y) { return x + y; }
  static constexpr int terminal() = delete;
};
/// The members may be function objects.
struct mean_by_objects : rig::plus_times<float> {
  static constexpr auto add = [](float x, float y) { return x + y; };
  static constexpr auto finish = [](float x, rig::int64 n) {
    return n > 0 ? x / static_cast<float>(n) : 0;
  };
};
struct mean_of_nothing : rig::mean_times<float> {
  static constexpr float finish(float x, rig::int64 n) { return x / static_cast<float>(n); }
};
struct integer_mean_of_nothing : rig::mean_times<int> {
  static constexpr int finish(int x, rig::int64 n) { return x / static_cast<int>(n); }
};
struct integer_quotients : rig::plus_times<int> {
  static constexpr int multiply(int a, int b) { return a / b; }
};
struct integer_quotients_of_a : rig::plus_times<int> {
  static constexpr int multiply(int a, int b) { return b / a; }
};
/// The lowest integer divided by −1 also ends the process.
struct guarded_quotients : rig::plus_times<int> {
  static constexpr int multiply(int a, int b) { return b == 0 ? 0 : a / b; }
};
struct guarded_remainders_of_a : rig::plus_times<rig::int64> {
  static constexpr rig::int64 multiply(rig::int64 a, rig::int64 b) { return a == 0 ? b : b % a; }
};
/// Valid: every quotient is defined, and sums of integers wrap.
struct quotients_of_all : rig::plus_times<int> {
  static constexpr int multiply(int a, int b) {
    return b == 0 ? 0 : b == -1 ? static_cast<int>(0u - static_cast<unsigned>(a)) : a / b;
  }
};
/// finish is not constexpr, so a finish(x, 0) that divides by 0 would end the process: it is not
/// called.
struct counted_mean : rig::mean_times<int> {
  static inline int calls_without_products = 0;
  static int finish(int x, rig::int64 n) {
    calls_without_products += n == 0;
    return n == 0 ? 0 : x / static_cast<int>(n);
  }
};
struct from_nan : rig::plus_times<float> {
  static constexpr float zero() { return std::numeric_limits<float>::quiet_NaN(); }
};
struct unstable_index : rig::arg_max_second<float> {
  static constexpr accum add(accum x, accum y) {
    return x.index == INT_MAX ? y : y.index == INT_MAX || x.value >= y.value ? x : y;
  }
};
struct index_without_nan : rig::arg_max_second<float> {
  static constexpr accum add(accum x, accum y) {
    if (x.value != x.value) x = y;
    if (y.value != y.value) y = x;
    return rig::arg_max_second<float>::add(x, y);
  }
};
/// Uses the position besides the left operand; no law forbids it.
struct row_of_entry : rig::plus_first<long> {
  static constexpr long multiply(long a, long, rig::position at) {
    return rig::plus<long>(a, at.row);
  }
};

/// Keeps the earlier of two equal values, while `add` keeps the lower index.
struct overtakes_too_late : rig::arg_max_second<float> {
  static constexpr bool replaces(accum sum, accum x) {
    return (x.value > sum.value) | (x.value != x.value);
  }
};

/// The least inner index, and the greatest.
struct first_inner {
  using left = bool;
  using right = bool;
  using accum = int;
  static constexpr bool keeps_first = true;
  static constexpr int zero() { return rig::highest<int>(); }
  static constexpr int add(int x, int y) { return x < y ? x : y; }
  static constexpr int multiply(bool, bool, rig::position at) { return at.inner; }
};
struct last_inner : first_inner {
  static constexpr int zero() { return rig::lowest<int>(); }
  static constexpr int add(int x, int y) { return x > y ? x : y; }
};

template <class S>
std::string violation() {
  return rig::check_semiring<S>().value_or("none");
}

TEST_CASE("check_semiring describes the law that is broken") {
  CHECK(violation<max_from_zero>() ==
        "zero() is not the identity of add: add(zero(), -1) = 0, unlike -1");
  CHECK(violation<max_from_least_normal>().starts_with(
      "zero() is not the identity of add: add(zero(), 0) = 1.1754944e-38, unlike 0"));
  CHECK(violation<zero_on_the_left_only>() ==
        "zero() is not the identity of add: add(1, zero()) = 0, unlike 1");
  CHECK(violation<keeps_the_first>() ==
        "add does not commute: add(1, -1) = 1, unlike add(-1, 1) = -1");
  CHECK(violation<average>() ==
        "add does not associate: add(add(1, 1), -1) = 0, unlike add(1, add(1, -1)) = 1");
  CHECK(violation<rounds_to_bfloat16>().starts_with("add does not associate: add(add("));
  const std::string hint =
      "; rig::maximum and rig::minimum keep NaN, std::max, std::min and fmax do not";
  CHECK(violation<max_without_nan>() == "add loses NaN: add(zero(), NaN) = -inf" + hint);
  CHECK(violation<max_of_std>() == "add loses NaN: add(zero(), NaN) = -inf" + hint);
  CHECK(violation<max_without_nan_on_the_right>() ==
        "add loses NaN: add(NaN, zero()) = -inf" + hint);
  CHECK(violation<nan_is_a_gap>() == "add loses NaN: add(NaN, 1) = 1" + hint);
  CHECK(violation<stops_early>() ==
        "add leaves terminal(): add(terminal(), 1) = 2, unlike terminal() = 1");
  CHECK(violation<stops_on_the_left_only>() ==
        "add leaves terminal(): add(1, terminal()) = 0.5, unlike terminal() = -0.5");
  CHECK(violation<reads_left>() ==
        "ignores_left is claimed, but multiply reads its left operand: multiply(1, 0) = 1, unlike "
        "multiply(0, 0) = 0");
  CHECK(
      violation<reads_right>() ==
      "ignores_right is claimed, but multiply reads its right operand: multiply(0, 1) = 1, unlike "
      "multiply(0, 0) = 0");
  CHECK(violation<max_times_annihilates>() ==
        "annihilates is claimed, but zero() does not: multiply(zero(), 0) = NaN, unlike zero() = "
        "-inf");
  CHECK(violation<squares_are_linear>().starts_with(
      "linear is claimed, but a product is not its unit's multiple: multiply("));
  CHECK(violation<maximum_is_linear>() ==
        "linear is claimed, but add is not +: add(1, 1) = 1, unlike 1 + 1 = 2");
  CHECK(violation<first_annihilates>() ==
        "annihilates is claimed, but zero() does not: multiply(1, zero()) = 1, unlike zero() = 0");
  CHECK(violation<counts>() == "logical is claimed, but values leave {0, 1}: multiply(1, 1) = 2");
  CHECK(violation<counts_in_add>() == "logical is claimed, but values leave {0, 1}: add(1, 1) = 2");
  CHECK(violation<mean_by_objects>() == "none");
  CHECK(violation<mean_of_nothing>() ==
        "the value without products is not a number: finish(zero(), 0) = NaN");
  CHECK(violation<integer_mean_of_nothing>() ==
        "the value without products is not a number: finish(zero(), 0) divides by 0");
  CHECK(violation<integer_quotients>() == "a product is not a number: multiply(1, 0) divides by 0");
  CHECK(violation<integer_quotients_of_a>() ==
        "a product is not a number: multiply(0, 1) divides by 0");
  CHECK(violation<guarded_quotients>() ==
        "a product is not a number: multiply(lowest, -1) exceeds the highest");
  CHECK(violation<guarded_remainders_of_a>() ==
        "a product is not a number: multiply(-1, lowest) exceeds the highest");
  CHECK(violation<quotients_of_all>() == "none");
  CHECK(violation<counted_mean>() == "none");
  CHECK(counted_mean::calls_without_products == 0);
  CHECK(violation<from_nan>() == "the value without products is not a number: zero() = NaN");
  CHECK(violation<unstable_index>().starts_with("add does not commute: add(("));
  CHECK(violation<index_without_nan>().starts_with("add loses NaN: add(zero(), (NaN, "));
  CHECK(violation<row_of_entry>() == "none");
  CHECK(violation<first_inner>() == "none");
  CHECK(violation<last_inner>().starts_with("keeps_first is claimed, but a later product"));
  CHECK(violation<overtakes_too_late>().starts_with("replaces is not add: not replaces("));
}

/// The textbook definition, which ignores that zero() is the missing path.
template <class T>
struct naive_min_plus : rig::min_plus<T> {
  static constexpr bool annihilates = false;
  static constexpr T multiply(T a, T b) { return a + b; }
};
struct naive_max_plus : rig::max_plus<int> {
  static constexpr bool annihilates = false;
  static constexpr int multiply(int a, int b) { return a == INT_MIN ? a : a + b; }
};
struct positional_min_plus : naive_min_plus<int> {
  static constexpr int multiply(int a, int b, rig::position) { return a + b; }
};
struct guarded_min_plus : rig::min_plus<int> {
  static constexpr int multiply(int a, int b) {
    return a == INT_MAX || b == INT_MAX ? INT_MAX : a + b;
  }
};

TEST_CASE("a zero that overflows is refused") {
  const std::string law = "a product of zero() overflows: ",
                    hint = "; rig::saturating_plus stays at zero(), rig::times wraps";
  CHECK(violation<naive_min_plus<int>>() == law + "multiply(zero(), 1)" + hint);
  CHECK(violation<naive_min_plus<long>>() == law + "multiply(zero(), 1)" + hint);
  CHECK(violation<naive_max_plus>() == law + "multiply(-1, zero())" + hint);
  CHECK(violation<positional_min_plus>() == law + "multiply(zero(), 1)" + hint);
  CHECK(violation<guarded_min_plus>() == "none");
  CHECK(violation<naive_min_plus<float>>() == "none");
}

/// Valid for values that S can produce, though not for all floats.
struct chebyshev : rig::max_second<float> {
  static constexpr bool ignores_left = false;
  static constexpr float zero() { return 0; }
  static constexpr float multiply(float a, float b) { return a < b ? b - a : a - b; }
};
/// a ∪ b of independent events.
struct either {
  using left = float;
  using right = float;
  using accum = float;
  static constexpr float zero() { return 0; }
  static constexpr float add(float x, float y) { return x + y - x * y; }
  static constexpr float multiply(float a, float b) { return a * b; }
};
float probability(std::uint64_t bits) { return static_cast<float>(bits % 1001) / 1000; }

TEST_CASE("laws hold for the values that occur") {
  CHECK(violation<chebyshev>() == "none");
  CHECK(violation<either>() ==
        "zero() is not the identity of add: add(zero(), inf) = NaN, unlike inf");
  CHECK(rig::check_semiring<either>(1, probability, probability) == std::nullopt);
}

/// Its sums round, and equal infinities need their own case.
struct log_plus {
  using left = float;
  using right = float;
  using accum = float;
  static float zero() { return -inf; }
  static float add(float x, float y) {
    const float high = rig::maximum(x, y), low = rig::minimum(x, y);
    return high == low ? high + std::log(2.0f) : high + std::log1p(std::exp(low - high));
  }
  static float multiply(float a, float b) { return a + b; }
};
/// The textbook formula, which overflows.
struct naive_log_plus : log_plus {
  static float add(float x, float y) { return std::log(std::exp(x) + std::exp(y)); }
};

TEST_CASE("sums that round") {
  CHECK(violation<log_plus>() == "none");
  CHECK(violation<naive_log_plus>().starts_with("zero() is not the identity of add: add(zero(), "));
}

/// Gaussian integers: operands and accumulators of the caller's type.
struct gaussian {
  int re, im;
  friend constexpr bool operator==(gaussian, gaussian) = default;
};
struct gaussian_plus_times {
  using left = gaussian;
  using right = gaussian;
  using accum = gaussian;
  static constexpr bool annihilates = true;
  static constexpr gaussian zero() { return {0, 0}; }
  static constexpr gaussian add(gaussian x, gaussian y) { return {x.re + y.re, x.im + y.im}; }
  static constexpr gaussian multiply(gaussian a, gaussian b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};
struct gaussian_from_one : gaussian_plus_times {
  static constexpr bool annihilates = false;
  static constexpr gaussian zero() { return {1, 0}; }
};
struct gaussian_minus : gaussian_plus_times {
  static constexpr gaussian add(gaussian x, gaussian y) {
    return x == zero() ? y : gaussian{x.re - y.re, x.im - y.im};
  }
};
gaussian small_gaussian(std::uint64_t bits) {
  return {static_cast<int>(bits % 64), static_cast<int>(bits / 64 % 64)};
}

/// A value type with a to_string.
struct spoken {
  long value;
  friend constexpr bool operator==(spoken, spoken) = default;
  friend std::string to_string(spoken x) { return "<" + std::to_string(x.value) + ">"; }
};
struct spoken_max_from_zero {
  using left = int;
  using right = int;
  using accum = spoken;
  static constexpr spoken zero() { return {0}; }
  static constexpr spoken add(spoken x, spoken y) { return x.value > y.value ? x : y; }
  static constexpr spoken multiply(int a, int b) { return {static_cast<long>(a) * b}; }
};

/// Sum and count, without operator== and with a float that rounds.
struct running {
  double sum;
  long count;
};
struct true_mean {
  using left = float;
  using right = float;
  using accum = running;
  static constexpr running zero() { return {0, 0}; }
  static constexpr running add(running x, running y) { return {x.sum + y.sum, x.count + y.count}; }
  static constexpr running multiply(float a, float b) { return {double(a) * b, 1}; }
  static constexpr double finish(running x, long) {
    return x.count > 0 ? x.sum / double(x.count) : 0;
  }
};
struct mean_from_one : true_mean {
  static constexpr running zero() { return {0, 1}; }
};
constexpr auto nearly = [](running x, running y) {
  return x.count == y.count && std::fabs(x.sum - y.sum) <= 1e-9;
};

/// Minimum and maximum, in a type without operator==.
struct range {
  float low, high;
};
struct spread {
  using left = float;
  using right = float;
  using accum = range;
  static constexpr bool ignores_left = true;
  static constexpr range zero() { return {rig::highest<float>(), rig::lowest<float>()}; }
  static constexpr range add(range x, range y) {
    return {rig::minimum(x.low, y.low), rig::maximum(x.high, y.high)};
  }
  static constexpr range multiply(float, float b) { return {b, b}; }
};
struct spread_from_zero : spread {
  static constexpr range zero() { return {0, 0}; }
};
constexpr auto same_range = [](range x, range y) {
  const auto same = [](float a, float b) { return a == b || (a != a && b != b); };
  return same(x.low, y.low) && same(x.high, y.high);
};

/// Sums of floats in several kinds of structures.
template <class Accum>
struct sums_in {
  using left = float;
  using right = float;
  using accum = Accum;
  static accum zero() { return {}; }
};
struct three {
  float of[3];
  int count;
  friend constexpr bool operator==(const three&, const three&) = default;
};
struct three_sums : sums_in<three> {
  static three add(three x, const three& y) {
    for (int k = 0; k < 3; ++k) x.of[k] += y.of[k];
    x.count += y.count;
    return x;
  }
  static three multiply(float a, float b) { return {{a, b, a * b}, 1}; }
};
struct three_rounded_sums : three_sums {
  static three add(three x, const three& y) {
    x = three_sums::add(x, y);
    if (x.count > 2) x.of[1] = float(rig::bfloat16(x.of[1]));
    return x;
  }
};
struct complex_sums : sums_in<std::complex<float>> {
  static accum add(accum x, accum y) { return x + y; }
  static accum multiply(float a, float b) { return {a * b, b}; }
};
struct array_sums : sums_in<std::array<double, 2>> {
  static accum add(accum x, accum y) { return {x[0] + y[0], x[1] + y[1]}; }
  static accum multiply(float a, float b) { return {double(a) * b, b}; }
};
/// A sum, which rounds, beside bounds, which are only selected.
struct nested {
  range bounds;
  double sum;
};
struct nested_sums : sums_in<nested> {
  static nested zero() { return {spread::zero(), 0}; }
  static nested add(nested x, nested y) { return {spread::add(x.bounds, y.bounds), x.sum + y.sum}; }
  static nested multiply(float a, float b) { return {{b, b}, double(a) * b}; }
};
struct nested_wrong_bounds : nested_sums {
  static nested add(nested x, nested y) {
    nested out = nested_sums::add(x, y);
    if (out.bounds.low == -7.3f) out.bounds.low = x.bounds.low;
    return out;
  }
};

/// Operands of a storage type and of a type that rig does not store.
struct scaled_bytes {
  using left = rig::half;
  using right = unsigned char;
  using accum = double;
  static constexpr bool annihilates = true;
  static constexpr double zero() { return 0; }
  static constexpr double add(double x, double y) { return x + y; }
  static constexpr double multiply(rig::half a, unsigned char b) { return double(float(a)) * b; }
};
struct scaled_bytes_from_one : scaled_bytes {
  static constexpr bool annihilates = false;
  static constexpr double zero() { return 1; }
};

TEST_CASE("operands of other types") {
  CHECK(violation<scaled_bytes>() == "none");
  CHECK(violation<scaled_bytes_from_one>() ==
        "zero() is not the identity of add: add(zero(), 1) = 2, unlike 1");
}

TEST_CASE("structures") {
  CHECK(rig::check_semiring<gaussian_plus_times>(1, small_gaussian, small_gaussian) ==
        std::nullopt);
  CHECK(rig::check_semiring<gaussian_from_one>(1, small_gaussian, small_gaussian).value_or("") ==
        "zero() is not the identity of add: add(zero(), {1, 0}) = {2, 0}, unlike {1, 0}");
  CHECK(rig::check_semiring<gaussian_minus>(1, small_gaussian, small_gaussian).value_or("") ==
        "add does not commute: add({1, 0}, {2, 0}) = {-1, 0}, unlike add({2, 0}, {1, 0}) = {1, 0}");
  CHECK(violation<spoken_max_from_zero>() ==
        "zero() is not the identity of add: add(zero(), <-1>) = <0>, unlike <-1>");
  CHECK(rig::check_semiring<true_mean>(1, probability, probability, nearly) == std::nullopt);
  CHECK(rig::check_semiring<mean_from_one>(1, probability, {}, nearly).value_or("") ==
        "zero() is not the identity of add: add(zero(), {0, 1}) = {0, 2}, unlike {0, 1}");
}

struct of_all_kinds {
  float matrix[2][2], one[1];
  unsigned low : 3, high : 5;
  range bounds;
  rig::half small = rig::half(2);
};
struct based : range {
  int count;
};
struct with_union {
  union {
    float real;
    int whole;
  };
  int kind;
};
struct of_nine {
  int a, b, c, d, e, f, g, h, i;
};

TEST_CASE("members of a struct") {
  CHECK(rig::laws::text(of_all_kinds{{{1, 2}, {3, 4}}, {5}, 6, 7, {8, 9}}) ==
        "{{{1, 2}, {3, 4}}, {5}, 6, 7, {8, 9}, 2}");
  CHECK(rig::laws::text(std::complex<double>(1, -2)) == "{1, -2}");
  CHECK(rig::laws::text(based{{1, 2}, 3}) == "");
  CHECK(rig::laws::text(with_union{}) == "");
  CHECK(rig::laws::text(of_nine{}) == "");
  CHECK(rig::laws::are_same(range{inf, NAN}, range{inf, NAN}));
  CHECK(!rig::laws::are_same(range{1, NAN}, range{2, NAN}));
}

TEST_CASE("an equality of the caller") {
  CHECK(rig::check_semiring<spread>(same_range) == std::nullopt);
  CHECK(rig::check_semiring<spread>(same_range, 7) == std::nullopt);
  CHECK(rig::check_semiring<spread_from_zero>(same_range).value_or("") ==
        "zero() is not the identity of add: add(zero(), {1, 1}) = {0, 1}, unlike {1, 1}");
}

TEST_CASE("structures of floats associate up to rounding, member by member") {
  CHECK(violation<spread>() == "none");
  CHECK(violation<true_mean>() == "none");
  CHECK(violation<three_sums>() == "none");
  CHECK(violation<complex_sums>() == "none");
  CHECK(violation<array_sums>() == "none");
  CHECK(violation<nested_sums>() == "none");
  CHECK(violation<spread_from_zero>().starts_with("zero() is not the identity of add: "));
  CHECK(violation<three_rounded_sums>().starts_with("add does not associate: add(add({{"));
  CHECK(violation<nested_wrong_bounds>().starts_with(
      "zero() is not the identity of add: add(zero(), {{-7.3, -7.3}, "));
}

RIG_SEMIRING(
    longest, using left = float; using right = float; using accum = float;
    static constexpr bool annihilates = true; static constexpr float zero() {
      return rig::lowest<float>();
    } static constexpr float add(float x, float y) {
      return rig::maximum(x, y);
    } static constexpr float multiply(float a, float b) { return a + b; });
RIG_SEMIRING(
    longest_from_zero, using left = float; using right = float; using accum = float;
    static constexpr float zero() { return 0; } static constexpr float add(float x, float y) {
      return rig::maximum(x, y);
    } static constexpr float multiply(float a, float b) { return a + b; });

TEST_CASE("a semiring of the macro") {
  CHECK(violation<longest>() == "none");
  CHECK(violation<longest_from_zero>() ==
        "zero() is not the identity of add: add(zero(), -1) = 0, unlike -1");
}

/// Wrong for random operands, while all special numbers pass.
struct reads_some_left : rig::plus_second<int> {
  static constexpr int multiply(int a, int b) { return a > 13 && a < INT_MAX - 1 ? a : b; }
};

TEST_CASE("the seed decides what is drawn") {
  const auto once = rig::check_semiring<reads_some_left>(7);
  REQUIRE(once.has_value());
  CHECK(once == rig::check_semiring<reads_some_left>(7));
  CHECK(once != rig::check_semiring<reads_some_left>(8));
}

}  // namespace
