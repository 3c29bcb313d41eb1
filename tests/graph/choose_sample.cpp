// `rig::choose_sample`: whether whole products keep what rows of them promised.

#include "rig/choose_sample.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "provoked.hpp"
#include "rig/generate.hpp"
#include "rig/graph.hpp"
#include "rig/semirings.hpp"
#include "seed.hpp"

namespace {

using rig::index;
using dense = rig::dense<float>;
using matrix = rig::matrix<float>;

/// Features: positive ones, ones that cancel, or a few that are large.
dense features(index rows, int kind, std::mt19937_64& random) {
  dense x(rows, 12);
  for (index i = 0; i < rows; ++i)
    for (index j = 0; j < 12; ++j) {
      const float u = static_cast<float>(random() >> 40) * 0x1p-24f;
      x(i, j) = kind == 0 ? 0.5f + u : kind == 1 ? 2 * u - 1 : u * (j == 3 ? 50.0f : 1.0f);
    }
  return x;
}

double error(const dense& c, const dense& exact) {
  double off = 0, all = 0;
  for (std::size_t k = 0; k < exact.span().size(); ++k) {
    off += std::pow(double(c.span()[k]) - exact.span()[k], 2);
    all += std::pow(double(exact.span()[k]), 2);
  }
  return all > 0 ? std::sqrt(off / all) : 0;
}

struct record {
  int cases = 0, sampled = 0, broken = 0, too_wide = 0;
};

/// One case: the error of the whole product against the tolerance, and whether half the width would
/// have kept it too.
template <class S>
void judge(const matrix& a, const dense& x, double tolerance, index rows, record& of) {
  const auto found = rig::choose_sample(
      a, x, S{}, {.tolerance = tolerance, .rows = rows, .seed = test_seed() + 7});
  ++of.cases;
  CHECK(found.bound <= tolerance);
  CHECK(found.error <= found.bound);
  if (found.kernel.empty()) {
    CHECK(found.cost == 1);
    return;
  }
  CHECK(found.cost < 1);
  ++of.sampled;
  const auto exact = rig::mxm(a, x, S{}, {.fill = 0});
  const auto off = [&](index width) {
    rig::descriptor desc = found.on({.fill = 0});
    desc.width = width;
    return error(rig::mxm(a, x, S{}, desc), exact);
  };
  const double whole = off(found.width);
  of.broken += whole > tolerance;
  of.too_wide += found.width > 8 && off(found.width / 2) <= tolerance;
  if (rows >= a.rows()) CHECK(whole == doctest::Approx(found.error).epsilon(1e-4));
}

record judged(index rows) {
  record out;
  std::mt19937_64 random(test_seed());
  for (const char* text : {"rmat:11:16", "rmat:12:24", "uniform:3000:60", "cliques:3000:80"}) {
    const matrix graph = rig::generate::from_text(text);
    const matrix normalised = rig::gcn_normalise(graph);
    for (const int kind : {0, 1, 2}) {
      const dense x = features(graph.columns(), kind, random);
      for (const double tolerance : {0.01, 0.03, 0.1, 0.3, 0.6}) {
        judge<rig::plus_times<float>>(normalised, x, tolerance, rows, out);
        judge<rig::mean_second<float>>(graph, x, tolerance, rows, out);
        judge<rig::max_second<float>>(graph, x, tolerance, rows, out);
        judge<rig::plus_times<float>>(graph, x, tolerance, rows, out);
      }
    }
  }
  return out;
}

}  // namespace

TEST_CASE("the promise is kept in 95 of 100 cases, and widths are not twice what it takes") {
  const record found = judged(300);
  INFO(found.cases, " cases, ", found.sampled, " sampled, ", found.broken, " broken, ",
       found.too_wide, " too wide");
  CHECK(found.cases >= 200);
  CHECK(found.sampled * 3 >= found.cases);
  CHECK(found.broken * 20 <= found.sampled);  // an exact product breaks none
  CHECK(found.too_wide * 5 <= found.sampled);
}

TEST_CASE("of a matrix whose rows are all drawn, the error is that of the product") {
  CHECK(judged(5000).broken == 0);
}

TEST_CASE("exact: no tolerance, semirings without samples, short rows") {
  std::mt19937_64 random(1);
  const matrix graph = rig::generate::from_text("rmat:9:16"),
               grid = rig::generate::from_text("grid:20:20");
  const dense x = features(512, 1, random), on_grid = features(400, 1, random);
  CHECK(rig::choose_sample(graph, x, rig::mean_second<float>{}, {.tolerance = 0}).kernel.empty());
  CHECK(rig::choose_sample(graph, x, rig::min_plus<float>{}, {.tolerance = 1}).kernel.empty());
  CHECK(rig::choose_sample(grid, on_grid, rig::mean_second<float>{}, {.tolerance = 1})
            .kernel.empty());
  CHECK(rig::choose_sample(matrix(3, 400), on_grid, rig::mean_second<float>{}, {}).cost == 1);
}

TEST_CASE("narrow features") {
  std::mt19937_64 random(2);
  const matrix graph = rig::generate::from_text("uniform:3000:60");
  const dense x = features(3000, 0, random);
  const rig::mean_second<float> mean;
  const auto found = rig::choose_sample(graph, x, mean, {.tolerance = 0.005, .narrows = true});
  CHECK(found.features == rig::feature_type::quantized);
  CHECK(found.kernel.empty());
  CHECK(found.cost < 0.5);
  const auto codes = rig::quantized::from(x, rig::ranges::column);
  CHECK(error(rig::mxm(graph, codes, mean, found.on({})), rig::mxm(graph, x, mean)) <= 0.005);
  CHECK(rig::choose_sample(graph, x, mean, {.tolerance = 1e-4, .narrows = true}).features ==
        rig::feature_type::half);
}

TEST_CASE("a transposed A, and refusals") {
  std::mt19937_64 random(3);
  const matrix graph = rig::generate::from_text("rmat:9:16");
  const dense x = features(512, 0, random);
  const rig::mean_second<float> mean;
  const auto turned = rig::choose_sample(graph, x, mean, {.tolerance = 0.3}, {.transpose_a = true});
  const auto same = rig::choose_sample(rig::transpose(graph), x, mean, {.tolerance = 0.3});
  CHECK(turned.kernel == same.kernel);
  CHECK(turned.width == same.width);
  CHECK(turned.error == same.error);
  check_error(rig::errc::range, {"choose_sample", "tolerance", "-1"},
              [&] { rig::choose_sample(graph, x, mean, {.tolerance = -1}); });
  check_error(rig::errc::range, {"choose_sample", "rows", "1"},
              [&] { rig::choose_sample(graph, x, mean, {.rows = 1}); });
  dense broken = x;
  broken(0, 0) = std::nanf("");
  CHECK(rig::choose_sample(graph, broken, mean, {.tolerance = 1, .narrows = true}).cost == 1);
  check_error(rig::errc::shape, {"choose_sample: op(A) is 512x512, X has 3 rows"},
              [&] { rig::choose_sample(graph, dense(3, 3, 1.0f), mean, {}); });
}
