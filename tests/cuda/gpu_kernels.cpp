// The table on a GPU: every CUDA kernel over every builtin pair, against the oracle that the CPU
// tests use.

#include <algorithm>
#include <cmath>
#include <random>

#include "cuda/device/arguments.cuh"
#include "gpu.hpp"
#include "provoked.hpp"
#include "rig/generate.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"
#include "table.hpp"
#include "tuned.hpp"

namespace {

TEST_CASE("every kernel, builtin semiring, shape and variant") {
  const std::vector<shape> shapes = battery();
  tally met(gpu);
  int number = 0;
#define RIG_BUILTIN(semiring, type) sweep<rig::semiring<type>, type>(shapes, number++, met);
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
  // `hybrid` reads floats of B only where the descriptor lets it round them.
  sweep<rig::plus_times<float>, float, rig::half>(shapes, number++, met);
  met.conclude(static_cast<std::size_t>(number), shapes.size());
}

/// Runs one semiring over one shape, under every variant.
template <class S, class T>
void sweep_variants(const shape& rows, int features, tally& met) {
  for (std::size_t step = 0; step < variants().size(); ++step) {
    trial_spec spec;
    spec.name = variants()[step].name;
    spec.of = &rows;
    spec.features = features;
    spec.seed = test_seed() + step;
    spec.values = step % 3 == 0 ? draw::quarters : draw::reals;
    spec.where = gpu;
    spec.reproducible = false;  // because `vendor` refuses reproducible products
    variants()[step].apply(spec);
    normalise<S>(spec);
    trial<S, T, T, T> here(spec);
    met.meet(here, S::name, spec);
  }
}

TEST_CASE("rows of all lengths, and feature widths of every launch configuration") {
  const shape lengths = row_lengths_shape(), longest = long_rows_shape();
  tally met(gpu);
  for (const int features : {1, 2, 5, 8, 9, 31, 32, 33, 40, 41, 64, 100, 128, 257, 512}) {
    sweep_variants<rig::plus_times<float>, float>(lengths, features, met);
    sweep_variants<rig::max_second<float>, float>(lengths, features, met);
  }
  sweep_variants<rig::arg_max_second<float>, float>(lengths, 64, met);
  sweep_variants<rig::mean_second<float>, float>(lengths, 100, met);
  sweep_variants<rig::plus_times<double>, double>(lengths, 33, met);
  sweep_variants<rig::lor_land<bool>, bool>(lengths, 64, met);
  sweep_variants<rig::plus_times<float>, float>(longest, 1, met);
  sweep_variants<rig::mean_second<double>, double>(lengths, 1, met);
  sweep_variants<rig::plus_times<float>, float>(longest, 3, met);
  sweep_variants<rig::arg_min_second<float>, float>(longest, 2, met);
}

template <class S, class TA, class TB, class TC>
void sweep_types(const shape& rows, const char* name, tally& met) {
  int step = 0;
  for (const char* which :
       {"plain", "transpose_a", "complement values", "plus", "strided", "iso"}) {
    for (const variant& v : variants()) {
      if (v.name != std::string(which)) continue;
      trial_spec spec;
      spec.name = which;
      spec.of = &rows;
      spec.features = std::vector{64, 33, 8}[static_cast<std::size_t>(step++) % 3];
      spec.seed = test_seed();
      spec.where = gpu;
      v.apply(spec);
      normalise<S>(spec);
      trial<S, TA, TB, TC> here(spec);
      met.meet(here, name, spec);
    }
  }
}

TEST_CASE("pairs and types compiled at run time") {
  const shape rows = row_lengths_shape();
  tally met(gpu);
  using rig::half, rig::bfloat16, rig::int32, rig::int64;
  sweep_types<rig::min_plus<int32>, int32, int32, int32>(rows, "min_plus<int32>", met);
  sweep_types<rig::plus_times<int64>, int64, int64, int64>(rows, "plus_times<int64>", met);
  sweep_types<rig::max_second<double>, double, double, double>(rows, "max_second<double>", met);
  sweep_types<rig::plus_times<float>, float, half, float>(rows, "half features", met);
  sweep_types<rig::plus_times<float>, float, bfloat16, bfloat16>(rows, "bfloat16 features", met);
  sweep_types<rig::max_second<float>, float, half, half>(rows, "half through", met);
  sweep_types<rig::plus_times<float>, double, int32, double>(rows, "double, int32, double", met);
  sweep_types<rig::plus_times<float>, bool, bool, int64>(rows, "bool, bool, int64", met);
  // B is not read, so its type must not matter.
  sweep_types<rig::plus_first<float>, float, double, float>(rows, "plus_first, B double", met);
  sweep_types<rig::plus_pair<float>, float, half, float>(rows, "plus_pair, B half", met);
  sweep_types<rig::any_pair<bool>, bool, int64, bool>(rows, "any_pair, B int64", met);
}

TEST_CASE("a row of half a million entries among short rows") {
  const std::vector<int> lengths = {600000, 200, 130, 0, 300};
  std::vector<int> offsets = {0}, columns;
  for (const int length : lengths) {
    for (int k = 0; k < length; ++k) columns.push_back(k);
    offsets.push_back(static_cast<int>(columns.size()));
  }
  const auto a = rig::matrix<float>::from_csr(5, 600000, std::span<const int>(offsets),
                                              std::span<const int>(columns))
                     .to(gpu);
  for (const int features : {1, 33}) {
    const auto b = rig::dense<float>(600000, features, 1.0f).to(gpu);
    const auto c =
        rig::mxm(a, b, rig::plus_second<float>{}, {.fill = 0, .kernel = "split"}).to(rig::cpu());
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < features; ++j)
        CHECK(c(i, j) == static_cast<float>(lengths[static_cast<std::size_t>(i)]));
  }
}

