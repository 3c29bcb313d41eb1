// hybrid on a GPU: windows of all kinds on Tensor cores, against the oracle; the bound of TF32;
// infinities; the derived structure.

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu_cases.hpp"
#include "product.hpp"
#include "provoked.hpp"
#include "rig/generate.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"
#include "table.hpp"
#include "tuned.hpp"

RIG_SEMIRING(
    sum_of_products_doubled, using left = double; using right = float; using accum = float;
    static constexpr bool linear = true;
    static constexpr float zero() { return 0; } static constexpr float add(float x, float y) {
      return x + y;
    } static constexpr float multiply(double a, float b) { return static_cast<float>(2 * a) * b; });

namespace {

using rig::half, rig::bfloat16;
constexpr rig::plus_times<float> plus_times;
constexpr rig::plus_second<float> plus_second;

/// A table that sends each window with entries to Tensor cores.
tuned every_window() {
  return tuned({"segments,,split_length=0", "windows,,least_entries=0",
                "hybrid,,bias=1000000 per_column=0 per_density=0"});
}

/// Windows without entries, with one column, with many; the last one has three rows.
shape windows_shape() {
  random_bits random(test_seed() + 4);
  std::vector<int> lengths(16 * 9 + 3, 0);
  for (std::size_t i = 16; i < lengths.size(); ++i)
    lengths[i] = i < 32 ? static_cast<int>(i == 20) : i < 64 ? 40 : random.below(60);
  return {"windows", pattern_of_lengths(lengths, 70, random)};
}

/// Runs `hybrid` over every variant.
template <class S, class TA, class TB, class TC>
void sweep_hybrid(const shape& rows, draw values) {
  int step = 0;
  for (const variant& v : variants()) {
    trial_spec spec;
    spec.name = v.name;
    spec.of = &rows;
    spec.features = std::vector{64, 33, 8, 1, 130, 96, 31}[static_cast<std::size_t>(step++) % 7];
    spec.seed = test_seed() + static_cast<unsigned long>(step);
    spec.values = values;
    spec.where = gpu;
    spec.bound = 4;  // docs/reference/mxm.md
    v.apply(spec);
    normalise<S>(spec);
    trial<S, TA, TB, TC> t(spec);
    CAPTURE(S::name);
    CAPTURE(v.name);
    CAPTURE(spec.features);
    CHECK(t.run("hybrid") == "");
  }
}

TEST_CASE("every window on Tensor cores, every variant of the call") {
  const tuned with = every_window();
  const shape lengths = row_lengths_shape(), rows = windows_shape();
  for (const shape* of : {&lengths, &rows}) {
    CAPTURE(of->name);
    for (const draw values : {draw::quarters, draw::reals, draw::extremes}) {
      CAPTURE(static_cast<int>(values));
      sweep_hybrid<rig::plus_times<float>, float, half, float>(*of, values);
      sweep_hybrid<rig::plus_times<float>, float, bfloat16, bfloat16>(*of, values);
      sweep_hybrid<rig::plus_second<float>, float, half, half>(*of, values);
      sweep_hybrid<rig::mean_second<float>, float, bfloat16, float>(*of, values);
      sweep_hybrid<rig::mean_times<float>, float, half, float>(*of, values);
    }
    sweep_hybrid<rig::plus_times<float>, double, half, double>(*of, draw::reals);
    sweep_hybrid<rig::plus_times<float>, bool, half, float>(*of, draw::reals);
  }
}

TEST_CASE("8-bit codes on Tensor cores, where A has one value") {
  const tuned with = every_window();
  const shape lengths = row_lengths_shape(), rows = windows_shape();
  for (const shape* of : {&lengths, &rows})
    for (const rig::ranges over : {rig::ranges::matrix, rig::ranges::column})
      for (const int features : {64, 33, 8, 1, 130}) {
        trial_spec spec;
        spec.of = of;
        spec.features = features;
        spec.quantized = over;
        spec.iso = true;
        spec.values = draw::reals;
        spec.where = gpu;
        spec.bound = 4;  // docs/reference/mxm.md
        CAPTURE(of->name);
        CAPTURE(features);
        CHECK(trial<rig::plus_times<float>, float, float, float>(spec).run("hybrid") == "");
        CHECK(trial<rig::mean_second<float>, float, float, rig::half>(spec).run("hybrid") == "");
      }
}

TEST_CASE("sums of codes are exact") {
  const tuned with = every_window();
  const auto a = banded(3000).to(gpu);
  rig::dense<float> x(3000, 36);
  random_bits random(test_seed());
  for (float& element : std::span(x.data(), 3000 * 36))
    element = static_cast<float>(random.below(256));
  x(0, 0) = 0;
  x(0, 1) = 255;
  const auto codes = rig::quantized::from(x).to(gpu);
  const auto c = rig::mxm(a, codes, plus_second, {.kernel = "hybrid"}).to(rig::cpu());
  CHECK(distance(c, rig::mxm(banded(3000), x, plus_second)) == 0);
  const auto weighted = rig::generate::random_values(banded(3000)).to(gpu);
  check_error(rig::errc::cannot, {"hybrid", "8-bit codes", "half"},
              [&] { rig::mxm(weighted, codes, plus_times, {.kernel = "hybrid"}); });
}

TEST_CASE("every shape of the battery on Tensor cores") {
  const tuned with = every_window();
  for (const shape& of : battery())
    for (const int features : {0, 1, 4, 32, 33, 64, 100, 257}) {
      trial_spec spec;
      spec.of = &of;
      spec.features = features;
      spec.values = draw::reals;
      spec.where = gpu;
      spec.bound = 4;  // docs/reference/mxm.md
      CAPTURE(of.name);
      CAPTURE(features);
      for (const bool transpose_a : {false, true}) {
        spec.transpose_a = transpose_a;
        trial<rig::plus_times<float>, float, half, float> t(spec);
        CHECK(t.run("hybrid") == "");
      }
    }
}

TEST_CASE("long windows, and columns far apart") {
  const tuned with = every_window();
  random_bits random(test_seed() + 5);
  std::vector<int> lengths(16 * 6 + 3, 0);
  for (std::size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = i < 16 ? 32 : i < 32 ? 32 + (i == 20) : random.below(i < 64 ? 3000 : 90);
  const shape rows = {"long windows", pattern_of_lengths(lengths, 200'003, random)};
  for (const int features : {64, 5}) {
    trial_spec spec;
    spec.of = &rows;
    spec.features = features;
    spec.values = draw::reals;
    spec.where = gpu;
    spec.bound = 4;  // docs/reference/mxm.md
    CAPTURE(features);
    CHECK(trial<rig::plus_times<float>, float, half, float>(spec).run("hybrid") == "");
    CHECK(trial<rig::mean_second<float>, float, bfloat16, float>(spec).run("hybrid") == "");
  }
}

TEST_CASE("a linear semiring of the caller") {
  const tuned with = every_window();
  const auto a = banded(200).to(gpu);
  const auto b = rig::dense<half>(200, 40, half(0.75f)).to(gpu);
  rig::matrix<double> twice = rig::matrix<double>(banded(200).shared_structure(), 0.5);
  const auto c = rig::mxm(twice.to(gpu), b, sum_of_products_doubled{}, {.kernel = "hybrid"});
  const auto once = rig::mxm(a, b, plus_second, {.kernel = "row"});
  CHECK(distance(c.to(rig::cpu()), once.to(rig::cpu())) == 0);
}

/// A graph with dense windows, weighted, on the host.
rig::matrix<float> dense_windows() {
  return rig::generate::random_values(rig::generate::banded(1003, 24));
}

rig::dense<float> reals(int rows, int columns) {
  random_bits random(test_seed());
  rig::dense<float> out(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      out(i, j) = static_cast<float>(std::ldexp(random.unit() * 2 - 1, random.below(9) - 4));
  return out;
}

/// The greatest error of a row's sums over Σ|terms|, in units of 2^-24.
double worst_error(const rig::matrix<float>& a, const rig::dense<float>& b,
                   const rig::dense<float>& c, bool weighted) {
  double worst = 0;
  const rig::pattern& of = a.structure();
  for (int i = 0; i < a.rows(); ++i)
    for (int j = 0; j < b.columns(); ++j) {
      double sum = 0, scale = 0;
      for (auto p = of.offset(i); p < of.offset(i + 1); ++p) {
        const double term =
            (weighted ? a.values()[p] : 1.0) * static_cast<double>(b(of.column_indices()[p], j));
        sum += term;
        scale += std::fabs(term);
      }
      if (scale > 0) worst = std::max(worst, std::fabs(c(i, j) - sum) / scale);
    }
  return worst * 0x1p24;
}

TEST_CASE("floats of B keep the bound of TF32, and are rounded only by consent") {
  const rig::matrix<float> a = dense_windows();
  const auto there = a.to(gpu);
  for (const int features : {64, 33, 128}) {
    CAPTURE(features);
    const rig::dense<float> b = reals(1003, features);
    const auto x = b.to(gpu);
    check_error(rig::errc::cannot, {"hybrid", "precision::tf32"},
                [&] { rig::mxm(there, x, plus_times, {.kernel = "hybrid"}); });
    const rig::descriptor desc = {.kernel = "hybrid", .precision = rig::precision::tf32};
    const double product =
                     worst_error(a, b, rig::mxm(there, x, plus_times, desc).to(rig::cpu()), true),
                 sum =
                     worst_error(a, b, rig::mxm(there, x, plus_second, desc).to(rig::cpu()), false);
    // docs/reference/mxm.md: 2^-10, or 2^-11 where A is not rounded, and the sum's own rounding.
    constexpr double of_sum = 4 * (48 + 1);
    CHECK(product <= 0x1p14 + of_sum);
    CHECK(sum <= 0x1p13 + of_sum);
    // Tensor cores did run.
    CHECK(product > 0x1p9);
    CHECK(sum > 0x1p9);
    const auto exact = rig::mxm(there, x, plus_times).to(rig::cpu());
    CHECK(worst_error(a, b, exact, true) <= 2 * 49);
  }
}

TEST_CASE("an infinity reaches the rows that have its entry, and no other") {
  const rig::matrix<float> a = dense_windows();
  rig::dense<float> b = reals(1003, 64);
  for (int j = 0; j < 64; ++j) {
    b(500, j) = std::numeric_limits<float>::infinity();
    if (j % 2 == 0) b(20, j) = std::numeric_limits<float>::quiet_NaN();
  }
  const rig::descriptor desc = {.kernel = "hybrid", .precision = rig::precision::tf32};
  for (const bool weighted : {false, true}) {
    const auto there = a.to(gpu), x = a.to(gpu);
    const auto features = b.to(gpu);
    const auto found = (weighted ? rig::mxm(there, features, plus_times, desc)
                                 : rig::mxm(there, features, plus_second, desc))
                           .to(rig::cpu());
    const auto row = (weighted ? rig::mxm(x, features, plus_times, {.kernel = "row"})
                               : rig::mxm(x, features, plus_second, {.kernel = "row"}))
                         .to(rig::cpu());
    int unlike = 0, not_finite = 0;
    for (int i = 0; i < 1003; ++i)
      for (int j = 0; j < 64; ++j) {
        const float is = found(i, j), should_be = row(i, j);
        not_finite += !std::isfinite(is);
        unlike +=
            std::isnan(is) != std::isnan(should_be) || std::isinf(is) != std::isinf(should_be);
      }
    CHECK(unlike == 0);
    CHECK(not_finite > 48 * 64);
    CHECK(not_finite < 49 * 64 * 2);
  }
}

TEST_CASE("windows are a derived structure: listed, built by prepare, dropped") {
  const auto a = dense_windows().to(gpu);
  const auto b = rig::dense<half>(1003, 64, half(1.0f)).to(gpu);
  const auto has_windows = [&] {
    for (const rig::derived_info& one : a.derived_structures())
      if (one.name == "windows") return one.bytes;
    return std::size_t{0};
  };
  const auto told = [&](rig::descriptor desc = {}) {
    for (const rig::explained& line : rig::explain(a, b, plus_times, desc).kernels)
      if (line.name == "hybrid") return line.says;
    return rig::answer();
  };
  CHECK(told().says == rig::verdict::slower);
  CHECK(told().reason.find("A.prepare({.kernel = \"hybrid\"})") != std::string::npos);
  a.prepare();
  CHECK(has_windows() == 0);
  a.prepare({.kernel = "hybrid"});
  CHECK(has_windows() > 0);
  CHECK(static_cast<double>(has_windows()) <=
        4.0 * static_cast<double>(a.nnz()) + 4.0 * (a.rows() / 16 + 2));
  CHECK(told().says == rig::verdict::can);
  CHECK(rig::explain(a, b, plus_times).chosen == "hybrid");
  a.drop_derived();
  CHECK(has_windows() == 0);
}

TEST_CASE("a graph without dense windows keeps its kernel and its bits") {
  const auto graph = rig::generate::random_values(rig::generate::from_text("uniform:20000:8"));
  const auto a = graph.to(gpu), prepared = graph.to(gpu);
  const auto b = rig::dense<half>(20000, 64, half(0.3f)).to(gpu);
  prepared.prepare({.kernel = "hybrid"});
  CHECK(rig::explain(prepared, b, plus_times).chosen == rig::explain(a, b, plus_times).chosen);
  const auto named = rig::mxm(prepared, b, plus_times, {.kernel = "hybrid"}).to(rig::cpu());
  CHECK(distance(named, rig::mxm(a, b, plus_times).to(rig::cpu())) == 0);
  std::size_t bytes = 0;
  for (const rig::derived_info& one : prepared.derived_structures())
    if (one.name == "windows") bytes = one.bytes;
  CHECK(bytes <= 4 * (20000 / 16 + 2));
}

TEST_CASE("dense and sparse windows in one matrix") {
  // Rows below 512 are a band; the others have entries far apart.
  std::vector<int> i, j;
  std::vector<float> v;
  for (int row = 0; row < 1000; ++row)
    for (int e = 0; e < (row < 512 ? 30 : 3); ++e) {
      i.push_back(row);
      j.push_back(row < 512 ? row / 16 * 16 + e : (row * 37 + e * 311) % 1000);
      v.push_back(static_cast<float>(row % 7 + e) / 8);
    }
  const auto a = rig::matrix<float>::from_tuples(1000, 1000, i, j, v).to(gpu);
  for (const int features : {64, 20, 7}) {
    const auto b = rig::dense<half>(1000, features, half(0.5f)).to(gpu);
    const auto by_row = rig::mxm(a, b, plus_times, {.kernel = "row"}).to(rig::cpu());
    const auto by_hybrid = rig::mxm(a, b, plus_times, {.kernel = "hybrid"}).to(rig::cpu());
    CHECK(distance(by_row, by_hybrid) < 1e-4);
  }
}

TEST_CASE("a hundred runs, the same bits; and replays of a captured call") {
  const auto a = dense_windows().to(gpu);
  const auto b = reals(1003, 128).to(gpu);
  const rig::descriptor desc = {.kernel = "hybrid", .precision = rig::precision::tf32};
  const auto once = rig::mxm(a, b, plus_times, desc).to(rig::cpu());
  for (int run = 0; run < 100; ++run)
    REQUIRE(distance(rig::mxm(a, b, plus_times, desc).to(rig::cpu()), once) == 0);
  check_replay(a, plus_times, rig::none, desc);
  check_replay(a, plus_times, rig::accumulator::plus, desc);
  const auto again = dense_windows().to(gpu);
  CHECK(distance(rig::mxm(again, b, plus_times, desc).to(rig::cpu()), once) == 0);
}

}  // namespace
