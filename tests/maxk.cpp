// MaxK: what it keeps, the products with what it made, and their gradients.

#include <omp.h>

#include <cstdlib>
#include <limits>

#include "provoked.hpp"
#include "rig/graph.hpp"
#include "rig/sampling_report.hpp"
#include "rig/semirings.hpp"
#include "table.hpp"

namespace {

using rig::cbsr;
using rig::errc;

const rig::place where = rig::cpu();
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The columns that MaxK keeps, by a stable sort: NaN first, then from the greatest.
template <class T>
std::vector<int> kept_columns(const T* row, int columns, int k) {
  std::vector<int> order = every_column(columns);
  std::stable_sort(order.begin(), order.end(), [&](int j, int l) {
    const oracle::number x = to_number(row[j]), y = to_number(row[l]);
    return !std::isnan(y) && (std::isnan(x) || x > y);
  });
  order.resize(static_cast<std::size_t>(k));
  std::sort(order.begin(), order.end());
  return order;
}

template <class T>
bool same_bits(const T& x, const T& y) {
  return std::memcmp(&x, &y, sizeof(T)) == 0;
}

/// Values, columns, to_dense and maxk_gradient of one selection; the number of wrong places.
template <class T>
int check_selection(const rig::dense<T>& x, int k) {
  const cbsr<T> kept = rig::maxk(x, k);
  REQUIRE(kept.rows() == x.rows());
  REQUIRE(kept.columns() == x.columns());
  REQUIRE(kept.k() == k);
  REQUIRE(kept.index_bytes() == (x.columns() <= 256 ? 1 : 2));
  const rig::dense<T> full = rig::to_dense(kept);
  rig::dense<T> numbers(x.rows(), x.columns());
  for (int i = 0; i < x.rows(); ++i)
    for (int j = 0; j < x.columns(); ++j) numbers(i, j) = rig::convert<T>(j % 97 + i);
  const cbsr<T> gradient = rig::maxk_gradient(numbers, kept);
  int wrong = gradient.indices() != kept.indices();
  for (int i = 0; i < x.rows(); ++i) {
    const std::vector<int> want = kept_columns(x.row(i), x.columns(), k);
    int p = 0;
    for (int j = 0; j < x.columns(); ++j) {
      const bool in = p < k && want[p] == j;
      const T value = in ? x(i, j) : T();
      wrong += !same_bits(full(i, j), value);
      if (!in) continue;
      const long at = static_cast<long>(i) * k + p++;
      wrong += kept.structure().column(i, p - 1) != j || !same_bits(kept.values()[at], value) ||
               !same_bits(gradient.values()[at], numbers(i, j));
    }
  }
  return wrong;
}

template <class T>
void check_selections() {
  random_bits random(test_seed());
  for (const int columns : {1, 2, 31, 64, 255, 256, 257, 1000, 65536})
    for (const int k : {1, 2, 32, columns / 2, columns}) {
      if (k < 1 || k > columns || (columns == 65536 && k != 32)) continue;
      const int rows = columns < 300 ? 20 : 3;
      for (const draw how : {draw::quarters, draw::reals, draw::extremes}) {
        rig::dense<T> x(rows, columns);
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < columns; ++j)
            x(i, j) = from_number<T>(draw_number(kind_of<T>, how, random));
        CAPTURE(columns);
        CAPTURE(k);
        CAPTURE(static_cast<int>(how));
        CHECK(check_selection(x, k) == 0);
      }
      CHECK(check_selection(rig::dense<T>(2, columns, rig::convert<T>(-1.5)), k) == 0);
    }
}

TEST_CASE_TEMPLATE("maxk keeps what sorting does", T, float, double, rig::half, rig::bfloat16) {
  check_selections<T>();
}