/// Rows of 1, 2, 3 and 40 whole chunks of `spmv`. A chunk is a fixed number of rows and entries
/// together; the first row, of `lead` entries, shifts the row starts.
shape chunks_shape(int lead) {
  constexpr int chunk = rig::on_cuda::chunk_items;
  random_bits random(test_seed());
  return {"whole chunks", pattern_of_lengths({lead, chunk - 1, 2 * chunk - 1, 3 * chunk - 1, 0,
                                              40 * chunk - 1, chunk + 1, 0, 0, chunk, 1, 5},
                                             40 * chunk, random)};
}

/// Runs a kernel of one column, chosen by name, over some of the variants.
template <class S, class TA, class TB = TA, class TC = TA>
void sweep_column(const char* kernel, std::initializer_list<const char*> which, const shape& rows,
                  draw values) {
  for (const char* name : which)
    for (const variant& v : variants()) {
      if (v.name != std::string(name)) continue;
      trial_spec spec;
      spec.name = name;
      spec.of = &rows;
      spec.features = 1;
      spec.seed = test_seed();
      spec.values = values;
      spec.where = gpu;
      v.apply(spec);
      normalise<S>(spec);
      trial<S, TA, TB, TC> t(spec);
      CAPTURE(S::name);
      CAPTURE(name);
      CHECK(t.run(kernel) == "");
    }
}

template <class S, class T>
void sweep_chunks(const shape& rows, draw values) {
  sweep_column<S, T>("spmv", {"plain", "int64 offsets", "iso", "plus masked"}, rows, values);
}

TEST_CASE("rows that end at the ends of chunks, and just before and after") {
  for (const int lead : {0, 1, 1000, 2041, 2042, 2043, 2044}) {
    CAPTURE(lead);
    const shape rows = chunks_shape(lead);
    sweep_chunks<rig::plus_times<float>, float>(rows, draw::reals);
    sweep_chunks<rig::max_second<float>, float>(rows, draw::extremes);
    sweep_chunks<rig::mean_second<double>, double>(rows, draw::reals);
    sweep_chunks<rig::plus_times<rig::int64>, rig::int64>(rows, draw::reals);
    sweep_chunks<rig::lor_land<bool>, bool>(rows, draw::quarters);
  }
}

/// op(A) over three panels of columns of `spmv_panels`; rows take few vector loads, many, or none.
shape panels_shape() {
  constexpr int lengths[] = {0, 1, 63, 64, 65, 300, 5000};
  random_bits random(test_seed());
  std::vector<int> of;
  for (int i = 0; i < 400; ++i) of.push_back(i % 150 == 7 ? 40000 : lengths[i % 7]);
  return {"panels of columns", pattern_of_lengths(of, 150000, random)};
}

