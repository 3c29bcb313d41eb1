// The sampled kernels on a GPU: the CPU's cases, long samples in segments, and the CPU's results.

#include "gpu_cases.hpp"
#include "preferred_kernel.hpp"
#include "rig/generate.hpp"
#include "rig/semirings.hpp"
#include "rig/user_semiring.hpp"
#include "sampling_cases.hpp"

RIG_SEMIRING(
    sum_of_products_doubled, using left = float; using right = float; using accum = float;
    static constexpr rig::reduction samples_as = rig::reduction::sum;
    static constexpr float zero() { return 0; } static constexpr float add(float x, float y) {
      return x + y;
    } static constexpr float multiply(float a, float b) { return 2 * a * b; });

namespace {

using rig::int64;

TEST_CASE("every sampled kernel, semiring, shape, width and variant") {
  const std::vector<shape> shapes = battery();
  int number = 0, served = 0;
#define RIG_BUILTIN(semiring, type) \
  served += sweep_sampled<rig::semiring<type>, type>(shapes, number++, gpu);
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
  CHECK(served == 15);
}

/// Row lengths around every multiple of a segment of 128 entries and around the widest sample, few
/// enough for the oracle.
shape split_rows_shape() {
  random_bits random(test_seed() + 5);
  return {
      "split rows",
      pattern_of_lengths({0, 1, 127, 128, 129, 256, 257, 1025, 300, 2305, 4097, 5}, 4200, random)};
}

const char* const long_variants[] = {
    "plain",   "transpose_a", "values",          "complement values",
    "plus",    "strided",     "iso transposed",  "int64 offsets",
    "replace", "transpose_b", "dense structure", "everything"};
constexpr int long_features[] = {1, 64, 3, 33, 100, 31, 1, 32, 128, 3, 257};

/// Runs each width with each kernel, under `variants_each` of the variants above.
template <class S, class T>
void sweep_split_rows(const shape& rows, std::span<const int> of_widths, int variants_each,
                      int number) {
  if (rig::samples_as<S> == rig::reduction::none) return;
  int step = number;
  for (const int width : of_widths)
    for (const auto& [name, how] : sampled_kernels)
      for (int nth = 0; nth < variants_each; ++nth, ++step) {
        const std::string which =
            long_variants[static_cast<std::size_t>(step) % std::size(long_variants)];
        trial_spec spec;
        spec.name = which;
        spec.of = &rows;
        spec.features = long_features[static_cast<std::size_t>(step) % std::size(long_features)];
        spec.seed = test_seed() + static_cast<unsigned long>(step);
        spec.values = step % 3 == 0 ? draw::reals : draw::quarters;
        spec.where = gpu;
        spec.rescale = rig::is_rescaling<S> && step % 5 == 0;
        for (const variant& v : variants())
          if (v.name == which) v.apply(spec);
        normalise<S>(spec);
        sample_with(spec, how, width);
        trial<S, T, T, T> here(spec);
        std::string wrong;
        try {
          wrong = here.run(name);
        } catch (const rig::error& e) {
          wrong = e.what();
        }
        if (!wrong.empty())
          FAIL_CHECK(std::string(name), ", width ", width, ", ", std::string(S::name),
                     ", F = ", spec.features, ", ", which, spec.rescale ? ", rescaled" : "",
                     ", seed ", spec.seed, ": ", wrong);
      }
}

TEST_CASE("rows longer than a segment, samples shorter and longer, every semiring") {
  constexpr int long_widths[] = {200, 600, 1100, 2304, 4096};
  const shape rows = split_rows_shape();
  int number = 0;
#define RIG_BUILTIN(semiring, type) \
  sweep_split_rows<rig::semiring<type>, type>(rows, long_widths, 1, 7 * number++);
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
}

TEST_CASE("widths around every segment end, every variant; ties across segments") {
  constexpr int edges[] = {127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 4095};
  const shape rows = split_rows_shape();
  sweep_split_rows<rig::plus_times<float>, float>(rows, edges, 4, 0);
  // Draws have few values, so most are tied, within segments and across them.
  sweep_split_rows<rig::arg_max_second<float>, float>(rows, edges, 2, 1);
  sweep_split_rows<rig::arg_min_second<float>, float>(rows, edges, 1, 2);
  sweep_split_rows<rig::mean_times<float>, float>(rows, edges, 1, 3);
}

TEST_CASE("stored in other types") {
  check_types<rig::plus_times<float>, rig::half, rig::bfloat16, double>(gpu);
  check_types<rig::plus_times<double>, bool, long, rig::half>(gpu);
  check_types<rig::plus_times<int>, int, int, int>(gpu);
  check_types<rig::mean_times<float>, int, rig::half, float>(gpu);
  check_types<rig::arg_min_second<int>, int, rig::bfloat16, int>(gpu);
  // Vector loads of eight, in segments.
  const shape rows = split_rows_shape();
  for (const auto& [name, how] : sampled_kernels)
    for (const int features : {64, 33}) {
      trial_spec spec;
      spec.of = &rows;
      spec.features = features;
      spec.seed = test_seed();
      spec.where = gpu;
      sample_with(spec, how, 600);
      CHECK(trial<rig::plus_times<float>, rig::half, rig::half, rig::half>(spec).run(name) == "");
      CHECK(trial<rig::max_second<float>, float, rig::bfloat16, float>(spec).run(name) == "");
    }
}

TEST_CASE(
    "a hundred runs have the same bits, and those of the exact kernel if nothing is left out") {
  const std::vector<int> hundred(100, 0), few(3, 0);
  check_same_bits<rig::plus_times<float>, float>(gpu, 100, hundred);
  check_same_bits<rig::plus_times<float>, float>(gpu, 1, hundred);
  check_same_bits<rig::mean_second<float>, float>(gpu, 33, few);
  check_same_bits<rig::arg_max_second<float>, float>(gpu, 64, few);
}

bool equal(const auto& x, const auto& y) {
  bool same = x.rows() == y.rows() && x.columns() == y.columns();
  for (int i = 0; same && i < x.rows(); ++i) same = std::ranges::equal(x.row(i), y.row(i));
  return same;
}

/// Checks that a sampled kernel that leaves nothing out gives the bits of the default kernel.
void check_whole(const rig::matrix<float>& a, const rig::dense<float>& b, const char* chosen,
                 const std::vector<int>& widths) {
  constexpr rig::plus_times<float> plus_times;
  CHECK(rig::explain(a, b, plus_times).chosen == chosen);
  const auto exact = rig::mxm(a, b, plus_times, {.kernel = chosen}).to(rig::cpu());
  for (const auto& [name, how] : sampled_kernels)
    for (const int width : widths)
      CHECK(equal(rig::mxm(a, b, plus_times, {.kernel = name, .width = width}).to(rig::cpu()),
                  exact));
}

TEST_CASE("one column, and rows taken whole: the bits of the default kernel") {
  // 3000 rows of 20 to 319 entries.
  std::vector<int> offsets = {0}, columns;
  for (int i = 0; i < 3000; ++i) {
    for (int e = 0; e < 20 + i * 37 % 300; ++e) columns.push_back(3 * e + i % 3);
    offsets.push_back(static_cast<int>(columns.size()));
  }
  const auto a = rig::matrix<float>::from_csr(3000, 3000, std::span<const int>(offsets),
                                              std::span<const int>(columns))
                     .to(gpu);
  check_whole(a, waves(3000, 1).to(gpu), "spmv", {319, 320, 4096});
  check_whole(rig::generate::from_text("uniform:60000:140").to(gpu), waves(60000, 1).to(gpu),
              "spmv_panels", {1000, 4096});
}

/// A matrix whose rows are split every 512 or 1024 entries, for which it needs millions of entries.
rig::matrix<int64> many_entries(int rows) {
  constexpr int lengths[] = {2048, 2100, 1024, 1025, 3000, 513, 4000, 1500};
  std::vector<int> offsets = {0}, columns;
  std::vector<int64> values;
  for (int i = 0; i < rows; ++i) {
    for (int e = 0; e < lengths[i % 8]; ++e) {
      columns.push_back(2 * e + i % 2);
      values.push_back((i * 7 + e * 13) % 101 - 50);
    }
    offsets.push_back(static_cast<int>(columns.size()));
  }
  return rig::matrix<int64>::from_csr(rows, 8001, std::span<const int>(offsets),
                                      std::span<const int>(columns),
                                      std::span<const int64>(values));
}

TEST_CASE("segments of 512 and 1024 entries: the CPU's integers") {
  constexpr rig::plus_times<int64> plus_times;
  for (const int rows : {3500, 6800}) {
    const auto a = many_entries(rows), there = a.to(gpu);
    REQUIRE(a.nnz() / (rows == 3500 ? 512 : 1024) >= 12000);
    for (const int features : {1, 5}) {
      rig::dense<int64> b(8001, features);
      for (int i = 0; i < 8001; ++i)
        for (int j = 0; j < features; ++j) b(i, j) = (i * 31 + j * 17) % 203 - 101;
      const auto b_there = b.to(gpu);
      for (const auto& [name, how] : sampled_kernels)
        for (const int width : {511, 512, 513, 1023, 1024, 1025, 2304}) {
          rig::descriptor desc{.kernel = name, .width = width};
          desc.rescale = width % 2 == 0;
          CAPTURE(name);
          CAPTURE(width);
          CAPTURE(rows);
          CAPTURE(features);
          CHECK(equal(rig::mxm(there, b_there, plus_times, desc).to(rig::cpu()),
                      rig::mxm(a, b, plus_times, desc)));
        }
    }
  }
}

/// Checks that both places give the same bits; the sums are exact.
template <class S, class T>
void check_as_on_cpu(int features) {
  const oracle::sparse p = split_rows_shape().pattern;
  std::vector<T> weights(p.inner.size());
  for (std::size_t e = 0; e < weights.size(); ++e)
    weights[e] = static_cast<T>(static_cast<int>(e * 29 % 33) - 16) / static_cast<T>(4);
  rig::dense<T> b(p.columns, features);
  for (int i = 0; i < b.rows(); ++i)
    for (int j = 0; j < features; ++j)
      b(i, j) = static_cast<T>((i * 11 + j * 5) % 37 - 18) / static_cast<T>(4);
  const auto a =
      rig::matrix<T>::from_csr(p.rows, p.columns, std::span<const long>(p.offsets),
                               std::span<const int>(p.inner), std::span<const T>(weights));
  const auto a_there = a.to(gpu);
  const auto b_there = b.to(gpu);
  for (const auto& [name, how] : sampled_kernels)
    for (const int width : {1, 3, 16, 64, 127, 129, 600, 1025, 2304}) {
      const rig::descriptor desc{.kernel = name, .width = width};
      CAPTURE(name);
      CAPTURE(width);
      const auto here = rig::mxm(a, b, S{}, desc);
      const auto there = rig::mxm(a_there, b_there, S{}, desc);
      if constexpr (rig::is_indexed<rig::output<S>>) {
        CHECK(equal(here.values, there.values.to(rig::cpu())));
        CHECK(equal(here.indices, there.indices.to(rig::cpu())));
      } else {
        CHECK(equal(here, there.to(rig::cpu())));
      }
    }
}

TEST_CASE("the CPU's results if sums are exact") {
  for (const int features : {1, 33, 64}) {
    check_as_on_cpu<rig::plus_times<int64>, int64>(features);
    check_as_on_cpu<rig::plus_times<float>, float>(features);
    check_as_on_cpu<rig::arg_max_second<float>, float>(features);
    check_as_on_cpu<rig::max_second<float>, float>(features);
  }
}

TEST_CASE("a semiring of the caller, on rows that are split") {
  const auto a = one_row(4000), there = a.to(gpu);
  const rig::dense<float> b(4000, 5, 0.5f);
  for (const auto& [name, how] : sampled_kernels)
    for (const int width : {64, 1000}) {
      rig::descriptor desc{.kernel = name, .width = width};
      for (const bool rescale : {false, true}) {
        desc.rescale = rescale;
        const auto want = rig::mxm(a, b, sum_of_products_doubled{}, desc);
        CHECK(equal(rig::mxm(there, b.to(gpu), sum_of_products_doubled{}, desc).to(rig::cpu()),
                    want));
      }
    }
}

TEST_CASE("only these kernels are approximate, and only the descriptor selects them") {
  check_listed(gpu);
  const auto a = one_row(9).to(gpu);
  const auto b = rig::dense<float>(9, 2, 1.0f).to(gpu);
  for (const auto& [name, how] : sampled_kernels) {
    const preferred_kernel unfit(name);
    const auto made = rig::mxm(a, b, rig::plus_times<float>{}, {.width = 4});
    CHECK(made.to(rig::cpu())(0, 0) == 9);
  }
}

TEST_CASE("repetitions, refusals, widths") {
  check_repetitions(gpu);
  check_widths(gpu);
#define RIG_BUILTIN(semiring, type) check_refusal<rig::semiring<type>, type>(gpu);
#include "rig/semirings/builtin.def"
#undef RIG_BUILTIN
}

TEST_CASE("the report of a device matrix") {
  for (const shape& of : battery())
    for (const sampled_kernel& k : sampled_kernels)
      for (const bool transposed : {false, true})
        for (const int width : {3, 64}) check_report(of.pattern, k, width, transposed, gpu);
  const shape rows = split_rows_shape();
  for (const int width : {600, 4096})
    check_report(rows.pattern, sampled_kernels[2], width, false, gpu);
  const auto a = hubs(2000);
  for (const auto& [name, how] : sampled_kernels) {
    const rig::descriptor desc{.kernel = name, .width = 100};
    CHECK(rig::sampling_report(a, desc).text() == rig::sampling_report(a.to(gpu), desc).text());
    const auto b = waves(2000, 3);
    CHECK(rig::explain(a.to(gpu), b.to(gpu), rig::plus_times<float>{}, desc).chosen == name);
  }
}

TEST_CASE("captured and replayed: samples in segments, and whole rows") {
  using enum rig::accumulator;
  const auto skewed = hubs(3000).to(gpu);
  for (const auto& [name, how] : sampled_kernels)
    for (const int width : {64, 300, 4096})
      for (const rig::accumulator accum : {none, plus})
        check_replay(skewed, rig::plus_times<float>{}, accum, {.kernel = name, .width = width});
  check_replay(skewed, rig::plus_times<float>{}, none,
               {.transpose_a = true, .kernel = "fastrand", .width = 300, .rescale = true});
}

}  // namespace
