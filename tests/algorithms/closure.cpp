// closure against sweeps over all arcs, for semirings of several types and of the caller.

#include "rig/closure.hpp"

#include <cmath>

#include "algorithms/known_graphs.hpp"
#include "graph_oracles.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"

namespace {

using rig::index;

/// Small whole weights, of which sums are exact in every type.
template <class T>
rig::matrix<T> weighted(const rig::matrix<bool>& a, random_bits& bits, int least, int most) {
  std::vector<T> weights(static_cast<std::size_t>(a.nnz()));
  for (std::size_t k = 0; k < weights.size(); ++k)
    weights[k] = static_cast<T>(least + bits.below(most - least + 1));
  if constexpr (std::is_same_v<T, bool>)
    return a;
  else
    return a.with_values(weights);
}

/// Checks the closure over S of some columns, for several widths of a bucket.
template <class S, class T, class Add, class Multiply>
void check_columns(const rig::matrix<T>& a, random_bits& bits, Add add, Multiply multiply) {
  const int n = a.rows();
  const T zero = S::zero();
  for (const int columns : {1, 3}) {
    rig::dense<T> x(n, columns, zero);
    for (int j = 0; j < columns; ++j)
      for (int k = 0; n > 0 && k <= j; ++k) x(bits.below(n), j) = static_cast<T>(1 + bits.below(3));
    for (const double width : {0.0, 1.0, 7.0, 1e30}) {
      CAPTURE(width);
      const auto y = rig::closure(x, a, S{}, {.width = width});
      for (int j = 0; j < columns; ++j) {
        std::vector<T> of(static_cast<std::size_t>(n)), got = of;
        for (int i = 0; i < n; ++i) {
          of[static_cast<std::size_t>(i)] = x(i, j);
          got[static_cast<std::size_t>(i)] = y(i, j);
        }
        CHECK(got == oracle::settled<T>(a, of, zero, add, multiply));
      }
    }
  }
}

template <class T>
void check_orders(const rig::matrix<bool>& graph, random_bits& bits) {
  const auto a = weighted<T>(graph, bits, 0, 9);
  const auto least = [](T x, T y) { return x < y ? x : y; };
  const auto most = [](T x, T y) { return x < y ? y : x; };
  const auto sum = [](T x, T y) { return static_cast<T>(x + y); };
  check_columns<rig::min_plus<T>>(a, bits, least, sum);
  check_columns<rig::max_min<T>>(a, bits, most, least);
  check_columns<rig::min_max<T>>(a, bits, least, most);
  check_columns<rig::min_first<T>>(a, bits, least, [](T x, T) { return x; });
  check_columns<rig::min_second<T>>(a, bits, least, [](T, T y) { return y; });
  const auto ones = weighted<T>(graph, bits, 0, 1);
  check_columns<rig::max_times<T>>(ones, bits, most,
                                   [](T x, T y) { return static_cast<T>(x * y); });
}

/// The levels of a search and the least parents, in one number.
RIG_SEMIRING(
    level_and_parent, using left = rig::int64; using right = bool; using accum = rig::int64;
    static constexpr bool ignores_right = true; static constexpr rig::int64 zero() {
      return rig::highest<rig::int64>();
    } static constexpr rig::int64 add(rig::int64 x, rig::int64 y) {
      return x < y ? x : y;
    } static constexpr rig::int64 multiply(rig::int64 a, bool, rig::position at) {
      return ((a >> 32) + 1) * 4294967296 + at.inner;
    });

/// The cheapest walk, and of equal ones the one of fewest arcs.
struct walk {
  float cost;
  int arcs;
};
bool operator==(const walk& x, const walk& y) { return x.cost == y.cost && x.arcs == y.arcs; }
struct cheapest_walk {
  using left = walk;
  using right = float;
  using accum = walk;
  static constexpr bool selective = true;
  static constexpr walk zero() { return {rig::highest<float>(), 0}; }
  static constexpr walk add(walk x, walk y) {
    return y.cost < x.cost || (y.cost == x.cost && y.arcs < x.arcs) ? y : x;
  }
  static constexpr walk multiply(walk a, float b) { return {a.cost + b, a.arcs + 1}; }
};
struct undeclared_walk : cheapest_walk {
  static constexpr bool selective = false;
};

/// Subtracts in the order that turns numbers.
struct turns_order : rig::min_plus<float> {
  static constexpr const char* name = "turns_order";
  static constexpr float multiply(float a, float b) { return b - a; }
};

}  // namespace

