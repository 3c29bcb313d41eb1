// Scalars: half and bfloat16 against independent conversions, convert, scalar, accumulate.

#include <doctest/doctest.h>

#include <bit>
#include <climits>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "oracle_numbers.hpp"
#include "rig/descriptor.hpp"
#include "rig/kernels/cpu/load.hpp"
#include "seed.hpp"

namespace {

using oracle::kind;
using oracle::number;
constexpr float inf = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

/// POSIX has a function of the same name.
namespace of_the_caller {
using rig::index;
static_assert(std::is_same_v<index, rig::int32>);
}  // namespace of_the_caller
constexpr int last_of(int count) {
  using rig::index;
  return index{count} - 1;
}
static_assert(last_of(3) == 2);

template <class T>
T from_bits(unsigned bits) {
  T out;
  out.bits = static_cast<unsigned short>(bits);
  return out;
}

/// Checks the rounding of a float against the oracle; NaN stays NaN.
template <class T, int Exponent>
bool rounds_right(float x) {
  const number want = Exponent == 5 ? oracle::round_to_half(x) : oracle::round_to_bfloat16(x);
  const unsigned short got = T(x).bits;
  if (std::isnan(x)) return std::isnan(oracle::decode(got, Exponent));
  return got == oracle::encode(want, Exponent);
}

template <class T, int Exponent>
void check_every_pattern() {
  int wrong = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto x = from_bits<T>(bits);
    const number want = oracle::decode(x.bits, Exponent);
    const auto got = static_cast<float>(x);
    wrong += std::isnan(want) ? !std::isnan(got)
                              : got != want || std::signbit(got) != std::signbit(want);
    // The conversion to float and back keeps the bits.
    if (!std::isnan(want)) wrong += T(got).bits != x.bits;
    // Floats around the number, and around the midpoint between it and the next one.
    if (!std::isfinite(want)) continue;
    const number next = oracle::decode(static_cast<unsigned short>(bits + 1), Exponent);
    const auto middle = static_cast<float>(std::isfinite(next) ? (want + next) / 2 : want * 1.001L);
    for (const float near : {got, middle})
      for (const float f : {near, std::nextafter(near, inf), std::nextafter(near, -inf)})
        wrong += !rounds_right<T, Exponent>(f);
  }
  CHECK(wrong == 0);
}

TEST_CASE("half and bfloat16: every pattern, and every midpoint between neighbours") {
  check_every_pattern<rig::half, 5>();
  check_every_pattern<rig::bfloat16, 8>();
}

TEST_CASE("half and bfloat16: floats of every size") {
  random_bits random(test_seed());
  int wrong = 0;
  for (int n = 0; n < 400000; ++n) {
    const float x = std::bit_cast<float>(static_cast<unsigned>(random.next()));
    wrong += !rounds_right<rig::half, 5>(x);
    wrong += !rounds_right<rig::bfloat16, 8>(x);
#ifdef __FLT16_MAX__
    const auto native = std::bit_cast<unsigned short>(static_cast<_Float16>(x));
    wrong += !std::isnan(x) && rig::half(x).bits != native;
#endif
  }
  CHECK(wrong == 0);
  for (const float x :
       {0.0f, -0.0f, inf, -inf, nan, 65504.0f, 65519.9f, 65520.0f, 5.9e-8f, 2.98e-8f, 2.9e-8f}) {
    CHECK(rounds_right<rig::half, 5>(x));
    CHECK(rounds_right<rig::bfloat16, 8>(x));
  }
}

TEST_CASE("the machine's conversion to float equals rig's") {
  std::vector<rig::half> from(65537);
  for (unsigned bits = 0; bits < 65537; ++bits) from[bits] = from_bits<rig::half>(bits);
  std::vector<float> to(65537);
  rig::on_cpu::widen(from.data(), to.data(), 65537);
  int wrong = 0;
  for (std::size_t n = 0; n < from.size(); ++n) {
    const auto want = static_cast<float>(from[n]);
    wrong += std::isnan(want) ? !std::isnan(to[n])
                              : std::bit_cast<unsigned>(want) != std::bit_cast<unsigned>(to[n]);
  }
  CHECK(wrong == 0);
}

// These are constant expressions, in which an undefined conversion does not compile.
static_assert(rig::convert<int>(3.99f) == 3);
static_assert(rig::convert<int>(-3.99) == -3);
static_assert(rig::convert<int>(1e30f) == INT_MAX);
static_assert(rig::convert<int>(-1e30) == INT_MIN);
static_assert(rig::convert<int>(2147483647.5) == INT_MAX);
static_assert(rig::convert<int>(2147483646.5) == 2147483646);
static_assert(rig::convert<int>(-2147483648.5) == INT_MIN);
static_assert(rig::convert<int>(__builtin_nanf("")) == 0);
static_assert(rig::convert<long>(9.3e18) == LONG_MAX);
static_assert(rig::convert<long>(-9.3e18f) == LONG_MIN);
static_assert(rig::convert<long>(__builtin_inf()) == LONG_MAX);
static_assert(rig::convert<int>(1l << 32 | 7) == 7);
static_assert(rig::convert<int>(1l << 31) == INT_MIN);
static_assert(rig::convert<bool>(0.0f) == false);
static_assert(rig::convert<bool>(-0.0) == false);
static_assert(rig::convert<bool>(1e-40f) == true);
static_assert(rig::convert<bool>(__builtin_nanf("")) == true);
static_assert(rig::convert<bool>(256) == true);
static_assert(rig::convert<bool>(1l << 40) == true);
static_assert(rig::convert<float>(true) == 1);
static_assert(rig::convert<long>(rig::half(-2.75f)) == -2);
static_assert(rig::convert<rig::half>(rig::bfloat16(1.5f)).bits == 0x3e00);
static_assert(rig::convert<int>(rig::half(__builtin_inff())) == INT_MAX);
static_assert(rig::convert<bool>(rig::half(-0.0f)) == false);
static_assert(rig::convert<rig::half>(1e300).bits == 0x7c00);