TEST_CASE_TEMPLATE("ties, NaN, infinities and zeros of both signs", T, float, double, rig::half,
                   rig::bfloat16) {
  const auto check = [](std::vector<double> row, int k, std::vector<int> columns) {
    rig::dense<T> x(1, static_cast<int>(row.size()));
    for (int j = 0; j < x.columns(); ++j) x(0, j) = rig::convert<T>(row[j]);
    const cbsr<T> kept = rig::maxk(x, k);
    for (int p = 0; p < k; ++p) {
      CHECK(kept.structure().column(0, p) == columns[p]);
      CHECK(same_bits(kept.values()[p], x(0, columns[p])));
    }
    CHECK(check_selection(x, k) == 0);
  };
  check({5, 1, 5, 5, 7}, 3, {0, 2, 4});
  check({-1, -1, -1, -1}, 2, {0, 1});
  check({-0.0, 0.0, -0.0, 0.0}, 2, {0, 1});
  check({-1, 0.0, -0.0, 1}, 2, {1, 3});
  check({-3, -7, 2, -1}, 2, {2, 3});  // by signed value, not by magnitude
  check({inf, 1, nan, -inf}, 1, {2});
  check({nan, 1, nan, inf}, 2, {0, 2});
  check({nan, 1, -nan, inf}, 3, {0, 2, 3});
  check({-inf, -inf, -5}, 2, {0, 2});
  check({std::numeric_limits<double>::denorm_min(), 0, -1, 0}, 2, {0, 1});
}

TEST_CASE("maxk of a view, of no rows, and with any number of threads") {
  padded<float> x({3, 2, {1, 2, 4, 3, 5, 6}}, 3);
  const auto kept = rig::maxk(x.view(), 1);
  CHECK(kept.structure().column(0, 0) == 1);
  CHECK(kept.values()[1] == 4);
  CHECK(x.gaps_untouched());
  CHECK(rig::maxk(rig::dense<float>(0, 5), 2).rows() == 0);
  CHECK(rig::to_dense(rig::maxk(rig::dense<float>(0, 5), 2)).columns() == 5);

  random_bits random(test_seed());
  rig::dense<float> many(700, 130);
  for (int i = 0; i < 700; ++i)
    for (int j = 0; j < 130; ++j) many(i, j) = static_cast<float>(random.below(50));
  const auto once = rig::maxk(many, 30, {.threads = 1});
  for (const int threads : {2, 3, 7, 0, 1 << 30}) {
    const auto again = rig::maxk(many, 30, {.threads = threads});
    CHECK(std::memcmp(again.values(), once.values(), 700 * 30 * sizeof(float)) == 0);
    CHECK(std::memcmp(again.indices(), once.indices(), 700 * 30) == 0);
  }
}

TEST_CASE("a cbsr of the caller's arrays is checked") {
  const std::vector<float> values{1, 2, 3, 4};
  const auto made = [&](int rows, int columns, int k, std::vector<int> indices) {
    return cbsr<float>::from(rows, columns, k, std::span<const float>(values), indices);
  };
  const auto good = made(2, 300, 2, {0, 299, 7, 8});
  CHECK(good.index_bytes() == 2);
  CHECK(good.structure().column(0, 1) == 299);
  CHECK(rig::to_dense(good)(1, 8) == 4);
  CHECK(good.to(rig::cpu()).values() == good.values());
  check_error(errc::range, {"row 1", "column 300"}, [&] { made(2, 300, 2, {0, 1, 2, 300}); });
  check_error(errc::range, {"row 0", "column -1"}, [&] { made(2, 300, 2, {-1, 1, 2, 3}); });
  check_error(errc::order, {"row 1", "column 5 after column 6"}, [&] {
    made(2, 300, 2, {8, 9, 6, 5});
  });
  check_error(errc::order, {"column 9 after column 9"}, [&] { made(2, 300, 2, {9, 9, 5, 6}); });
  check_error(errc::shape, {"4 indices", "got 3"}, [&] { made(2, 300, 2, {1, 2, 3}); });
  check_error(errc::shape, {"6 values", "got 4"}, [&] { made(3, 9, 2, {1, 2, 1, 2, 1, 2}); });
  check_error(errc::shape, {"-1"}, [&] { made(-1, 9, 2, {}); });
  for (const auto& [columns, k] : {std::pair{3, 4}, {3, 0}, {3, -2}, {0, 1}, {65537, 2}}) {
    const std::string kept = std::to_string(k), all = std::to_string(columns);
    check_error(errc::range, {kept, all},
                [&, columns = columns, k = k] { made(2, columns, k, {}); });
    const rig::dense<float> x(1, columns);
    check_error(errc::range, {kept, all}, [&, k = k] { rig::maxk(x, k); });
  }
  check_error(errc::shape, {"2x299", "2x300"},
              [&] { rig::maxk_gradient(rig::dense<float>(2, 299), good); });
}