TEST_CASE("orders of four types on random graphs") {
  random_bits bits(test_seed() + 7);
  known::each_random([&](const rig::matrix<bool>& a, bool) {
    check_orders<rig::int32>(a, bits);
    check_orders<rig::int64>(a, bits);
    check_orders<float>(a, bits);
    check_orders<double>(a, bits);
  });
}

TEST_CASE("reachability on random graphs, in two types") {
  random_bits bits(test_seed() + 8);
  known::each_random([&](const rig::matrix<bool>& a, bool) {
    const auto either = [](bool x, bool y) { return x || y; };
    const auto both = [](bool x, bool y) { return x && y; };
    check_columns<rig::lor_land<bool>>(a, bits, either, both);
    check_columns<rig::any_pair<bool>>(a, bits, either, [](bool, bool) { return true; });
    if (a.rows() == 0) return;
    const auto from = rig::vector<float>::from_indices(a.rows(), std::vector{0}, 5.0f);
    const auto got = rig::closure(from, a, rig::lor_land<float>{});
    const auto levels = known::levels_of(known::arcs_of(a), 0);
    for (int i = 0; i < a.rows(); ++i)
      CHECK(got(i, 0) == (levels[static_cast<std::size_t>(i)] < 0 ? 0.0f : 1.0f));
  });
}

TEST_CASE("levels and least parents by a semiring of the caller") {
  known::each_random([](const rig::matrix<bool>& a, bool) {
    if (a.rows() == 0) return;
    const auto arcs = known::arcs_of(a);
    const auto levels = known::levels_of(arcs, 0);
    const auto from = rig::vector<rig::int64>::from_indices(a.rows(), std::vector{0}, 0);
    const auto got = rig::closure(from, a, level_and_parent{});
    for (int j = 0; j < a.rows(); ++j) {
      const int level = levels[static_cast<std::size_t>(j)];
      const auto value = got(j, 0);
      CHECK((value == rig::highest<rig::int64>() ? -1 : static_cast<int>(value >> 32)) == level);
      if (level <= 0) continue;
      int parent = 0;
      while (levels[static_cast<std::size_t>(parent)] != level - 1 ||
             std::count(arcs[static_cast<std::size_t>(parent)].begin(),
                        arcs[static_cast<std::size_t>(parent)].end(), j) == 0)
        ++parent;
      CHECK((value & 0xffffffff) == parent);
    }
  });
}

TEST_CASE("values that are structures") {
  random_bits bits(test_seed() + 9);
  known::each_random([&](const rig::matrix<bool>& graph, bool) {
    const auto a = weighted<float>(graph, bits, 0, 5);
    rig::dense<walk> x(a.rows(), 1, cheapest_walk::zero());
    if (a.rows() > 0) x(bits.below(a.rows()), 0) = {0, 0};
    const auto expected = oracle::settled<walk>(
        a, oracle::list_of(x), cheapest_walk::zero(),
        [](walk p, walk q) {
          return std::pair(q.cost, q.arcs) < std::pair(p.cost, p.arcs) ? q : p;
        },
        [](walk p, float weight) {
          return walk{p.cost + weight, p.arcs + 1};
        });
    CHECK(oracle::list_of(rig::closure(x, a, cheapest_walk{})) == expected);
  });
}

TEST_CASE("large graphs have the same bits for any number of threads") {
  random_bits bits(test_seed() + 10);
  for (const char* text : {"rmat:13:16", "uniform:30000:8", "grid:150:200"}) {
    CAPTURE(text);
    const auto a = weighted<double>(rig::generate::from_text(text).with_value(true), bits, 1, 255);
    const auto tenths = rig::apply(a, rig::binary::times, 0.1);
    const auto from = rig::vector<double>::from_indices(a.rows(), std::vector{7}, 0.0);
    const auto expected = oracle::settled<double>(
        tenths,
        oracle::list_of(
            rig::closure(from, a.with_value(rig::highest<double>()), rig::min_plus<double>{})),
        rig::highest<double>(), [](double x, double y) { return std::min(x, y); },
        [](double x, double y) { return x + y; });
    for (const double width : {0.0, 1.0, 20.0})
      for (const int threads : {1, 2, 5}) {
        const auto got = rig::closure(from, tenths, rig::min_plus<double>{}, {.width = width},
                                      {.threads = threads});
        CHECK(oracle::list_of(got) == expected);
      }
  }
}