TEST_CASE("scalars keep their numbers exactly") {
  CHECK(!rig::scalar().has_value());
  CHECK(rig::scalar(0).has_value());
  CHECK(rig::scalar((1l << 62) + 1).as<long>() == (1l << 62) + 1);
  CHECK(rig::scalar(0.1).as<double>() == 0.1);
  CHECK(rig::scalar(0.1f).as<float>() == 0.1f);
  CHECK(rig::scalar(true).as<int>() == 1);
  CHECK(rig::scalar(-1).as<int>() == -1);
  CHECK(rig::scalar(2.5).as<bool>());
  CHECK(rig::scalar(rig::half(-1.5f)).as<float>() == -1.5f);
  CHECK(rig::scalar(rig::bfloat16(3.0f)).as<rig::bfloat16>().bits == rig::bfloat16(3.0f).bits);
  CHECK(rig::scalar(4294967295u).as<long>() == 4294967295l);
  CHECK(rig::scalar(-(1ll << 62) - 1).as<long>() == -(1l << 62) - 1);
  const rig::descriptor desc{.fill = rig::half(0.5f)};
  CHECK(desc.fill.as<double>() == 0.5);
  CHECK(rig::scalar(inf).as<int>() == INT_MAX);
  CHECK(rig::scalar(0.5).as<rig::half>().bits == 0x3800);
}

template <class T>
void check_both_ends() {
  using limits = std::numeric_limits<T>;
  for (const T x : {limits::min(), T(0), T(3), limits::max()}) {
    CHECK(rig::scalar(x).as<long>() == static_cast<long>(x));
    CHECK(rig::scalar(x).as<double>() == static_cast<double>(x));
    CHECK(rig::scalar(x).as<float>() == static_cast<float>(x));
    CHECK(rig::scalar(x).as<int>() == static_cast<int>(x));
    CHECK(rig::scalar(x).as<bool>() == (x != 0));
  }
}

TEST_CASE("scalars take every integer type") {
  check_both_ends<signed char>();
  check_both_ends<unsigned char>();
  check_both_ends<short>();
  check_both_ends<unsigned short>();
  check_both_ends<int>();
  check_both_ends<unsigned>();
  check_both_ends<long>();
  check_both_ends<unsigned long>();
  check_both_ends<long long>();
  check_both_ends<unsigned long long>();
  enum { unreached = -7 };
  CHECK(rig::scalar(unreached).as<long>() == -7);
  const rig::descriptor desc{.fill = std::size_t{3}};
  CHECK(desc.fill.as<float>() == 3);
  CHECK(rig::scalar(std::size_t{65504}).as<rig::half>().bits == 0x7bff);
  CHECK(rig::scalar(1ul << 63).as<float>() == 0x1p63f);
}

template <class T>
std::vector<T> numbers() {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>)
    return {false, true};
  else if constexpr (std::is_integral_v<T>)
    return {0, 1, -1, 7, -3, limits::max(), limits::min(), limits::max() / 2 + 1};
  else
    return {0,
            1,
            -1,
            T(2.5),
            T(-0.1),
            T(1e20),
            limits::infinity(),
            -limits::infinity(),
            limits::quiet_NaN()};
}

/// Checks each operator against the oracle on all pairs.
template <class T>
void check_operators(kind k) {
  using rig::accumulator;
  const std::pair<accumulator, oracle::op> operators[] = {
      {accumulator::plus, oracle::op::plus},
      {accumulator::minus, oracle::op::minus},
      {accumulator::times, oracle::op::times},
      {accumulator::divide, oracle::op::divide},
      {accumulator::minimum, oracle::op::minimum},
      {accumulator::maximum, oracle::op::maximum},
      {accumulator::first, oracle::op::first},
      {accumulator::second, oracle::op::second},
      {accumulator::logical_or, oracle::op::logical_or},
      {accumulator::logical_and, oracle::op::logical_and},
  };
  for (const auto& [ours, theirs] : operators)
    for (const T c : numbers<T>())
      for (const T t : numbers<T>()) {
        const auto got = static_cast<number>(rig::accumulate(ours, c, t));
        const number want =
            oracle::apply(theirs, k, static_cast<number>(c), static_cast<number>(t));
        CHECK_MESSAGE((got == want || (std::isnan(got) && std::isnan(want))),
                      static_cast<int>(ours), " of ", c, " and ", t, " is ",
                      static_cast<double>(got));
      }
}

TEST_CASE("accumulators") {
  check_operators<float>(kind::float32);
  check_operators<double>(kind::float64);
  check_operators<int>(kind::int32);
  check_operators<long>(kind::int64);
  check_operators<bool>(kind::boolean);
  CHECK(rig::accumulate(rig::accumulator::divide, 7, 0) == INT_MAX);
  CHECK(rig::accumulate(rig::accumulator::divide, -7, 0) == INT_MIN);
  CHECK(rig::accumulate(rig::accumulator::divide, 0, 0) == 0);
  CHECK(rig::accumulate(rig::accumulator::divide, INT_MIN, -1) == INT_MIN);
}

}  // namespace
