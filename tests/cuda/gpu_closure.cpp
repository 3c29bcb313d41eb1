// closure on a GPU against sweeps over all arcs, which share nothing with it, and against the CPU.

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "gpu_cases.hpp"
#include "graph_oracles.hpp"
#include "rig/closure.hpp"
#include "rig/generate.hpp"
#include "rig/rig.hpp"
#include "seed.hpp"

namespace {

using rig::index;
using rig::matrix;

/// Long paths, wide levels, rows of all lengths, and parts that nothing reaches.
std::vector<matrix<bool>> graphs(random_bits& bits) {
  std::vector<matrix<bool>> out{matrix<bool>(1, 1), matrix<bool>(9, 9)};
  for (const char* text : {"karate", "grid:3000:1", "grid:60:50", "grid:200:150", "rmat:9:8",
                           "rmat:13:16", "uniform:5000:1", "uniform:20000:6"})
    out.push_back(rig::generate::from_text(text).with_value(true));
  // A hub whose row is read in parts, by way of a path.
  std::vector<int> from, to;
  for (int i = 0; i + 1 < 40; ++i) {
    from.push_back(i);
    to.push_back(i + 1);
  }
  for (int k = 0; k < 30000; ++k) {
    from.push_back(39);
    to.push_back(40 + bits.below(20000));
  }
  out.push_back(matrix<bool>::from_positions(20040, 20040, from, to, true, true));
  return out;
}

template <class T>
matrix<T> weighted(const matrix<bool>& a, random_bits& bits, int most) {
  std::vector<T> weights(static_cast<std::size_t>(a.nnz()));
  for (std::size_t k = 0; k < weights.size(); ++k)
    weights[k] = static_cast<T>(bits.below(most + 1));
  return a.with_values(weights);
}

/// Checks two columns over S, for several widths, ten times each, and round by round.
template <class S, class W, class Add, class Multiply>
void check(const matrix<W>& a, random_bits& bits, Add add, Multiply multiply) {
  using T = typename S::accum;
  const T zero = S::zero();
  rig::dense<T> x(a.rows(), 2, zero);
  for (int j = 0; j < 2; ++j)
    for (int k = 0; k <= 2 * j; ++k) x(bits.below(a.rows()), j) = static_cast<T>(1 + bits.below(3));
  rig::dense<T> expected = x;
  for (int j = 0; j < 2; ++j) {
    std::vector<T> of(static_cast<std::size_t>(a.rows()));
    for (int i = 0; i < a.rows(); ++i) of[static_cast<std::size_t>(i)] = x(i, j);
    of = oracle::settled<T>(a, of, zero, add, multiply);
    for (int i = 0; i < a.rows(); ++i) expected(i, j) = of[static_cast<std::size_t>(i)];
  }
  const auto there = a.to(gpu);
  const auto x_there = x.to(gpu);
  const auto none = [](int, rig::int64) {};
  for (const double width : {0.0, 2.0, 30.0}) {
    CAPTURE(width);
    for (int again = 0; again < 10; ++again)
      CHECK(rig::closure(x_there, there, S{}, {.width = width}).to(rig::cpu()) == expected);
    if (a.rows() <= 5000)
      CHECK(rig::closure(x_there, there, S{}, {.width = width, .progress = none}).to(rig::cpu()) ==
            expected);
  }
}

RIG_SEMIRING(
    level_and_parent, using left = rig::int64; using right = bool; using accum = rig::int64;
    static constexpr bool ignores_right = true; static constexpr rig::int64 zero() {
      return rig::highest<rig::int64>();
    } static constexpr rig::int64 add(rig::int64 x, rig::int64 y) {
      return x < y ? x : y;
    } static constexpr rig::int64 multiply(rig::int64 a, bool, rig::position at) {
      return ((a >> 32) + 1) * 4294967296 + at.inner;
    });

TEST_CASE("closures of values of one, four and eight bytes") {
  random_bits bits(test_seed());
  const auto least = [](auto x, auto y) { return x < y ? x : y; };
  const auto most = [](auto x, auto y) { return x < y ? y : x; };
  const auto sum = [](auto x, auto y) { return x + y; };
  for (const matrix<bool>& a : graphs(bits)) {
    CAPTURE(a.rows());
    CAPTURE(a.nnz());
    check<rig::min_plus<double>>(weighted<double>(a, bits, 255), bits, least, sum);
    check<rig::min_plus<float>>(weighted<float>(a, bits, 20), bits, least, sum);
    check<rig::min_plus<rig::int64>>(weighted<rig::int64>(a, bits, 255), bits, least, sum);
    check<rig::min_plus<rig::int32>>(a.with_value(1), bits, least, sum);
    check<rig::max_min<rig::int32>>(weighted<rig::int32>(a, bits, 99), bits, most, least);
    check<rig::min_first<rig::int32>>(a.with_value(1), bits, least, [](int x, int) { return x; });
    check<rig::lor_land<bool>>(
        a, bits, [](bool x, bool y) { return x || y; }, [](bool x, bool y) { return x && y; });
  }
}

TEST_CASE("a semiring of the caller that reads positions has the bits of the CPU") {
  random_bits bits(test_seed() + 1);
  for (const matrix<bool>& a : graphs(bits)) {
    const auto first = rig::vector<rig::int64>::from_indices(a.rows(), std::vector{0}, 0);
    const auto here = rig::closure(first, a, level_and_parent{});
    const auto there = rig::closure(first.to(gpu), a.to(gpu), level_and_parent{});
    CHECK(there.where() == gpu);
    CHECK(there.to(rig::cpu()) == here);
  }
}

TEST_CASE("products of floats from left to right have the bits of the CPU") {
  random_bits bits(test_seed() + 2);
  const auto whole =
      weighted<double>(rig::generate::from_text("rmat:12:8").with_value(true), bits, 99);
  const auto a = rig::apply(whole, rig::binary::times, 0.1);
  const auto first = rig::vector<double>::from_indices(a.rows(), std::vector{1}, 0.0);
  const rig::min_plus<double> s;
  for (const double width : {0.0, 1.0})
    CHECK(rig::closure(first.to(gpu), a.to(gpu), s, {.width = width}).to(rig::cpu()) ==
          rig::closure(first, a, s));
  CHECK(rig::closure(first.to(gpu), a.to(gpu), s, {}, {.transpose_b = true}).to(rig::cpu()) ==
        rig::closure(first, rig::transpose(a), s));
}

TEST_CASE("negative cycles, NaN and laws on a GPU") {
  const std::vector<int> from{0, 1, 2, 3}, to{1, 2, 1, 0};
  const auto first = rig::vector<double>::from_indices(4, std::vector{0}, 0.0).to(gpu);
  const rig::min_plus<double> s;
  for (const double width : {0.0, 2.0}) {
    const auto cycle =
        matrix<double>::from_tuples(4, 4, from, to, std::vector<double>{1, 2, -3, 1}).to(gpu);
    const auto said =
        message_of([&] { rig::closure(first, cycle, s, {.width = width}); }, rig::errc::range);
    CHECK(said.find("closure: min_plus does not settle") == 0);
    const auto unknown =
        matrix<double>::from_tuples(4, 4, from, to, std::vector<double>{1, std::nan(""), 1, 1})
            .to(gpu);
    const auto got = rig::closure(first, unknown, s, {.width = width}).to(rig::cpu());
    CHECK(std::isnan(got(2, 0)));
    CHECK(got(3, 0) == rig::highest<double>());
  }
  const auto x = rig::dense<float>(4, 1, 1.0f).to(gpu);
  message_of([&] { rig::closure(x, matrix<float>(4, 4).to(gpu), rig::plus_times<float>{}); },
             rig::errc::cannot);
}

TEST_CASE("closures on two streams at once") {
  const own_stream one, other;
  const auto a = rig::generate::from_text("grid:300:200").with_value(1).to(gpu);
  const auto first = rig::vector<int>::from_indices(a.rows(), std::vector{0}, 0).to(gpu);
  const rig::min_plus<int> s;
  const auto expected = rig::closure(first, a, s).to(rig::cpu());
  std::vector<std::thread> threads;
  std::vector<rig::dense<int>> found(2);
  for (int k = 0; k < 2; ++k)
    threads.emplace_back([&, k] {
      const rig::descriptor desc{.stream = static_cast<cudaStream_t>(k == 0 ? one : other)};
      for (int again = 0; again < 5; ++again)
        found[static_cast<std::size_t>(k)] = rig::closure(first, a, s, {}, desc);
    });
  for (auto& thread : threads) thread.join();
  for (const auto& got : found) CHECK(got.to(rig::cpu()) == expected);
}

}  // namespace