/// k for a width: 1, 2, a third, all, as the step goes.
int k_of(int features, int step) {
  const int all[] = {1, 2, features / 3, features, 32};
  return std::clamp(all[step % 5], 1, features);
}

trial_spec spec_of(const shape& of, const variant& v, int step) {
  trial_spec spec;
  spec.name = v.name;
  spec.of = &of;
  spec.features = feature_widths[1 + static_cast<std::size_t>(step) % (feature_widths.size() - 1)];
  spec.seed = test_seed() + static_cast<unsigned long>(step);
  spec.values = step % 5 == 0 ? draw::extremes : step % 2 == 0 ? draw::reals : draw::quarters;
  v.apply(spec);
  return spec;
}

void check_trial(const std::string& wrong, const char* semiring, const trial_spec& spec) {
  CHECK_MESSAGE(wrong.empty(), semiring, ", ", spec.of->name, ", F = ", spec.features,
                ", k = ", spec.kept + spec.stored, ", ", spec.name, spec.as_cbsr ? ", cbsr" : "",
                ", seed ", spec.seed, ": ", wrong);
}

/// Every variant, on shapes in turn, of a B that is a cbsr and of one that the kernel makes so.
template <class S, class TA, class TB, class TC>
void walk_forward(const std::vector<shape>& shapes, int number) {
  for (std::size_t v = 0; v < variants().size(); ++v)
    for (const bool as_cbsr : {true, false}) {
      const int step = static_cast<int>(v) * 2 + as_cbsr + number;
      trial_spec spec =
          spec_of(shapes[static_cast<std::size_t>(step) % shapes.size()], variants()[v], step);
      settle<S>(spec);
      spec.kept = k_of(spec.features, step / 3);
      spec.as_cbsr = as_cbsr;
      if (as_cbsr) spec.transpose_b = false;
      trial<S, TA, TB, TC> t(spec);
      check_trial(t.run(as_cbsr ? "" : "maxk"), S::name, spec);
    }
}

TEST_CASE("forward: every builtin semiring that can") {
  const std::vector<shape> shapes = battery();
  int number = 0, served = 0;
  const auto walk_one = [&]<class S, class T>(S, T) {
    ++number;
    if constexpr (rig::samples_as<S> != rig::reduction::none && rig::is_float<T>) {
      ++served;
      walk_forward<S, T, T, T>(shapes, 7 * number);
    } else {
      const rig::matrix<float> a(3, 3);
      const auto b = rig::maxk(rig::dense<float>(3, 4), 2);
      check_error(errc::cannot, {S::name, "maxk"}, [&] { rig::mxm(a, b, S{}); });
    }
  };
#define RIG_BUILTIN(semiring, type) walk_one(rig::semiring<type>{}, type());
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
  CHECK(served > number / 2);
}

TEST_CASE("forward: storage types") {
  const std::vector<shape> shapes = battery();
  walk_forward<rig::plus_times<float>, bool, rig::half, rig::bfloat16>(shapes, 1);
  walk_forward<rig::max_second<float>, float, rig::bfloat16, double>(shapes, 2);
  walk_forward<rig::mean_times<double>, rig::bfloat16, float, rig::half>(shapes, 3);
  walk_forward<rig::plus_second<int>, float, double, long>(shapes, 4);
  walk_forward<rig::arg_max_second<double>, float, rig::half, float>(shapes, 5);
}

/// Every variant without a mask of its own and without an accumulator.
template <class S, class TA, class TB, class TC, class TM = float>
void walk_backward(const std::vector<shape>& shapes, int number) {
  for (std::size_t v = 0; v < variants().size(); ++v) {
    const int step = static_cast<int>(v) + number;
    trial_spec spec =
        spec_of(shapes[static_cast<std::size_t>(step) % shapes.size()], variants()[v], step);
    if (spec.over != mask_over::nothing || spec.accumulator != rig::none) continue;
    spec.fresh = true;
    spec.stored = k_of(spec.features, step);
    trial<S, TA, TB, TC, TM> t(spec);
    check_trial(t.run_under_cbsr(step % 2 ? "" : "maxk_backward"), S::name, spec);
  }
}

