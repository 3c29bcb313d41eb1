// compute-sanitizer runs this on a GPU: every kernel, a few semirings, the small battery, samples
// and codes, and MaxK.

#include "gpu.hpp"
#include "maxk_cases.hpp"
#include "operation_cases.hpp"
#include "rig/semirings.hpp"
#include "sampling_cases.hpp"
#include "scatter_cases.hpp"
#include "table.hpp"
#include "tuned.hpp"
#include "update_cases.hpp"

namespace {

/// Runs every variant and shape once.
template <class S, class TA, class TB, class TC>
void sweep_small(const std::vector<shape>& shapes, int number, tally& met) {
  const auto count = static_cast<int>(variants().size());
  for (int step = 0; step < count; ++step) {
    trial_spec spec;
    spec.name = variants()[static_cast<std::size_t>(step)].name;
    spec.of = &shapes[static_cast<std::size_t>(step * 5 + number) % shapes.size()];
    spec.features =
        feature_widths[static_cast<std::size_t>(step * 3 + number) % feature_widths.size()];
    spec.seed = test_seed() + static_cast<unsigned long>(step);
    spec.where = gpu;
    variants()[static_cast<std::size_t>(step)].apply(spec);
    normalise<S>(spec);
    trial<S, TA, TB, TC> t(spec);
    met.meet(t, S::name, spec);
  }
}

TEST_CASE("small battery") {
  const std::vector<shape> shapes = small_battery();
  tally met(gpu);
  sweep_small<rig::plus_times<float>, float, float, float>(shapes, 0, met);
  sweep_small<rig::max_second<float>, bool, rig::half, rig::bfloat16>(shapes, 1, met);
  sweep_small<rig::plus_times<double>, float, double, int>(shapes, 3, met);
  sweep_small<rig::arg_max_second<float>, float, float, float>(shapes, 4, met);
  sweep_small<rig::lor_land<bool>, long, bool, bool>(shapes, 5, met);
}

TEST_CASE("every window on Tensor cores") {
  const tuned with({"segments,,split_length=0", "windows,,least_entries=0",
                    "hybrid,,bias=1000000 per_column=0 per_density=0"});
  tally met(gpu);
  sweep_small<rig::plus_times<float>, float, rig::half, float>(small_battery(), 6, met);
}

TEST_CASE("products and their updates") {
  random_bits random(test_seed());
  const shape rows{"rows", pattern_of_lengths({2, 40, 0, 7, 300}, 300, random)};
  const tuned with({"segments,,split_length=8"});
  for (const rig::index f : {1, 33, 64})
    update_cases::check_update<rig::plus_times<float>, float>(rows, f, 20, gpu);
}

TEST_CASE("every operation") {
  const auto here = each_operation(rig::cpu()).outcomes, there = each_operation(gpu).outcomes;
  REQUIRE(here.size() == there.size());
  for (std::size_t k = 0; k < here.size(); ++k) {
    CAPTURE(here[k].name);
    CHECK(here[k].entries == there[k].entries);
    CHECK(here[k].sum == doctest::Approx(there[k].sum));
  }
}

TEST_CASE("rows that are split") {
  random_bits random(test_seed());
  // Segments of 64 entries: a row of one, of a few, of groups of segments.
  const tuned with({"segments,,split_length=8"});
  const shape rows{"long rows", pattern_of_lengths({2, 700, 0, 65540, 129, 33}, 65540, random)};
  for (const int features : {1, 2, 33, 64}) {
    trial_spec spec;
    spec.of = &rows;
    spec.features = features;
    spec.where = gpu;
    tally met(gpu);
    trial<rig::plus_times<float>, float, float, float> t(spec);
    met.meet(t, "plus_times", spec);
    trial<rig::arg_max_second<float>, float, float, float> greatest(spec);
    met.meet(greatest, "arg_max_second", spec);
  }
  for (const int features : {33, 68}) {  // B in tiles of eight vectors, and one column or four
    const tuned by({"segments,,split_length=8", "tiles,," + lanes(8, 32, 4, 1)});
    trial_spec spec;
    spec.of = &rows;
    spec.features = features;
    spec.where = gpu;
    trial<rig::plus_times<float>, float, float, float> t(spec);
    CHECK(t.run("row") == "");
    CHECK(t.run("split") == "");
  }
}

/// Rows that are split into two to five row segments.
shape split_rows_shape() {
  random_bits random(test_seed());
  return {"split rows", pattern_of_lengths({2, 600, 0, 257, 129}, 600, random)};
}

TEST_CASE("samples that are split") {
  const tuned with({"segments,,split_length=8"});
  const shape rows = split_rows_shape();
  for (const auto& [name, how] : sampled_kernels)
    for (const bool accumulates : {false, true}) {
      trial_spec spec;
      spec.of = &rows;
      spec.features = 33;
      spec.where = gpu;
      spec.rescale = true;
      spec.creates_result = !accumulates;
      if (accumulates) spec.accumulator = rig::accumulator::plus;
      sample_with(spec, how, 300);
      CHECK(trial<rig::plus_times<float>, float, float, float>(spec).run(name) == "");
    }
}

TEST_CASE("int8 codes: whole rows, row segments and samples") {
  const tuned with({"segments,,split_length=8"});
  const shape rows = split_rows_shape();
  for (const rig::ranges over : {rig::ranges::matrix, rig::ranges::column})
    for (const int features : {33, 64}) {
      trial_spec spec;
      spec.of = &rows;
      spec.features = features;
      spec.where = gpu;
      spec.quantized = over;
      CHECK(trial<rig::plus_times<float>, float, float, float>(spec).run("row") == "");
      CHECK(trial<rig::plus_times<float>, float, float, float>(spec).run("split") == "");
      sample_with(spec, rig::sampling::adaptive, 300);
      CHECK(trial<rig::plus_times<float>, float, float, float>(spec).run("adaptive") == "");
    }
}

TEST_CASE_TEMPLATE("MaxK: selection", T, float, double, rig::half, rig::bfloat16) {
  random_bits random(test_seed());
  for (const auto& [columns, k] : {std::pair{1, 1},
                                   {7, 3},
                                   {33, 33},
                                   {64, 16},
                                   {100, 7},
                                   {256, 32},
                                   {257, 65},
                                   {1000, 300},
                                   {5000, 9}}) {
    CAPTURE(columns);
    CHECK(check_selection(drawn<T>(9, columns, draw::extremes, random), k, gpu) == 0);
  }
  CHECK(rig::maxk(rig::dense<T>(0, 5).to(gpu), 2).rows() == 0);
}

/// Runs one product with a cbsr, and one under the structure of a cbsr, in each order of addition.
template <class S, class TA, class TB, class TC>
void sweep_maxk(trial_spec spec, int k) {
  trial_spec backward = spec;
  normalise<S>(spec);
  spec.top_k = std::min(k, spec.features);
  check_trial(S::name, spec, [&] { return trial<S, TA, TB, TC>(spec).run("maxk"); });
  spec.as_cbsr = true;
  spec.transpose_b = false;
  check_trial(S::name, spec, [&] { return trial<S, TA, TB, TC>(spec).run(""); });
  if (rig::is_indexed<rig::output<S>> || spec.over != mask_over::nothing || !spec.creates_result)
    return;
  backward.stored = std::min(k, spec.features);
  for (const bool reproducible : {true, false}) {
    backward.reproducible = reproducible;
    check_trial(S::name, backward, [&]() -> std::string {
      if constexpr (rig::is_indexed<rig::output<S>>)
        return "";
      else
        return trial<S, TA, TB, TC>(backward).run_under_cbsr("");
    });
  }
}

TEST_CASE("MaxK: forward and backward") {
  const std::vector<shape> shapes = small_battery();
  int step = 0;
  for (const variant& v : variants()) {
    trial_spec spec;
    spec.name = v.name;
    spec.of = &shapes[static_cast<std::size_t>(++step) % shapes.size()];
    spec.features = feature_widths[1 + static_cast<std::size_t>(step) % 10];
    spec.seed = test_seed() + static_cast<unsigned long>(step);
    spec.values = step % 3 == 0 ? draw::extremes : draw::reals;
    spec.where = gpu;
    v.apply(spec);
    sweep_maxk<rig::plus_times<float>, float, float, float>(spec, 1 + step % 40);
    if (step % 4 == 0) sweep_maxk<rig::max_second<float>, bool, rig::half, rig::bfloat16>(spec, 3);
    if (step % 4 == 1) sweep_maxk<rig::arg_max_second<float>, float, float, float>(spec, 5);
  }
}

TEST_CASE("MaxK: long rows, and more columns than shared memory holds") {
  random_bits random(test_seed());
  const shape rows{"long rows", pattern_of_lengths({2, 700, 0, 5000, 129}, 5000, random)};
  const shape few{"few", pattern_of_lengths({2, 0, 9}, 9, random)};
  for (const bool transposed : {false, true}) {
    trial_spec spec;
    spec.name = "long rows";
    spec.of = &rows;
    spec.features = 40;
    spec.transpose_a = transposed;
    spec.where = gpu;
    sweep_maxk<rig::plus_times<float>, float, float, float>(spec, 13);
    sweep_maxk<rig::plus_times<float>, float, float, float>(spec, 30);
    spec.of = &few;
    spec.features = 13000;
    sweep_maxk<rig::plus_times<float>, float, float, float>(spec, 100);
  }
}

TEST_CASE("scatter_add") { scatter_cases::check_types(gpu); }

}  // namespace
