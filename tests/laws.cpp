// Every builtin semiring keeps the laws in every type; what each of them does at the ends of the
// numbers.

#include "laws.hpp"

#include <doctest/doctest.h>

#include <climits>

#include "rig/semirings.hpp"

namespace {

template <class S>
void check_laws(const std::string& type) {
  for (const std::string& law : laws::broken<S>())
    FAIL_CHECK(std::string(S::name), " of ", type, " breaks ", law);
}

template <template <class> class Semiring>
void check_in_every_type() {
  check_laws<Semiring<float>>("float");
  check_laws<Semiring<double>>("double");
  check_laws<Semiring<int>>("int32");
  check_laws<Semiring<long>>("int64");
  check_laws<Semiring<bool>>("bool");
}

TEST_CASE("builtin semirings keep the laws") {
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

// As constant expressions, so that overflow that is undefined would not compile.
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

TEST_CASE("floats at the ends") {
  CHECK(rig::min_plus<float>::multiply(inf, 5) == inf);
  CHECK(std::isnan(rig::min_plus<float>::multiply(inf, -inf)));
  CHECK(std::isnan(rig::plus_times<float>::multiply(0, inf)));
  CHECK(rig::max_min<float>::multiply(-inf, 5) == -inf);
}

// Wrong in one way each.
struct max_from_zero : rig::max_second<float> {
  static constexpr float zero() { return 0; }
};
struct max_from_least_normal : rig::max_second<float> {
  static constexpr float zero() { return std::numeric_limits<float>::min(); }
};
struct max_without_nan : rig::max_second<float> {
  static constexpr float add(float x, float y) { return x > y ? x : y; }
};
struct difference : rig::plus_times<float> {
  static constexpr float add(float x, float y) { return x - y; }
};
struct average : rig::plus_times<float> {
  static constexpr float add(float x, float y) { return (x + y) / 2; }
};
struct reads_left : rig::plus_second<float> {
  static constexpr float multiply(float a, float b) { return a + b; }
};
struct max_times_annihilates : rig::max_times<float> {
  static constexpr bool annihilates = true;
};
struct stops_early : rig::plus_times<float> {
  static constexpr float terminal() { return 1; }
};
struct mean_of_nothing : rig::mean_times<float> {
  static constexpr float finish(float x, rig::int64 n) { return x / static_cast<float>(n); }
};
struct unstable_index : rig::arg_max_second<float> {
  static constexpr accum add(accum x, accum y) { return x.value >= y.value ? x : y; }
};

template <class S>
bool breaks(const std::string& law) {
  for (const std::string& found : laws::broken<S>())
    if (found.starts_with(law)) return true;
  return false;
}

TEST_CASE("a wrong semiring is caught") {
  CHECK(breaks<max_from_zero>("identity"));
  CHECK(breaks<max_from_least_normal>("identity"));
  CHECK(breaks<max_without_nan>("NaN stays"));
  CHECK(breaks<difference>("commutativity"));
  CHECK(breaks<average>("associativity"));
  CHECK(breaks<reads_left>("ignores_left"));
  CHECK(breaks<max_times_annihilates>("annihilation"));
  CHECK(breaks<stops_early>("terminal"));
  CHECK(breaks<mean_of_nothing>("finish"));
  CHECK(breaks<unstable_index>("commutativity"));
}

}  // namespace