TEST_CASE("types are converted, and transpose_b reverses the arcs") {
  const std::vector<int> from{0, 1, 0}, to{1, 2, 2};
  const auto a = rig::matrix<int>::from_tuples(3, 3, from, to, std::vector{3, 4, 9});
  const auto first = rig::vector<float>::from_indices(3, std::vector{0}, 0.5f);
  CHECK(rig::closure(first, a, rig::min_plus<double>{})(2, 0) == 7.5);
  const auto last = rig::vector<int>::from_indices(3, std::vector{2}, 0);
  const rig::descriptor reversed{.transpose_b = true};
  CHECK(rig::closure(last, a, rig::min_plus<int>{}, {}, reversed)(0, 0) == 7);
  const rig::dense<int> x(3, 1, 1);
  CHECK(rig::closure(x, a, rig::min_plus<double>{})(2, 0) == 1);
  CHECK(x(2, 0) == 1);
}

TEST_CASE("negative weights, and cycles of them") {
  const std::vector<int> from{0, 1, 2, 0}, to{1, 2, 3, 2};
  const auto first = rig::vector<double>::from_indices(4, std::vector{0}, 0.0);
  for (const double width : {0.0, 0.5, 2.0}) {
    const auto falls =
        rig::matrix<double>::from_tuples(4, 4, from, to, std::vector<double>{5, -4, -3, 2});
    const auto got = rig::closure(first, falls, rig::min_plus<double>{}, {.width = width});
    CHECK(oracle::list_of(got) == std::vector<double>{0, 5, 1, -2});
    const std::vector<int> back_from{0, 1, 2, 3}, back_to{1, 2, 1, 0};
    const auto cycle = rig::matrix<double>::from_tuples(4, 4, back_from, back_to,
                                                        std::vector<double>{1, 2, -3, 1});
    known::check_error(
        rig::errc::range,
        "closure: min_plus does not settle: values still change after more rounds than the 4 nodes",
        [&] { rig::closure(first, cycle, rig::min_plus<double>{}, {.width = width}); });
  }
  const auto loop =
      rig::matrix<int>::from_tuples(1, 1, std::vector{0}, std::vector{0}, std::vector{-1});
  known::check_error(rig::errc::range, "does not settle",
                     [&] { rig::closure(rig::dense<int>(1, 1, 0), loop, rig::min_plus<int>{}); });
  const auto doubles =
      rig::matrix<float>::from_tuples(1, 1, std::vector{0}, std::vector{0}, std::vector{2.0f});
  known::check_error(rig::errc::range, "max_times does not settle", [&] {
    rig::closure(rig::dense<float>(1, 1, 1.0f), doubles, rig::max_times<float>{});
  });
}

TEST_CASE("NaN reaches what its node reaches") {
  const std::vector<int> from{0, 1, 2, 0, 4}, to{1, 2, 3, 3, 4};
  const double nan = std::nan("");
  const auto a =
      rig::matrix<double>::from_tuples(5, 5, from, to, std::vector<double>{1, nan, 1, 1, nan});
  const auto first = rig::vector<double>::from_indices(5, std::vector{0}, 0.0);
  for (const double width : {0.0, 1.0}) {
    const auto got = rig::closure(first, a, rig::min_plus<double>{}, {.width = width});
    CHECK(got(1, 0) == 1);
    CHECK(std::isnan(got(2, 0)));
    CHECK(std::isnan(got(3, 0)));
    CHECK(got(4, 0) == rig::highest<double>());
  }
}

TEST_CASE("NaN and infinities go around a cycle once more") {
  const int n = 6;
  std::vector<int> from, to;
  for (int i = 0; i < n; ++i) {
    from.push_back(i);
    to.push_back((i + 1) % n);
  }
  for (const double special : {std::nan(""), -rig::highest<double>()}) {
    std::vector<double> weights(n, 1.0);
    weights[n - 2] = special;
    const auto a = rig::matrix<double>::from_tuples(n, n, from, to, weights);
    rig::dense<double> x(n, 2, rig::highest<double>());
    x(0, 0) = x(2, 1) = 5;
    for (const double width : {0.0, 2.0}) {
      const auto got = rig::closure(x, a, rig::min_plus<double>{}, {.width = width});
      for (const double y : got) CHECK((std::isnan(special) ? std::isnan(y) : y == special));
    }
  }
}