TEST_CASE("backward: semirings, shapes, and storage types") {
  for (int round = 0; round < 4; ++round) {
    const std::vector<shape> shapes = battery();
    walk_backward<rig::plus_times<float>, float, float, float>(shapes, 3 * round);
    walk_backward<rig::plus_times<double>, double, double, double>(shapes, 3 * round + 1);
    walk_backward<rig::plus_second<float>, float, rig::half, rig::bfloat16, rig::half>(
        shapes, 3 * round + 2);
    walk_backward<rig::max_second<float>, bool, float, float>(shapes, 3 * round + 4);
    walk_backward<rig::min_plus<float>, float, int, double>(shapes, 3 * round + 5);
    walk_backward<rig::mean_times<double>, rig::bfloat16, double, rig::half, double>(shapes, round);
    walk_backward<rig::plus_first<float>, float, long, float>(shapes, 5 * round);
    walk_backward<rig::plus_times<int>, int, bool, float>(shapes, 5 * round + 1);
  }
}

TEST_CASE("same bits for any number of threads") {
  const shape lengths = row_lengths_shape();
  for (const int features : {33, 300}) {
    trial_spec spec;
    spec.of = &lengths;
    spec.features = features;
    spec.seed = test_seed();
    spec.values = draw::reals;
    trial_spec backward = spec;
    spec.kept = backward.stored = 20;
    trial<rig::plus_times<float>, float, float, float> forward(spec);
    trial<rig::plus_times<float>, float, float, float> under(backward);
    std::vector<unsigned char> once, once_under;
    CHECK(forward.run("maxk", 1, &once) == "");
    CHECK(under.run_under_cbsr("", 1, &once_under) == "");
    for (const int threads : {1, 2, 3, 7, 0, 1 << 30}) {
      std::vector<unsigned char> bytes;
      CHECK(forward.run("maxk", threads, &bytes) == "");
      CHECK(bytes == once);
      CHECK(under.run_under_cbsr("", threads, &bytes) == "");
      CHECK(bytes == once_under);
    }
  }
}

rig::matrix<double> random_graph(int n, double density, random_bits& random) {
  const oracle::sparse p = random_pattern(n, n, density, random);
  std::vector<double> weights(p.inner.size());
  for (double& w : weights) w = 2 * random.unit() - 1;
  return rig::matrix<double>::from_csr(n, n, std::span<const long>(p.offsets),
                                       std::span<const int>(p.inner),
                                       std::span<const double>(weights));
}

rig::dense<double> random_dense(int rows, int columns, random_bits& random) {
  rig::dense<double> x(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) x(i, j) = 2 * random.unit() - 1;
  return x;
}

/// Σ W ∘ product(X), whose gradient by X is checked against central differences.
template <class Forward>
void check_gradient(rig::dense<double> x, const rig::dense<double>& w,
                    const rig::dense<double>& gradient, Forward forward) {
  const auto loss = [&] {
    const rig::dense<double> c = forward(x);
    double sum = 0;
    for (int i = 0; i < c.rows(); ++i)
      for (int j = 0; j < c.columns(); ++j) sum += w(i, j) * c(i, j);
    return sum;
  };
  const double step = 1e-7;  // less than half of what two numbers of a row differ by
  double worst = 0;
  for (int i = 0; i < x.rows(); ++i)
    for (int j = 0; j < x.columns(); ++j) {
      const double kept = x(i, j);
      x(i, j) = kept + step;
      const double above = loss();
      x(i, j) = kept - step;
      const double below = loss();
      x(i, j) = kept;
      worst = std::max(worst, std::fabs((above - below) / (2 * step) - gradient(i, j)));
    }
  CHECK(worst < 1e-6);
}

/// Random numbers no two of which in a row are closer than 1e-3.
rig::dense<double> distinct(int rows, int columns, random_bits& random) {
  rig::dense<double> x(rows, columns);
  for (int i = 0; i < rows; ++i) {
    std::vector<int> order = every_column(columns);
    for (int j = columns - 1; j > 0; --j) std::swap(order[j], order[random.below(j + 1)]);
    for (int j = 0; j < columns; ++j) x(i, j) = 0.01 * (order[j] - columns / 2) + 1e-3;
  }
  return x;
}