template <class S, class TA, class TB = TA, class TC = TA>
void sweep_panels(const shape& rows, draw values) {
  sweep_column<S, TA, TB, TC>(
      "spmv_panels",
      {"plain", "transpose_a", "strided", "strided transpose_b", "iso", "fill", "values",
       "dense complement values", "replace fill", "own", "plus masked", "own masked strided"},
      rows, values);
}

TEST_CASE("one column, one panel at a time") {
  using rig::half, rig::bfloat16, rig::int32;
  const shape rows = panels_shape();
  sweep_panels<rig::plus_times<float>, float>(rows, draw::reals);
  sweep_panels<rig::max_second<float>, float>(rows, draw::extremes);
  sweep_panels<rig::min_plus<float>, float>(rows, draw::reals);
  sweep_panels<rig::mean_times<float>, float>(rows, draw::reals);
  sweep_panels<rig::plus_first<float>, float>(rows, draw::reals);
  sweep_panels<rig::plus_pair<float>, float>(rows, draw::quarters);
  sweep_panels<rig::plus_times<int32>, int32>(rows, draw::reals);
  sweep_panels<rig::min_plus<int32>, int32>(rows, draw::quarters);
  sweep_panels<rig::lor_land<bool>, bool>(rows, draw::quarters);
  sweep_panels<rig::plus_times<float>, float, half>(rows, draw::reals);
  sweep_panels<rig::max_second<float>, float, bfloat16, bfloat16>(rows, draw::reals);
  sweep_panels<rig::plus_times<float>, double, int32, double>(rows, draw::quarters);
}

TEST_CASE("refusals of spmv_panels") {
  const shape rows = row_lengths_shape();
  trial_spec spec;
  spec.of = &rows;
  spec.where = gpu;
  const auto refused = [](auto& t, const char* why) {
    try {
      t.run("spmv_panels");
    } catch (const rig::error& e) {
      return e.code() == rig::errc::cannot && std::string(e.what()).find(why) != std::string::npos;
    }
    return false;
  };
  trial<rig::plus_times<double>, double, double, double> of_doubles(spec);
  CHECK(refused(of_doubles, "four bytes"));
  trial<rig::arg_max_second<float>, float, float, float> positions(spec);
  CHECK(refused(positions, "their rows"));
  spec.features = 2;
  trial<rig::plus_times<float>, float, float, float> two_columns(spec);
  CHECK(refused(two_columns, "more than one column"));
  spec.features = 1;
  spec.offsets_64 = true;
  trial<rig::plus_times<float>, float, float, float> wide(spec);
  CHECK(refused(wide, "32 bits"));
}

TEST_CASE("vendor, in the types it serves") {
  const shape lengths = row_lengths_shape(), longest = long_rows_shape();
  for (const shape* of : {&lengths, &longest})
    for (const int features : {1, 32, 64, 65, 128, 257}) {
      trial_spec spec;
      spec.of = of;
      spec.seed = test_seed();
      spec.values = draw::reals;
      spec.where = gpu;
      spec.features = features;
      spec.reproducible = false;
      CAPTURE(of->name);
      CAPTURE(features);
      trial<rig::plus_times<float>, float, float, float> floats(spec);
      CHECK(floats.run("vendor") == "");
      trial<rig::plus_times<double>, double, double, double> doubles(spec);
      CHECK(doubles.run("vendor") == "");
      trial<rig::plus_times<float>, rig::half, rig::half, rig::half> halves(spec);
      CHECK(halves.run("vendor") == "");
      trial<rig::plus_times<float>, rig::bfloat16, rig::bfloat16, rig::bfloat16> brains(spec);
      CHECK(brains.run("vendor") == "");
    }
}

/// Features whose columns differ, so that a swap of columns shows.
rig::dense<float> features_of(rig::index rows, rig::index columns) {
  rig::dense<float> x(rows, columns);
  for (rig::index i = 0; i < rows; ++i)
    for (rig::index j = 0; j < columns; ++j) x(i, j) = static_cast<float>((7 * i + 3 * j) % 19 - 9);
  return x;
}

