// The sanitizers run this: every kernel, a few semirings, the small battery, and concurrent calls.
// OpenMP has one thread, because the thread sanitizer does not see libgomp's barriers.

#include <thread>

#include "empty_cases.hpp"
#include "exact_kernels.hpp"
#include "operation_cases.hpp"
#include "rig/generate.hpp"
#include "rig/reorder.hpp"
#include "rig/semirings.hpp"
#include "sampling_cases.hpp"
#include "scatter_cases.hpp"
#include "table.hpp"

namespace {

constexpr auto here = rig::place::kind::cpu;

/// Runs every variant and shape once, on one thread each.
template <class S, class TA, class TB, class TC>
void sweep_small(const std::vector<shape>& shapes, int number, int features = -1,
                 std::optional<rig::ranges> quantized = {}) {
  const auto count = static_cast<int>(variants().size());
  for (int step = 0; step < count; ++step) {
    const variant& v = variants()[static_cast<std::size_t>(step)];
    trial_spec spec;
    spec.name = v.name;
    spec.of = &shapes[static_cast<std::size_t>(step * 5 + number) % shapes.size()];
    spec.features =
        feature_widths[static_cast<std::size_t>(step * 3 + number) % feature_widths.size()];
    if (features >= 0) spec.features = features;
    spec.seed = test_seed() + static_cast<unsigned long>(step);
    // Extremes are included, because undefined conversions happen at NaN and infinities.
    spec.values = step % 3 == 0 ? draw::extremes : draw::reals;
    v.apply(spec);
    normalise<S>(spec);
    spec.quantized = quantized;
    if (quantized == rig::ranges::column) spec.transpose_b = false;
    trial<S, TA, TB, TC> t(spec);
    for (const rig::kernel& k : rig::kernels()) {
      if (!serves_every_dense(k)) continue;
      const std::string wrong = t.run(k.name, 1);
      CHECK_MESSAGE(wrong.empty(), std::string(k.name), ", ", std::string(S::name), ", ",
                    spec.of->name, ", F = ", spec.features, ", ", spec.name, ": ", wrong);
    }
  }
}

TEST_CASE("small battery") {
  const std::vector<shape> shapes = small_battery();
  sweep_small<rig::plus_times<float>, float, float, float>(shapes, 0);
  sweep_small<rig::max_second<float>, bool, rig::half, rig::bfloat16>(shapes, 1);
  sweep_small<rig::min_plus<int>, float, int, long>(shapes, 2);
  sweep_small<rig::mean_times<double>, rig::bfloat16, double, int>(shapes, 3);
  sweep_small<rig::arg_max_second<float>, float, float, float>(shapes, 4);
  sweep_small<rig::lor_land<bool>, long, bool, bool>(shapes, 5);
}

TEST_CASE("every operation on default and moved-from containers") { operate_on_nothing(); }

TEST_CASE("every operation, in two threads at once") {
  std::vector<each_operation::outcome> of[2];
  std::thread other([&] { of[0] = each_operation(rig::cpu()).outcomes; });
  of[1] = each_operation(rig::cpu()).outcomes;
  other.join();
  REQUIRE(of[0].size() == of[1].size());
  for (std::size_t k = 0; k < of[0].size(); ++k) {
    CAPTURE(of[0][k].name);
    CHECK(of[0][k].entries == of[1][k].entries);
    CHECK(of[0][k].sum == of[1][k].sum);
  }
}

TEST_CASE("orders of nodes") {
  for (const auto& a : {rig::generate::karate(), rig::generate::rmat(8, 4), rig::matrix<float>()})
    for (const auto by : {rig::ordering::loa, rig::ordering::degree, rig::ordering::rcm}) {
      const auto positions = rig::reorder(a, by);
      const auto moved = rig::permute(a, positions);
      CHECK(moved.nnz() == a.nnz());
      CHECK(rig::entries_per_tile(rig::extract(moved, positions, positions)) ==
            rig::entries_per_tile(a));
    }
}

TEST_CASE("int8 codes") {
  const std::vector<shape> shapes = small_battery();
  sweep_small<rig::plus_times<float>, float, float, float>(shapes, 0, -1, rig::ranges::matrix);
  sweep_small<rig::max_second<float>, float, float, rig::half>(shapes, 1, -1, rig::ranges::column);
}

TEST_CASE("samples, of numbers and of int8 codes") {
  const shape rows = row_lengths_shape();
  for (const auto& [name, how] : sampled_kernels)
    for (const int width : {1, 33, 100})
      for (const bool is_quantized : {false, true}) {
        trial_spec spec;
        spec.of = &rows;
        spec.features = 9;
        spec.seed = test_seed();
        spec.transpose_a = width == 33;
        spec.rescale = width == 100;
        if (is_quantized) spec.quantized = rig::ranges::column;
        sample_with(spec, how, width);
        CHECK(trial<rig::plus_times<float>, float, float, float>(spec).run(name, 1) == "");
        spec.rescale = false;
        CHECK(trial<rig::arg_max_second<float>, float, float, float>(spec).run(name, 1) == "");
      }
}

TEST_CASE("MaxK, forward and backward") {
  const std::vector<shape> shapes = small_battery();
  int step = 0;
  for (const variant& v : variants()) {
    trial_spec spec;
    spec.name = v.name;
    spec.of = &shapes[static_cast<std::size_t>(++step) % shapes.size()];
    spec.features = feature_widths[1 + static_cast<std::size_t>(step) % 10];
    spec.seed = test_seed() + static_cast<unsigned long>(step);
    spec.values = step % 3 == 0 ? draw::extremes : draw::reals;
    v.apply(spec);
    trial_spec backward = spec;
    spec.top_k = std::min(3, spec.features);
    trial<rig::max_second<float>, bool, rig::half, rig::bfloat16> forward(spec);
    CHECK_MESSAGE(forward.run("maxk", 1) == "", v.name);
    if (spec.over != mask_over::nothing || !spec.creates_result) continue;
    backward.stored = std::min(3, spec.features);
    trial<rig::plus_times<float>, float, rig::half, float> under(backward);
    CHECK_MESSAGE(under.run_under_cbsr("", 1) == "", v.name);
  }
}

TEST_CASE("one column") {
  // One column has special code; every variant meets empty rows.
  std::vector<shape> shapes = small_battery();
  std::erase_if(shapes, [](const shape& s) { return s.name != "every other row empty"; });
  REQUIRE(shapes.size() == 1);
  sweep_small<rig::plus_times<float>, float, float, float>(shapes, 0, 1);
  sweep_small<rig::max_second<float>, float, float, float>(shapes, 1, 1);
}

TEST_CASE("B without rows, several tiles wide") {
  const auto c = rig::mxm(rig::matrix<float>(5, 0), rig::dense<float>(0, 300),
                          rig::plus_times<float>{}, {.fill = 2});
  for (const rig::index j : {0, 127, 128, 299}) CHECK(c(4, j) == 2);
}

TEST_CASE("a row that is split") {
  random_bits random(test_seed());
  const shape rows{"one long row", pattern_of_lengths({2, 65540, 0}, 65540, random)};
  trial_spec spec;
  spec.of = &rows;
  spec.features = 2;
  trial<rig::plus_times<float>, float, float, float> t(spec);
  for (const rig::kernel& k : rig::kernels())
    if (serves_every_dense(k)) CHECK(t.run(k.name, 1) == "");
}

TEST_CASE("calls from several threads share operands") {
  random_bits random(test_seed());
  const oracle::sparse p = random_pattern(60, 60, 0.1, random);
  const std::vector<float> weights(p.inner.size(), 0.5f);
  const auto a =
      rig::matrix<float>::from_csr(60, 60, std::span<const long>(p.offsets),
                                   std::span<const int>(p.inner), std::span<const float>(weights));
  rig::dense<float> b(60, 33);
  for (int i = 0; i < 60; ++i)
    for (int j = 0; j < 33; ++j) b(i, j) = static_cast<float>(random.below(9) - 4);
  const rig::descriptor plain{.threads = 1}, transposed{.transpose_a = true, .threads = 1};
  const auto want =
      rig::mxm(a.with_values(std::span<const float>(weights)), b, rig::plus_times<float>{}, plain);

  // The first thread derives the structures, while others list and drop them.
  std::vector<rig::dense<float>> made(8), flipped(8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int again = 0; again < 5; ++again) {
        const rig::matrix<float> mine = a;
        made[t] = rig::mxm(mine, b, rig::plus_times<float>{}, rig::structure(b), plain);
        flipped[t] = rig::mxm(mine, b, rig::plus_times<float>{}, transposed);
        static_cast<void>(mine.derived_structures());
        if (t == 3) mine.drop_derived();
        if (t == 4) mine.prepare(transposed);
      }
    });
  for (std::thread& t : threads) t.join();
  for (int t = 0; t < 8; ++t)
    for (int i = 0; i < 60; ++i)
      for (int j = 0; j < 33; ++j) {
        REQUIRE(made[t](i, j) == want(i, j));
        REQUIRE(flipped[t](i, j) == flipped[0](i, j));
      }
}

TEST_CASE("scatter_add") { scatter_cases::check_types(rig::cpu()); }

}  // namespace
