// Semirings of the caller: structures as accumulators, values of the caller's own type, positional
// multiplies, operands of two types. Every kernel runs them, on short rows and on rows that are
// split.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <climits>
#include <vector>

#include "battery.hpp"
#include "exact_kernels.hpp"
#include "rig/generate.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"

namespace {

using rig::dense;
using rig::index;
using rig::matrix;

/// Sum and count together; the mean comes out as a double.
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

/// Gaussian integers: values, accumulators and results of the caller's type.
struct gaussian {
  int re, im;
  friend constexpr bool operator==(gaussian, gaussian) = default;
};
struct gaussian_plus_times {
  using left = gaussian;
  using right = gaussian;
  using accum = gaussian;
  static constexpr gaussian zero() { return {0, 0}; }
  static constexpr gaussian add(gaussian x, gaussian y) { return {x.re + y.re, x.im + y.im}; }
  static constexpr gaussian multiply(gaussian a, gaussian b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

/// The lowest neighbour that was reached, as the parent in a breadth-first search.
struct parent {
  using left = bool;
  using right = float;
  using accum = int;
  static constexpr bool ignores_left = true;
  static constexpr int zero() { return INT_MAX; }
  static constexpr int add(int x, int y) { return x < y ? x : y; }
  static constexpr int multiply(bool, float b, rig::position at) {
    return b != 0 ? at.inner : INT_MAX;
  }
};

/// A product that depends on its position: on the row and on the inner index.
struct positions {
  using left = float;
  using right = float;
  using accum = long;
  static constexpr bool ignores_left = true;
  static constexpr bool ignores_right = true;
  static constexpr long zero() { return 0; }
  static constexpr long add(long x, long y) { return x + y; }
  static constexpr long multiply(float, float, rig::position at) {
    return at.row * 1000l + at.inner;
  }
};

/// An accumulator wider than any tile: sums of ten powers.
struct powers {
  long sums[10];
};
struct power_sums {
  using left = int;
  using right = int;
  using accum = powers;
  static constexpr powers zero() { return {}; }
  static constexpr powers add(powers x, const powers& y) {
    for (int k = 0; k < 10; ++k) x.sums[k] += y.sums[k];
    return x;
  }
  static constexpr powers multiply(int a, int b) {
    powers out{};
    long x = a;
    for (int k = 0; k < 10; ++k, x *= b) out.sums[k] = x;
    return out;
  }
  static constexpr long finish(const powers& x, long n) {
    long out = n;
    for (int k = 0; k < 10; ++k) out += (k + 1) * x.sums[k];
    return out;
  }
};

/// An element of the largest supported size.
struct histogram {
  int bins[2048];
  friend bool operator==(const histogram&, const histogram&) = default;
};
static_assert(sizeof(histogram) == rig::widest_element);
histogram counted(int bin) {
  histogram out{};
  out.bins[bin] = 1;
  return out;
}
struct reads_a_histogram {
  using left = int;
  using right = histogram;
  using accum = int;
  static constexpr int zero() { return 0; }
  static constexpr int add(int x, int y) { return x + y; }
  static int multiply(int a, const histogram& b) { return b.bins[a]; }
};
struct sums_histograms {
  using left = int;
  using right = int;
  using accum = histogram;
  static histogram zero() { return {}; }
  static histogram add(histogram x, const histogram& y) {
    for (int k = 0; k < 2048; ++k) x.bins[k] += y.bins[k];
    return x;
  }
  static histogram multiply(int a, int b) { return counted(16 * a + b); }
};
struct ends_in_a_histogram {
  using left = int;
  using right = int;
  using accum = int;
  static constexpr int zero() { return 0; }
  static constexpr int add(int x, int y) { return x + y; }
  static constexpr int multiply(int a, int b) { return a * b; }
  static histogram finish(int x, long) { return counted(x); }
};

struct graph {
  oracle::sparse pattern;
  int features;
};
std::vector<graph> graphs() {
  random_bits random(test_seed());
  std::vector<graph> out;
  for (const shape& s : small_battery()) out.push_back({s.pattern, 1 + random.below(70)});
  out.push_back({row_lengths_shape().pattern, 33});
  out.push_back({long_rows_shape().pattern, 3});
  return out;
}

template <class T>
matrix<T> weighted(const oracle::sparse& p, const std::vector<T>& values) {
  return matrix<T>::from_csr(p.rows, p.columns, std::span<const long>(p.offsets),
                             std::span<const int>(p.inner), std::span<const T>(values));
}

/// Checks every element of op(A)·B on every kernel against a plain loop. The loop calls fold(sum,
/// entry, row, k, j) for each entry of the row, then last(sum, n).
template <class S, class TA, class TB, class Sum, class Fold, class Last>
void check_against_loop(const graph& g, const std::vector<TA>& values, const dense<TB>& b,
                        Sum start, Fold fold, Last last) {
  const matrix<TA> a = weighted(g.pattern, values);
  // transpose_a of the transpose gives A again; its values pass through a permutation.
  const oracle::sparse flipped = oracle::transpose([&] {
    oracle::sparse numbered = g.pattern;
    for (std::size_t p = 0; p < values.size(); ++p)
      numbered.values[p] = static_cast<oracle::number>(p);
    return numbered;
  }());
  std::vector<TA> flipped_values;
  for (const oracle::number p : flipped.values)
    flipped_values.push_back(values[static_cast<std::size_t>(p)]);
  const matrix<TA> at = weighted(flipped, flipped_values);

  for (const rig::kernel& k : rig::kernels()) {
    if (!serves_every_dense(k)) continue;
    for (const bool transposed : {false, true}) {
      const auto c =
          rig::mxm(transposed ? at : a, b, S{}, {.transpose_a = transposed, .kernel = k.name});
      int wrong = 0;
      for (index i = 0; i < g.pattern.rows; ++i)
        for (index j = 0; j < b.columns(); ++j) {
          Sum sum = start;
          for (long p = g.pattern.offsets[i]; p < g.pattern.offsets[i + 1]; ++p) {
            const index inner = g.pattern.inner[p];
            fold(sum, values[static_cast<std::size_t>(p)], b(inner, j), i, inner);
          }
          wrong += !(c(i, j) == last(sum, g.pattern.offsets[i + 1] - g.pattern.offsets[i]));
        }
      CHECK_MESSAGE(wrong == 0, std::string(k.name), transposed ? ", transposed, " : ", ",
                    g.pattern.rows, " rows: ", wrong, " places");
    }
  }
}

template <class T, class Draw>
dense<T> drawn(index rows, index columns, Draw draw) {
  dense<T> out(rows, columns);
  for (index i = 0; i < rows; ++i)
    for (index j = 0; j < columns; ++j) out(i, j) = draw();
  return out;
}
template <class T, class Draw>
std::vector<T> drawn(std::size_t count, Draw draw) {
  std::vector<T> out(count);
  for (T& x : out) x = draw();
  return out;
}
const auto finished_as_it_is = [](const auto& sum, long) { return sum; };

RIG_SEMIRING(
    sum_of_squares, using left = float; using right = float; using accum = float;
    static constexpr float zero() { return 0; } static constexpr float add(float x, float y) {
      return x + y;
    } static constexpr float multiply(float, float b) { return b * b; });
struct twice_the_squares : sum_of_squares {
  static constexpr float multiply(float, float b) { return 2 * b * b; }
};

TEST_CASE("a semiring derived from one of the macro does not inherit its text") {
  const rig::semiring_info& base = rig::info_of<sum_of_squares>;
  const rig::semiring_info& made = rig::info_of<twice_the_squares>;
  CHECK(base.source != nullptr);
  CHECK(made.source == nullptr);
  CHECK(made.key_hash != base.key_hash);
  CHECK(!made.is_rigs);
  CHECK(rig::info_of<rig::plus_times<float>>.is_rigs);
}

TEST_CASE("a structure as accumulator") {
  random_bits random(test_seed());
  const auto draw = [&] { return static_cast<float>(random.below(9) - 4); };
  for (const graph& g : graphs())
    check_against_loop<true_mean>(
        g, drawn<float>(g.pattern.inner.size(), draw),
        drawn<float>(g.pattern.columns, g.features, draw), 0.0,
        [](double& sum, float a, float b, index, index) { sum += double(a) * b; },
        [](double sum, long n) { return n > 0 ? sum / double(n) : 0; });
}

TEST_CASE("a type of the caller as value") {
  random_bits random(test_seed() + 1);
  const auto draw = [&] { return gaussian{random.below(9) - 4, random.below(9) - 4}; };
  for (const graph& g : graphs())
    check_against_loop<gaussian_plus_times>(
        g, drawn<gaussian>(g.pattern.inner.size(), draw),
        drawn<gaussian>(g.pattern.columns, g.features, draw), gaussian{0, 0},
        [](gaussian& sum, gaussian a, gaussian b, index, index) {
          sum = gaussian_plus_times::add(sum, gaussian_plus_times::multiply(a, b));
        },
        finished_as_it_is);
}

TEST_CASE("a type of the caller: accumulators, masks, transposes, iso") {
  const auto a =
      matrix<gaussian>::from_tuples(2, 2, std::vector<index>{0, 0}, std::vector<index>{0, 1},
                                    std::vector<gaussian>{{0, 1}, {2, 0}});
  const auto b = dense<gaussian>::from(2, 1, std::vector<gaussian>{{1, 1}, {3, 0}});
  const gaussian product{5, 1};
  const gaussian_plus_times s;
  CHECK(rig::mxm(a, b, s)(0, 0) == product);
  CHECK(rig::mxm(a, b, s)(1, 0) == gaussian{0, 0});
  dense<gaussian> c(2, 1, gaussian{10, 20});
  rig::mxm(c, rig::accumulator::own, a, b, s);
  CHECK(c(0, 0) == gaussian{15, 21});
  CHECK(c(1, 0) == gaussian{10, 20});
  const auto m = dense<bool>::from(2, 1, std::array<bool, 2>{false, true});
  c = dense<gaussian>(2, 1, gaussian{10, 20});
  rig::mxm(c, rig::none, a, b, s, rig::values(m));
  CHECK(c(0, 0) == gaussian{10, 20});
  CHECK(c(1, 0) == gaussian{0, 0});
  rig::mxm(c, rig::none, a, b, s, rig::values(m), {.replace = true});
  CHECK(c(0, 0) == gaussian{0, 0});
  const auto row = dense<gaussian>::from(1, 2, std::vector<gaussian>{{1, 1}, {3, 0}});
  CHECK(rig::mxm(a, row, s, {.transpose_b = true})(0, 0) == product);
  CHECK(rig::mxm(a.with_value(gaussian{0, 1}), b, s)(0, 0) == gaussian{-1, 4});
  for (const auto how : {rig::accumulator::plus, rig::accumulator::second})
    CHECK_THROWS_AS(rig::mxm(c, how, a, b, s), rig::error);
}

/// Results of 24 bytes, more than the record of a problem holds per element.
struct moments {
  double count, sum, squares;
  friend constexpr bool operator==(const moments&, const moments&) = default;
};
struct moments_of_neighbours {
  using left = float;
  using right = float;
  using accum = moments;
  static constexpr moments zero() { return {0, 0, 0}; }
  static constexpr moments add(moments x, moments y) {
    return {x.count + y.count, x.sum + y.sum, x.squares + y.squares};
  }
  static constexpr moments multiply(float, float b) { return {1, b, double(b) * b}; }
};

/// Sums whose bytes are no power of two, so that registers hold no whole number of them.
template <int Bytes>
struct odd_sums {
  struct accum {
    unsigned char of[Bytes];
    friend constexpr bool operator==(const accum&, const accum&) = default;
  };
  using left = float;
  using right = float;
  static constexpr accum zero() { return {}; }
  static constexpr accum add(accum x, const accum& y) {
    for (int i = 0; i < Bytes; ++i) x.of[i] = static_cast<unsigned char>(x.of[i] + y.of[i]);
    return x;
  }
  static constexpr accum multiply(float, float b) {
    accum out{};
    for (int i = 0; i < Bytes; ++i) out.of[i] = static_cast<unsigned char>(b + i);
    return out;
  }
};
template <int Bytes>
void check_odd_sums() {
  CAPTURE(Bytes);
  const auto a = rig::generate::karate();
  for (const index f : {1, 2, 9, 16, 33, 64, 130}) {
    CAPTURE(f);
    dense<float> b(a.columns(), f);
    for (index k = 0; k < b.rows(); ++k)
      for (index j = 0; j < f; ++j) b(k, j) = static_cast<float>((3 * k + j) % 7);
    const auto c = rig::mxm(a, b, odd_sums<Bytes>());
    int wrong = 0;
    for (index i = 0; i < a.rows(); ++i)
      for (index j = 0; j < f; ++j) {
        auto sum = odd_sums<Bytes>::zero();
        for (auto p = a.structure().offset(i); p < a.structure().offset(i + 1); ++p)
          sum = odd_sums<Bytes>::add(
              sum, odd_sums<Bytes>::multiply(1, b(a.structure().column_indices()[p], j)));
        wrong += c(i, j) == sum ? 0 : 1;
      }
    CHECK(wrong == 0);
  }
}
TEST_CASE("sums whose size is no power of two") {
  check_odd_sums<3>();
  check_odd_sums<12>();
  check_odd_sums<20>();
}

TEST_CASE("results of more than 16 bytes") {
  const auto a =
      matrix<float>::from_positions(2, 3, std::vector<index>{0, 0}, std::vector<index>{0, 2});
  const auto b = dense<float>::from(3, 1, std::vector<float>{2, 100, 5});
  const moments_of_neighbours s;
  for (const char* kernel : {"row", "split"}) {
    const auto c = rig::mxm(a, b, s, {.kernel = kernel});
    CHECK(c(0, 0) == moments{2, 7, 29});
    CHECK(c(1, 0) == moments{0, 0, 0});
  }
  // The fill has no room in the record of a problem, and must not be written beyond it.
  rig::problem p;
  const rig::descriptor desc;
  p.desc = &desc;
  unsigned char out[64];
  std::fill_n(out, 64, static_cast<unsigned char>(7));
  rig::info_of<moments_of_neighbours>.fill(p, out);
  CHECK(std::count(out + 16, out + 64, 7) == 48);
  CHECK(rig::info_of<moments_of_neighbours>.result_bytes == 24);
}

TEST_CASE("positional multiplies see row and inner index of op(A)") {
  random_bits random(test_seed() + 2);
  const auto draw = [&] { return static_cast<float>(random.below(2)); };
  for (const graph& g : graphs()) {
    const auto b = drawn<float>(g.pattern.columns, g.features, draw);
    check_against_loop<parent>(
        g, std::vector<float>(g.pattern.inner.size(), 1), b, INT_MAX,
        [](int& sum, float, float x, index, index k) { sum = x != 0 && k < sum ? k : sum; },
        finished_as_it_is);
    check_against_loop<positions>(
        g, std::vector<float>(g.pattern.inner.size(), 1), b, 0l,
        [](long& sum, float, float, index i, index k) { sum += i * 1000l + k; }, finished_as_it_is);
  }
}

TEST_CASE("elements of the largest size, in all roles") {
  random_bits random(test_seed() + 4);
  const auto draw = [&] { return random.below(4); };
  const graph g{oracle::sparse{3, 4, {0, 2, 2, 5}, {0, 3, 0, 1, 2}, {1, 1, 1, 1, 1}}, 70};
  const auto values = drawn<int>(g.pattern.inner.size(), draw);
  check_against_loop<reads_a_histogram>(
      g, values, drawn<histogram>(4, g.features, [&] { return counted(draw()); }), 0,
      [](int& sum, int a, const histogram& b, index, index) { sum += b.bins[a]; },
      finished_as_it_is);
  const auto b = drawn<int>(4, g.features, draw);
  check_against_loop<sums_histograms>(
      g, values, b, histogram{},
      [](histogram& sum, int a, int x, index, index) { ++sum.bins[16 * a + x]; },
      finished_as_it_is);
  check_against_loop<ends_in_a_histogram>(
      g, values, b, 0, [](int& sum, int a, int x, index, index) { sum += a * x; },
      [](int sum, long) { return counted(sum); });
}

TEST_CASE("an accumulator wider than a tile") {
  random_bits random(test_seed() + 3);
  const auto draw = [&] { return random.below(5) - 2; };
  for (const graph& g : graphs()) {
    if (g.pattern.nnz() > 10000) continue;
    check_against_loop<power_sums>(
        g, drawn<int>(g.pattern.inner.size(), draw),
        drawn<int>(g.pattern.columns, g.features, draw), powers{},
        [](powers& sum, int a, int b, index, index) {
          sum = power_sums::add(sum, power_sums::multiply(a, b));
        },
        [](const powers& sum, long n) { return power_sums::finish(sum, n); });
  }
}

/// The least neighbour of numbers ≥ 0, without a terminal and with one.
struct least {
  using left = float;
  using right = float;
  using accum = float;
  static constexpr bool ignores_left = true;
  static constexpr float zero() { return rig::highest<float>(); }
  static constexpr float add(float x, float y) { return rig::minimum(x, y); }
  static constexpr float multiply(float, float b) { return b; }
};
struct least_to_nothing : least {
  static constexpr float terminal() { return 0; }
};

TEST_CASE("a terminal changes no result") {
  random_bits random(test_seed() + 6);
  for (const graph& g : graphs()) {
    const auto& p = g.pattern;
    const auto a = matrix<float>::from_csr(
        p.rows, p.columns,
        std::span<const long>(std::vector<long>(p.offsets.begin(), p.offsets.end())),
        std::span<const index>(p.inner),
        std::span<const float>(std::vector<float>(p.inner.size())));
    for (const int features : {1, 3}) {
      dense<float> b(p.columns, features);
      for (index i = 0; i < b.rows(); ++i)
        for (index j = 0; j < features; ++j) b(i, j) = static_cast<float>(random.below(300));
      dense<float> expected(p.rows, features, 40), found = expected;
      rig::mxm(expected, rig::none, a, b, least{});
      rig::mxm(found, rig::none, a, b, least_to_nothing{});
      CHECK(std::equal(found.data(), found.data() + found.rows() * features, expected.data()));
      rig::mxm(expected, rig::accumulator::maximum, a, b, least{});
      rig::mxm(found, rig::accumulator::maximum, a, b, least_to_nothing{});
      CHECK(std::equal(found.data(), found.data() + found.rows() * features, expected.data()));
    }
  }
}

}  // namespace