TEST_CASE("explain lists vendor, and its verdict matches the call") {
  const auto a = rig::generate::random_values(rig::generate::from_text("uniform:1000:8")).to(gpu);
  const auto b = features_of(1000, 32).to(gpu);
  constexpr rig::plus_times<float> plus_times;
  for (const bool reproducible : {true, false}) {
    int lines = 0;
    const auto told = rig::explain(a, b, plus_times, {.reproducible = reproducible});
    for (const rig::explained& line : told.kernels)
      if (line.where == gpu.where && line.name == "vendor") {
        CHECK(line.says.says == (reproducible ? rig::verdict::cannot : rig::verdict::slower));
        ++lines;
      }
    CHECK(lines == 1);
  }
  CHECK(rig::explain(a, b, plus_times, {.kernel = "vendor", .reproducible = false}).chosen ==
        "vendor");
  check_error(rig::errc::cannot, {"vendor", "reproducible = false"},
              [&] { rig::mxm(a, b, plus_times, {.kernel = "vendor"}); });
}

TEST_CASE("vendor gives the result of row, by both algorithms of cuSPARSE") {
  for (const char* text : {"uniform:1000:8", "uniform:131072:32"}) {
    CAPTURE(text);
    const auto graph = rig::generate::random_values(rig::generate::from_text(text));
    const auto a = graph.to(gpu);
    const auto b = features_of(graph.columns(), 32).to(gpu);
    constexpr rig::plus_times<float> plus_times;
    const auto by_vendor =
        rig::mxm(a, b, plus_times, {.kernel = "vendor", .reproducible = false}).to(rig::cpu());
    const auto by_row = rig::mxm(a, b, plus_times, {.kernel = "row"}).to(rig::cpu());
    float worst = 0;
    for (rig::index i = 0; i < graph.rows(); ++i)
      for (rig::index j = 0; j < 32; ++j)
        worst = std::max(worst, std::abs(by_vendor(i, j) - by_row(i, j)));
    CHECK(worst < 1e-4f);
  }
}

TEST_CASE("a mean has the same bits as a division") {
  constexpr rig::index n = 4096, features = 64;  // row i has i + 1 entries
  std::vector<rig::int64> offsets{0};
  std::vector<rig::index> entries;
  for (rig::index i = 0; i < n; ++i) {
    for (rig::index k = 0; k <= i; ++k) entries.push_back(k);
    offsets.push_back(static_cast<rig::int64>(entries.size()));
  }
  std::mt19937 random(static_cast<unsigned>(test_seed()));
  std::normal_distribution<float> real;
  rig::dense<float> x(n, features);
  for (rig::index k = 0; k < n; ++k)
    for (rig::index j = 0; j < features; ++j) x(k, j) = std::ldexp(real(random), k % 40 - 20);
  const auto a = rig::matrix<float>::from_csr(n, n, std::span<const rig::int64>(offsets),
                                              std::span<const rig::index>(entries))
                     .to(gpu);
  const auto b = x.to(gpu);
  const auto sums = rig::mxm(a, b, rig::plus_second<float>{}, {.kernel = "row"}).to(rig::cpu());
  const auto means = rig::mxm(a, b, rig::mean_second<float>{}, {.kernel = "row"}).to(rig::cpu());
  int unlike = 0;
  for (rig::index i = 0; i < n; ++i)
    for (rig::index j = 0; j < features; ++j)
      if (means(i, j) != sums(i, j) / static_cast<float>(i + 1)) ++unlike;
  CHECK(unlike == 0);
}

TEST_CASE("a hundred runs, the same bits") {
  const shape rows = long_rows_shape(), lengths = row_lengths_shape();
  for (const shape* of : {&rows, &lengths}) {
    trial_spec spec;
    spec.of = of;
    spec.seed = test_seed();
    spec.values = draw::reals;
    spec.where = gpu;
    const auto check_bits = [&](const char* kernel, int features) {
      spec.features = features;
      trial<rig::plus_times<float>, float, float, float> t(spec);
      std::vector<unsigned char> once, again;
      CHECK(t.run(kernel, 0, &once) == "");
      for (int run = 0; run < 100; ++run) {
        again.clear();
        t.run(kernel, 0, &again);
        REQUIRE(again == once);
      }
    };
    // Scalar loads, vector loads in one tile and in several, and one column.
    for (const auto& [kernel, features] : {std::pair{"row", 33},
                                           {"split", 33},
                                           {"split", 32},
                                           {"split", 64},
                                           {"split", 256},
                                           {"row", 128},
                                           {"spmv", 1},
                                           {"spmv_panels", 1}})
      check_bits(kernel, features);
    const tuned by = tuned::tiles(lanes(8, 16, 4, 1));  // and a column more
    check_bits("split", 65);
  }
}

}  // namespace