TEST_CASE("gradients are those of central differences") {
  random_bits random(test_seed());
  using sum = rig::plus_times<double>;
  for (const auto& [n, columns, k] : {std::tuple{12, 16, 5}, {9, 7, 1}, {5, 300, 40}, {8, 6, 6}}) {
    const rig::matrix<double> a = random_graph(n, 0.4, random);
    const rig::dense<double> x = distinct(n, columns, random), w = random_dense(n, columns, random);
    const cbsr<double> y = rig::maxk(x, k);
    const rig::descriptor transposed{.transpose_a = true}, named{.kernel = "maxk", .k = k};

    const auto under = rig::mxm(a, w, sum{}, rig::structure(y), transposed);
    check_gradient(x, w, rig::to_dense(under),
                   [&](const auto& at) { return rig::mxm(a, at, sum{}, named); });
    // The product under the pattern is the whole product, of which maxk_gradient keeps a part.
    const auto gathered = rig::maxk_gradient(rig::mxm(a, w, sum{}, transposed), y);
    for (int p = 0; p < n * k; ++p)
      CHECK(under.values()[p] == doctest::Approx(gathered.values()[p]).epsilon(1e-12));

    // Mean: degree of the rows of A, not of its transpose.
    const rig::matrix<double> mean = rig::mean_normalise(a);
    const auto means = rig::mxm(mean, w, sum{}, rig::structure(y), transposed);
    check_gradient(x, w, rig::to_dense(means), [&](const auto& at) {
      return rig::mxm(a, rig::maxk(at, k), rig::mean_times<double>{});
    });
  }
}

TEST_CASE("mean_normalise divides by the entries of the row") {
  random_bits random(test_seed());
  const rig::matrix<double> a = random_graph(30, 0.1, random);
  const rig::dense<double> b = random_dense(30, 5, random);
  const auto ours = rig::mxm(rig::mean_normalise(a), b, rig::plus_times<double>{}),
             mean = rig::mxm(a, b, rig::mean_times<double>{});
  for (int i = 0; i < 30; ++i)
    for (int j = 0; j < 5; ++j) CHECK(ours(i, j) == doctest::Approx(mean(i, j)).epsilon(1e-12));
}

/// A with one row 0 … n − 1, every value 1.
rig::matrix<float> one_row(int n) {
  const std::vector<int> offsets{0, n}, inner = every_column(n);
  return rig::matrix<float>::from_csr(1, n, std::span<const int>(offsets),
                                      std::span<const int>(inner), rig::input::checked, 1.0f);
}

TEST_CASE("a place without products: fill, or what C held") {
  const auto b =
      rig::maxk(rig::dense<float>::from(2, 3, std::vector<float>{3, -5, 1, 4, 2, -6}), 1);
  const auto a = one_row(2);  // B = [3 . .; 4 . .]
  const auto max = rig::mxm(a, b, rig::max_second<float>{});
  CHECK(max(0, 0) == 4);
  CHECK(max(0, 1) == -std::numeric_limits<float>::infinity());
  CHECK(rig::mxm(a, b, rig::max_second<float>{}, {.fill = 0})(0, 2) == 0);
  CHECK(rig::mxm(a, b, rig::plus_times<float>{}, {.fill = 9})(0, 0) == 7);
  CHECK(rig::mxm(a, b, rig::plus_times<float>{}, {.fill = 9})(0, 1) == 9);
  CHECK(rig::mxm(a, b, rig::mean_second<float>{})(0, 0) == 3.5f);
  rig::dense<float> c(1, 3, 2.0f);
  rig::mxm(c, rig::accumulator::times, a, b, rig::plus_times<float>{});
  CHECK(c(0, 0) == 14);
  CHECK(c(0, 1) == 2);
  const auto arg = rig::mxm(a, b, rig::arg_max_second<float>{});
  CHECK(arg.indices(0, 0) == 1);
  CHECK(arg.indices(0, 1) == -1);
}