TEST_CASE("nothing to do") {
  CHECK(rig::closure(rig::dense<float>(0, 1), rig::matrix<float>(0, 0), rig::min_plus<float>{})
            .rows() == 0);
  const rig::matrix<float> bare(3, 3);
  CHECK(rig::closure(rig::dense<float>(3, 0), bare, rig::min_plus<float>{}).columns() == 0);
  const rig::dense<float> x(3, 1, 2.0f);
  CHECK(rig::closure(x, bare, rig::min_plus<float>{}) == x);
}

TEST_CASE("progress counts the rounds, and what it throws leaves the call") {
  const auto a = rig::generate::from_text("grid:9:1").with_value(1.0f);
  const auto first = rig::vector<float>::from_indices(9, std::vector{0}, 0.0f);
  int rounds = 0;
  rig::int64 changed = 0;
  rig::closure_options given{.progress = [&](int round, rig::int64 nodes) {
    CHECK(round == ++rounds);
    changed += nodes;
  }};
  rig::closure(first, a, rig::min_plus<float>{}, given);
  CHECK(rounds == 9);
  CHECK(changed == 8);
  given.progress = [](int, rig::int64) { throw 5; };
  CHECK_THROWS_AS(rig::closure(first, a, rig::min_plus<float>{}, given), int);
}

TEST_CASE("the list has it, and explains it") {
  const rig::matrix<float> a(3, 3);
  const rig::dense<float> x(3, 1, 1.0f);
  const auto why = rig::explain_closure(x, a, rig::min_plus<float>{});
  CHECK(why.chosen == "closure");
  CHECK(why.text().find("closure min_plus: x 3x1, A 3x3 with 0 entries, on cpu") !=
        std::string::npos);
  CHECK(rig::explain(a, x, rig::min_plus<float>{}).chosen != "closure");
  known::check_error(rig::errc::cannot, "kernel 'closure' cannot serve: makes products until",
                     [&] { rig::mxm(a, x, rig::min_plus<float>{}, {.kernel = "closure"}); });
}

TEST_CASE("wrong input") {
  using rig::errc;
  const rig::matrix<float> wide(2, 3), five(5, 5);
  const rig::dense<float> two(2, 1, 1.0f), x(5, 1, 1.0f);
  const rig::min_plus<float> s;
  known::check_error(errc::shape, "closure: A is 2x3, not square",
                     [&] { rig::closure(two, wide, s); });
  known::check_error(errc::shape, "closure: x is 2x1, A is 5x5",
                     [&] { rig::closure(two, five, s); });
  known::check_error(errc::range, "closure: width is -1",
                     [&] { rig::closure(x, five, s, {.width = -1}); });
  known::check_error(errc::range, "closure: width is nan",
                     [&] { rig::closure(x, five, s, {.width = std::nan("")}); });
  known::check_error(errc::cannot, "closure: transpose_a of the descriptor has no meaning",
                     [&] { rig::closure(x, five, s, {}, {.transpose_a = true}); });
  known::check_error(errc::cannot, "closure: kernel 'row' cannot serve: makes one product",
                     [&] { rig::closure(x, five, s, {}, {.kernel = "row"}); });
  known::check_error(errc::unknown_kernel, "closure: the descriptor names kernel 'none'",
                     [&] { rig::closure(x, five, s, {}, {.kernel = "none"}); });
}

TEST_CASE("semirings whose closure is not unique are refused by the law they break") {
  const rig::matrix<float> a(2, 2);
  const rig::dense<float> x(2, 1, 1.0f);
  known::check_error(rig::errc::cannot, "closure: plus_times is not idempotent",
                     [&] { rig::closure(x, a, rig::plus_times<float>{}); });
  known::check_error(rig::errc::cannot, "closure: turns_order is not monotone",
                     [&] { rig::closure(x, a, turns_order{}); });
  known::check_error(rig::errc::cannot, "does not state that its add returns one of its operands",
                     [&] {
                       rig::closure(rig::dense<walk>(2, 1, walk{0, 0}), a, undeclared_walk{});
                     });
}
