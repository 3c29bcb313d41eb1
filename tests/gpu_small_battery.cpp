// What compute-sanitizer runs on a GPU: every kernel, a handful of semirings, the small battery,
// samples and codes.

#include "gpu.hpp"
#include "rig/semirings.hpp"
#include "sampling_cases.hpp"
#include "table.hpp"

namespace {

/// Every variant and shape once.
template <class S, class TA, class TB, class TC>
void walk_small(const std::vector<shape>& shapes, int number, tally& met) {
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
    settle<S>(spec);
    trial<S, TA, TB, TC> t(spec);
    met.meet(t, S::name, spec);
  }
}

TEST_CASE("small battery") {
  const std::vector<shape> shapes = small_battery();
  tally met(gpu);
  walk_small<rig::plus_times<float>, float, float, float>(shapes, 0, met);
  walk_small<rig::max_second<float>, bool, rig::half, rig::bfloat16>(shapes, 1, met);
  walk_small<rig::plus_times<double>, float, double, int>(shapes, 3, met);
  walk_small<rig::arg_max_second<float>, float, float, float>(shapes, 4, met);
  walk_small<rig::lor_land<bool>, long, bool, bool>(shapes, 5, met);
}

TEST_CASE("rows that are cut") {
  random_bits random(test_seed());
  const shape rows{"long rows", pattern_of_lengths({2, 700, 0, 65540, 129}, 65540, random)};
  for (const int features : {1, 2, 33, 64}) {
    trial_spec spec;
    spec.of = &rows;
    spec.features = features;
    spec.where = gpu;
    tally met(gpu);
    trial<rig::plus_times<float>, float, float, float> t(spec);
    met.meet(t, "plus_times", spec);
  }
}

/// Rows that are cut into two to five pieces.
shape cut_rows_shape() {
  random_bits random(test_seed());
  return {"cut rows", pattern_of_lengths({2, 600, 0, 257, 129}, 600, random)};
}

TEST_CASE("samples that are cut") {
  const shape rows = cut_rows_shape();
  for (const auto& [name, how] : sampled_kernels)
    for (const bool accumulates : {false, true}) {
      trial_spec spec;
      spec.of = &rows;
      spec.features = 33;
      spec.where = gpu;
      spec.rescale = true;
      spec.fresh = !accumulates;
      if (accumulates) spec.accumulator = rig::accumulator::plus;
      sample_with(spec, how, 300);
      CHECK(trial<rig::plus_times<float>, float, float, float>(spec).run(name) == "");
    }
}

TEST_CASE("int8 codes, whole rows, pieces and samples of them") {
  const shape rows = cut_rows_shape();
  for (const rig::ranges over : {rig::ranges::matrix, rig::ranges::column})
    for (const int features : {33, 64}) {
      trial_spec spec;
      spec.of = &rows;
      spec.features = features;
      spec.where = gpu;
      spec.codes = over;
      CHECK(trial<rig::plus_times<float>, float, float, float>(spec).run("row") == "");
      CHECK(trial<rig::plus_times<float>, float, float, float>(spec).run("split") == "");
      sample_with(spec, rig::sampling::adaptive, 300);
      CHECK(trial<rig::plus_times<float>, float, float, float>(spec).run("adaptive") == "");
    }
}

}  // namespace