TEST_CASE("which kernel serves, and who says no") {
  const auto a = one_row(3);
  const rig::dense<float> x(3, 4, 1.0f);
  const auto b = rig::maxk(x, 2);
  const rig::plus_times<float> sum;
  rig::dense<float> c(1, 4, 42.0f);
  const auto on = [&](const char* kernel, int k = 0) {
    return rig::descriptor{.kernel = kernel, .k = k};
  };

  const auto forward = rig::explain(a, b, sum);
  CHECK(forward.chosen == "maxk");
  CHECK(forward.text().find("reads 2 of 4 columns") != std::string::npos);
  for (const rig::explained& line : forward.kernels)
    if (line.name == "maxk") CHECK(!line.approximate);
  const auto grown = rig::maxk(rig::dense<float>(1, 4), 2);
  const auto backward = rig::explain(a, x, sum, rig::structure(grown));
  CHECK(backward.chosen == "maxk_backward");
  const auto dense = rig::explain(a, x, sum, on("maxk", 2));
  CHECK(dense.chosen == "maxk");
  for (const rig::explained& line : dense.kernels)
    if (line.name == "maxk") CHECK(line.approximate);
  CHECK(rig::explain(a, x, sum, {.k = 2}).chosen == "row");
  for (const char* name : {"maxk", "maxk_backward"}) {
    setenv("RIG_KERNEL", name, 1);
    CHECK(rig::explain(a, x, sum, {.k = 2}).chosen == "row");
    unsetenv("RIG_KERNEL");
  }
  setenv("RIG_KERNEL", "row", 1);
  CHECK(rig::explain(a, b, sum).chosen == "maxk");
  unsetenv("RIG_KERNEL");

  for (const char* name : {"row", "split", "maxk_backward"})
    check_error(errc::cannot, {name, "B is a cbsr"},
                [&] { rig::mxm(c, rig::none, a, b, sum, on(name)); });
  check_error(errc::cannot, {"adaptive", "B is a cbsr"},
              [&] { rig::mxm(c, rig::none, a, b, sum, {.kernel = "adaptive", .width = 2}); });
  for (const char* name : {"row", "maxk"})
    check_error(errc::cannot, {name, "structure of a cbsr"},
                [&] { rig::mxm(a, x, sum, rig::structure(grown), on(name, 2)); });
  check_error(errc::cannot, {"maxk_backward", "structure of a cbsr"},
              [&] { rig::mxm(c, rig::none, a, x, sum, on("maxk_backward")); });
  for (const int k : {0, -1, 5})
    check_error(errc::range, {"maxk", "k is " + std::to_string(k), "4 columns"},
                [&] { rig::mxm(c, rig::none, a, x, sum, on("maxk", k)); });
  check_error(errc::cannot, {"transpose"}, [&] {
    rig::mxm(c, rig::none, a, rig::maxk(rig::dense<float>(4, 3), 2), sum, {.transpose_b = true});
  });
  check_error(errc::cannot, {"min_plus", "samples_as"},
              [&] { rig::mxm(c, rig::none, a, x, rig::min_plus<float>{}, on("maxk", 2)); });
  check_error(errc::cannot, {"MaxK", "float, double, half and bfloat16"},
              [&] { rig::mxm(c, rig::none, a, rig::dense<int>(3, 4), sum, on("maxk", 2)); });
  const auto codes = rig::quantized::from(x);
  check_error(errc::cannot, {"MaxK"},
              [&] { rig::mxm(c, rig::none, a, codes, sum, on("maxk", 2)); });
  check_error(errc::cannot, {"codes"}, [&] { rig::mxm(a, codes, sum, rig::structure(grown)); });
  check_error(errc::shape, {"3x4", "1x4"}, [&] { rig::mxm(a, x, sum, rig::structure(b)); });
  check_error(errc::shape, {"1x4"}, [&] { rig::mxm(a, grown, sum); });
  check_error(errc::cannot, {"maxk"}, [&] { rig::sampling_report(a, on("maxk", 2)); });
  CHECK(c(0, 3) == 42);
}

TEST_CASE("C may be the B that MaxK selects from") {
  random_bits random(test_seed());
  const auto a = random_graph(20, 0.2, random);
  auto b = random_dense(20, 9, random);
  const auto want = rig::mxm(a, rig::maxk(b, 4), rig::plus_times<double>{});
  rig::mxm(b, rig::none, a, b, rig::plus_times<double>{}, {.kernel = "maxk", .k = 4});
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 9; ++j) CHECK(b(i, j) == want(i, j));
}

}  // namespace
