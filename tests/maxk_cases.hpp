#pragma once

// The MaxK cases that every place shares: the selection, the products with its cbsr, and their
// gradients.

#include <cstdlib>
#include <limits>

#include "preferred_kernel.hpp"
#include "provoked.hpp"
#include "rig/graph.hpp"
#include "rig/sampling_report.hpp"
#include "rig/semirings.hpp"
#include "table.hpp"

/// The columns that MaxK keeps, by a stable sort: NaN first, then numbers in descending order.
template <class T>
std::vector<int> top_k_columns(const T* row, int columns, int k) {
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

/// Checks values, columns, to_dense and maxk_gradient of one selection; returns the number of wrong
/// elements.
template <class T>
int check_selection(const rig::dense<T>& x, int k, rig::place where) {
  const rig::cbsr<T> made = rig::maxk(placed(x, where), k);
  REQUIRE(made.where() == where);
  REQUIRE(made.rows() == x.rows());
  REQUIRE(made.columns() == x.columns());
  REQUIRE(made.k() == k);
  REQUIRE(made.index_bytes() == (x.columns() <= 256 ? 1 : 2));
  const rig::dense<T> full = placed(rig::to_dense(made), rig::cpu());
  rig::dense<T> numbers(x.rows(), x.columns());
  for (int i = 0; i < x.rows(); ++i)
    for (int j = 0; j < x.columns(); ++j) numbers(i, j) = rig::convert<T>(j % 97 + i);
  const rig::cbsr<T> made_gradient = rig::maxk_gradient(placed(numbers, where), made);
  int wrong = made_gradient.indices() != made.indices();
  const rig::cbsr<T> retained = made.to(rig::cpu()), gradient = made_gradient.to(rig::cpu());
  for (int i = 0; i < x.rows(); ++i) {
    const std::vector<int> want = top_k_columns(x.row(i).data(), x.columns(), k);
    int p = 0;
    for (int j = 0; j < x.columns(); ++j) {
      const bool in = p < k && want[p] == j;
      const T value = in ? x(i, j) : T();
      wrong += !same_bits(full(i, j), value);
      if (!in) continue;
      const long at = static_cast<long>(i) * k + p++;
      wrong += retained.structure().column(i, p - 1) != j ||
               !same_bits(retained.values()[at], value) ||
               !same_bits(gradient.values()[at], numbers(i, j));
    }
  }
  return wrong;
}

template <class T>
rig::dense<T> drawn(int rows, int columns, draw how, random_bits& random) {
  rig::dense<T> x(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      x(i, j) = from_number<T>(draw_number(kind_of<T>, how, random));
  return x;
}

/// Numbers of random bits, among them NaN of both signs with any payload, and subnormal numbers.
template <class T>
rig::dense<T> any_bits(int rows, int columns, random_bits& random) {
  rig::dense<T> x(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      const unsigned long bits = random.next();
      std::memcpy(static_cast<void*>(&x(i, j)), &bits, sizeof(T));
    }
  return x;
}

template <class T>
void check_selections(rig::place where) {
  random_bits random(test_seed());
  for (const int columns : {1, 2, 31, 64, 255, 256, 257, 1000, 65536})
    for (const int k : {1, 2, 32, columns / 2, columns}) {
      if (k < 1 || k > columns || (columns == 65536 && k != 32)) continue;
      const int rows = columns < 300 ? 20 : 3;
      CAPTURE(columns);
      CAPTURE(k);
      for (const draw how : {draw::quarters, draw::reals, draw::extremes}) {
        CAPTURE(static_cast<int>(how));
        CHECK(check_selection(drawn<T>(rows, columns, how, random), k, where) == 0);
      }
      CHECK(check_selection(any_bits<T>(rows, columns, random), k, where) == 0);
      CHECK(check_selection(rig::dense<T>(2, columns, rig::convert<T>(-1.5)), k, where) == 0);
    }
}

/// Ties, NaN, infinities and zeros of both signs.
template <class T>
void check_ties(rig::place where) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto check = [&](std::vector<double> row, int k, std::vector<int> columns) {
    rig::dense<T> x(1, static_cast<int>(row.size()));
    for (int j = 0; j < x.columns(); ++j) x(0, j) = rig::convert<T>(row[j]);
    const rig::cbsr<T> retained = rig::maxk(placed(x, where), k).to(rig::cpu());
    for (int p = 0; p < k; ++p) {
      CHECK(retained.structure().column(0, p) == columns[p]);
      CHECK(same_bits(retained.values()[p], x(0, columns[p])));
    }
    CHECK(check_selection(x, k, where) == 0);
  };
  check({5, 1, 5, 5, 7}, 3, {0, 2, 4});
  check({-1, -1, -1, -1}, 2, {0, 1});
  check({-0.0, 0.0, -0.0, 0.0}, 2, {0, 1});
  check({-1, 0.0, -0.0, 1}, 2, {1, 3});
  check({-1, -0.0, 0.0, 1}, 2, {1, 3});
  check({-3, -7, 2, -1}, 2, {2, 3});  // by signed value, not by magnitude
  check({inf, 1, nan, -inf}, 1, {2});
  check({nan, 1, nan, inf}, 2, {0, 2});
  check({nan, 1, -nan, inf}, 3, {0, 2, 3});
  check({-inf, -inf, -5}, 2, {0, 2});
  check({std::numeric_limits<double>::denorm_min(), 0, -1, 0}, 2, {0, 1});
}

/// k out of range, and shapes that do not fit.
inline void check_selection_refusals(rig::place where) {
  for (const auto& [columns, k] : {std::pair{3, 4}, {3, 0}, {3, -2}, {0, 1}, {65537, 2}}) {
    const std::string given = std::to_string(k), all = std::to_string(columns);
    const auto x = placed(rig::dense<float>(1, columns), where);
    check_error(rig::errc::range, {given, all}, [&, k = k] { rig::maxk(x, k); });
  }
  const auto retained = rig::maxk(placed(rig::dense<float>(2, 300), where), 2);
  for (const auto& [rows, columns] : {std::pair{2, 299}, {3, 300}})
    check_error(rig::errc::shape, {std::to_string(rows) + "x" + std::to_string(columns), "2x300"},
                [&, rows = rows, columns = columns] {
                  rig::maxk_gradient(placed(rig::dense<float>(rows, columns), where), retained);
                });
  check_error(rig::errc::range, {"threads is -1"},
              [&] { rig::maxk(placed(rig::dense<float>(2, 3), where), 1, {.threads = -1}); });
}

/// k for a feature width: 1, 2, a third of the width or all of it, by the step.
inline int k_of(int features, int step) {
  const int all[] = {1, 2, features / 3, features, 32};
  return std::clamp(all[step % 5], 1, features);
}

/// The place of a sweep, and how much of the battery it covers.
struct sweep_plan {
  rig::place where;
  std::vector<int> features = {feature_widths.begin() + 1, feature_widths.end()};
  int every = 1;  ///< a sweep takes one variant in `every`
  bool reproducible = true;
};

inline trial_spec spec_of(const sweep_plan& plan, const shape& of, const variant& v, int step) {
  trial_spec spec;
  spec.name = v.name;
  spec.of = &of;
  spec.features = plan.features[static_cast<std::size_t>(step) % plan.features.size()];
  spec.seed = test_seed() + static_cast<unsigned long>(step);
  spec.values = step % 5 == 0 ? draw::extremes : step % 2 == 0 ? draw::reals : draw::quarters;
  spec.reproducible = plan.reproducible;
  spec.where = plan.where;
  v.apply(spec);
  return spec;
}

/// `work` returns a description of the difference, or throws an error.
inline void check_trial(const char* semiring, const trial_spec& spec, auto&& work) {
  std::string wrong;
  try {
    wrong = work();
  } catch (const rig::error& e) {
    wrong = e.what();
  }
  CHECK_MESSAGE(wrong.empty(), semiring, ", ", spec.of->name, ", F = ", spec.features,
                ", k = ", spec.top_k + spec.stored, ", ", spec.name, spec.as_cbsr ? ", cbsr" : "",
                spec.reproducible ? "" : ", not reproducible", ", seed ", spec.seed, ": ", wrong);
}

/// Runs every variant on the shapes in turn: with a cbsr as B, and with a dense B from which the
/// kernel selects.
template <class S, class TA, class TB, class TC>
void sweep_forward(const sweep_plan& plan, const std::vector<shape>& shapes, int number) {
  for (std::size_t v = 0; v < variants().size(); ++v)
    for (const bool as_cbsr : {true, false}) {
      const int step = static_cast<int>(v) * 2 + as_cbsr + number;
      if (step % plan.every != 0) continue;
      trial_spec spec =
          spec_of(plan, shapes[static_cast<std::size_t>(step / plan.every) % shapes.size()],
                  variants()[v], step / plan.every);
      normalise<S>(spec);
      spec.top_k = k_of(spec.features, step / 3);
      spec.as_cbsr = as_cbsr;
      if (as_cbsr) spec.transpose_b = false;
      trial<S, TA, TB, TC> t(spec);
      check_trial(S::name, spec, [&] { return t.run(as_cbsr ? "" : "maxk"); });
    }
}

/// Runs a semiring forward if it declares samples_as; otherwise checks the refusal. True if the
/// semiring is served.
template <class S, class T>
bool sweep_or_refuse(const sweep_plan& plan, const std::vector<shape>& shapes, int number) {
  if constexpr (rig::samples_as<S> != rig::reduction::none && rig::is_float<T>) {
    sweep_forward<S, T, T, T>(plan, shapes, number);
    return true;
  } else {
    const auto a = rig::matrix<float>(3, 3).to(plan.where);
    const auto b = rig::maxk(placed(rig::dense<float>(3, 4), plan.where), 2);
    check_error(rig::errc::cannot, {S::name, "maxk"}, [&] { rig::mxm(a, b, S{}); });
    return false;
  }
}

/// Runs every variant that has no mask of its own and no accumulator.
template <class S, class TA, class TB, class TC, class TM = float>
void sweep_backward(const sweep_plan& plan, const std::vector<shape>& shapes, int number) {
  for (std::size_t v = 0; v < variants().size(); ++v) {
    const int step = static_cast<int>(v) + number;
    trial_spec spec =
        spec_of(plan, shapes[static_cast<std::size_t>(step) % shapes.size()], variants()[v], step);
    if (spec.over != mask_over::nothing || spec.accumulator != rig::none) continue;
    spec.creates_result = true;
    spec.stored = k_of(spec.features, step);
    trial<S, TA, TB, TC, TM> t(spec);
    check_trial(S::name, spec, [&] { return t.run_under_cbsr(step % 2 ? "" : "maxk_backward"); });
  }
}

inline rig::matrix<double> random_graph(int n, double density, random_bits& random) {
  const oracle::sparse p = random_pattern(n, n, density, random);
  std::vector<double> weights(p.inner.size());
  for (double& w : weights) w = 2 * random.unit() - 1;
  return rig::matrix<double>::from_csr(n, n, std::span<const long>(p.offsets),
                                       std::span<const int>(p.inner),
                                       std::span<const double>(weights));
}

inline rig::dense<double> random_dense(int rows, int columns, random_bits& random) {
  rig::dense<double> x(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) x(i, j) = 2 * random.unit() - 1;
  return x;
}

/// Checks the gradient of Σ W ∘ product(X) by X against central differences.
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
  const double step = 1e-7;  // less than half the least difference between two numbers of a row
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

/// Random numbers; two numbers of the same row differ by at least 1e-3.
inline rig::dense<double> distinct(int rows, int columns, random_bits& random) {
  rig::dense<double> x(rows, columns);
  for (int i = 0; i < rows; ++i) {
    std::vector<int> order = every_column(columns);
    for (int j = columns - 1; j > 0; --j) std::swap(order[j], order[random.below(j + 1)]);
    for (int j = 0; j < columns; ++j) x(i, j) = 0.01 * (order[j] - columns / 2) + 1e-3;
  }
  return x;
}

inline void check_gradients(rig::place where) {
  random_bits random(test_seed());
  using sum = rig::plus_times<double>;
  const auto back = [](rig::dense<double> d) { return placed(std::move(d), rig::cpu()); };
  for (const auto& [n, columns, k] : {std::tuple{12, 16, 5}, {9, 7, 1}, {5, 300, 40}, {8, 6, 6}}) {
    const rig::matrix<double> on_host = random_graph(n, 0.4, random), a = on_host.to(where);
    const rig::dense<double> x = distinct(n, columns, random), w = random_dense(n, columns, random);
    const rig::dense<double> dc = placed(w, where);
    const rig::cbsr<double> y = rig::maxk(placed(x, where), k);
    const rig::descriptor transposed{.transpose_a = true}, named{.kernel = "maxk", .k = k};

    const auto under = rig::mxm(a, dc, sum{}, rig::structure(y), transposed);
    check_gradient(x, w, back(rig::to_dense(under)), [&](const auto& at) {
      return back(rig::mxm(a, placed(at, where), sum{}, named));
    });
    // The product under the pattern must equal maxk_gradient of the whole product.
    const auto gathered = rig::maxk_gradient(rig::mxm(a, dc, sum{}, transposed), y).to(rig::cpu());
    const auto formed = under.to(rig::cpu());
    for (int p = 0; p < n * k; ++p)
      CHECK(formed.values()[p] == doctest::Approx(gathered.values()[p]).epsilon(1e-12));

    // A mean divides by the entries per row of A, not per row of its transpose.
    const rig::matrix<double> mean = rig::mean_normalise(on_host).to(where);
    const auto means = rig::mxm(mean, dc, sum{}, rig::structure(y), transposed);
    check_gradient(x, w, back(rig::to_dense(means)), [&](const auto& at) {
      return back(rig::mxm(a, rig::maxk(placed(at, where), k), rig::mean_times<double>{}));
    });
  }
}

/// A matrix of one row with columns 0 … n − 1 and every value 1.
inline rig::matrix<float> row_of_ones(int n) {
  const std::vector<int> offsets{0, n}, inner = every_column(n);
  return rig::matrix<float>::from_csr(1, n, std::span<const int>(offsets),
                                      std::span<const int>(inner), rig::input::checked, 1.0f);
}

/// An element of C without products holds the fill, or the former element of C.
inline void check_absent(rig::place where) {
  const auto x = rig::dense<float>::from(2, 3, std::vector<float>{3, -5, 1, 4, 2, -6});
  const auto b = rig::maxk(placed(x, where), 1);
  const auto a = row_of_ones(2).to(where);  // B = [3 . .; 4 . .]
  const auto product = [&](auto s, const rig::descriptor& desc = {}) {
    return placed(rig::mxm(a, b, s, desc), rig::cpu());
  };
  const auto max = product(rig::max_second<float>{});
  CHECK(max(0, 0) == 4);
  CHECK(max(0, 1) == -std::numeric_limits<float>::infinity());
  CHECK(product(rig::max_second<float>{}, {.fill = 0})(0, 2) == 0);
  CHECK(product(rig::plus_times<float>{}, {.fill = 9})(0, 0) == 7);
  CHECK(product(rig::plus_times<float>{}, {.fill = 9})(0, 1) == 9);
  CHECK(product(rig::mean_second<float>{})(0, 0) == 3.5f);
  // The fill has C's type; in the semiring's type it would round to the semiring's zero.
  const auto wide = [&](auto s, double fill) {
    return placed(rig::mxm<double>(a, b, s, {.fill = fill}), rig::cpu())(0, 1);
  };
  CHECK(wide(rig::plus_times<float>{}, 1e-60) == 1e-60);
  CHECK(wide(rig::max_second<float>{}, -1e300) == -1e300);
  auto c = placed(rig::dense<float>(1, 3, 2.0f), where);
  rig::mxm(c, rig::accumulator::times, a, b, rig::plus_times<float>{});
  const auto kept = placed(std::move(c), rig::cpu());
  CHECK(kept(0, 0) == 14);
  CHECK(kept(0, 1) == 2);
  // The former element of C stays: float would round 0.1, and −0 + 0 is +0.
  auto exact = placed(rig::dense<double>(1, 3, 0.1), where);
  rig::mxm(exact, rig::accumulator::plus, a, b, rig::plus_times<float>{});
  CHECK(placed(std::move(exact), rig::cpu())(0, 1) == 0.1);
  auto negative = placed(rig::dense<float>(1, 3, -0.0f), where);
  rig::mxm(negative, rig::accumulator::plus, a, b, rig::plus_times<float>{});
  CHECK(std::signbit(placed(std::move(negative), rig::cpu())(0, 2)));
  const auto arg = rig::mxm(a, b, rig::arg_max_second<float>{});
  const auto indices = placed(arg.indices, rig::cpu());
  CHECK(indices(0, 0) == 1);
  CHECK(indices(0, 1) == -1);
}

/// Checks which kernel serves, and that a refusal leaves C unchanged.
inline void check_dispatch(rig::place where) {
  using rig::errc;
  const auto a = row_of_ones(3).to(where);
  const auto at_place = [&](auto d) { return placed(std::move(d), where); };
  const auto x = at_place(rig::dense<float>(3, 4, 1.0f));
  const auto b = rig::maxk(x, 2);
  const rig::plus_times<float> sum;
  auto c = at_place(rig::dense<float>(1, 4, 42.0f));
  const auto on = [&](const char* kernel, int k = 0) {
    return rig::descriptor{.kernel = kernel, .k = k};
  };

  const auto forward = rig::explain(a, b, sum);
  CHECK(forward.chosen == "maxk");
  CHECK(forward.text().find("reads 2 of 4 columns") != std::string::npos);
  for (const rig::explained& line : forward.kernels)
    if (line.name == "maxk") CHECK(!line.approximate);
  const auto grown = rig::maxk(at_place(rig::dense<float>(1, 4)), 2);
  const auto backward = rig::explain(a, x, sum, rig::structure(grown));
  CHECK(backward.chosen == "maxk_backward");
  const auto dense = rig::explain(a, x, sum, on("maxk", 2));
  CHECK(dense.chosen == "maxk");
  for (const rig::explained& line : dense.kernels)
    if (line.name == "maxk") CHECK(line.approximate);
  const std::string exact = rig::explain(a, x, sum).chosen;
  if (where == rig::cpu()) CHECK(exact == "row");
  CHECK(!exact.starts_with("maxk"));
  CHECK(rig::explain(a, x, sum, {.k = 2}).chosen == exact);
  for (const char* name : {"maxk", "maxk_backward"}) {
    const preferred_kernel unfit(name);
    CHECK(rig::explain(a, x, sum, {.k = 2}).chosen == exact);
  }
  {
    const preferred_kernel row("row");
    CHECK(rig::explain(a, b, sum).chosen == "maxk");
  }

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
    rig::mxm(c, rig::none, a, rig::maxk(at_place(rig::dense<float>(4, 3)), 2), sum,
             {.transpose_b = true});
  });
  check_error(errc::cannot, {"min_plus", "samples_as"},
              [&] { rig::mxm(c, rig::none, a, x, rig::min_plus<float>{}, on("maxk", 2)); });
  check_error(errc::cannot, {"MaxK", "float, double, half or bfloat16"}, [&] {
    rig::mxm(c, rig::none, a, at_place(rig::dense<int>(3, 4)), sum, on("maxk", 2));
  });
  const auto codes = rig::quantized::from(rig::dense<float>(3, 4, 1.0f)).to(where);
  check_error(errc::cannot, {"MaxK"},
              [&] { rig::mxm(c, rig::none, a, codes, sum, on("maxk", 2)); });
  check_error(errc::cannot, {"codes"}, [&] { rig::mxm(a, codes, sum, rig::structure(grown)); });
  check_error(errc::shape, {"3x4", "1x4"}, [&] { rig::mxm(a, x, sum, rig::structure(b)); });
  check_error(errc::shape, {"1x4"}, [&] { rig::mxm(a, grown, sum); });
  check_error(errc::cannot, {"maxk"}, [&] { rig::sampling_report(a, on("maxk", 2)); });
  const auto kept = placed(std::move(c), rig::cpu());
  for (int j = 0; j < 4; ++j) CHECK(kept(0, j) == 42);
}

/// C may be the B that MaxK selects from.
inline void check_alias(rig::place where) {
  random_bits random(test_seed());
  const auto a = random_graph(20, 0.2, random).to(where);
  auto b = placed(random_dense(20, 9, random), where);
  const auto want = placed(rig::mxm(a, rig::maxk(b, 4), rig::plus_times<double>{}), rig::cpu());
  rig::mxm(b, rig::none, a, b, rig::plus_times<double>{}, {.kernel = "maxk", .k = 4});
  const auto made = placed(std::move(b), rig::cpu());
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 9; ++j) CHECK(made(i, j) == want(i, j));
}
