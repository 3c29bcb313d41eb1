// mxm_update on a GPU.

#include "gpu_cases.hpp"
#include "tuned.hpp"
#include "update_cases.hpp"

TEST_CASE("a product and its update") { update_cases::check_battery(gpu); }
TEST_CASE("an update without columns") { update_cases::check_empty(gpu); }
TEST_CASE("an update of numbers that are not finite") { update_cases::check_not_finite(gpu); }
TEST_CASE("an update into an operand") { update_cases::check_aliased(gpu); }
TEST_CASE("an update of views and transposes") { update_cases::check_views(gpu); }
TEST_CASE("updates that are refused") { update_cases::check_refusals(gpu); }

TEST_CASE("an update of rows that are split") {
  random_bits random(test_seed());
  const shape rows{"long rows", pattern_of_lengths({2, 700, 0, 65540, 129, 3000}, 65540, random)};
  for (const rig::index f : {1, 33, 64, 128})
    update_cases::check_update<rig::plus_times<float>, float>(rows, f, 48, gpu);
  const tuned with({"segments,,split_length=8"});
  for (const rig::index f : {20, 64})
    update_cases::check_update<rig::max_second<float>, float>(rows, f, 64, gpu);
}

TEST_CASE("an update of wide operands") {
  random_bits random(test_seed());
  const shape rows{"rows", pattern_of_lengths({3, 0, 20, 1, 7}, 40, random)};
  for (const rig::index f : {129, 300, 512})
    for (const rig::index g : {65, 200})
      update_cases::check_update<rig::plus_times<float>, float>(rows, f, g, gpu);
}

TEST_CASE("an update has the same bits a hundred times") {
  random_bits random(test_seed());
  std::vector<int> lengths(500);
  for (int& n : lengths) n = random.below(8) == 0 ? 400 : random.below(12);
  const shape rows{"skewed", pattern_of_lengths(lengths, 500, random)};
  const auto a = update_cases::random_matrix(rows, random).to(gpu);
  const auto b = update_cases::random_dense<float>(500, 64, random).to(gpu);
  const auto w = update_cases::random_dense<float>(64, 64, random).to(gpu);
  const auto once = rig::mxm_update(a, b, w, rig::plus_times<float>{}).to(rig::cpu());
  for (int run = 0; run < 100; ++run)
    REQUIRE(distance(rig::mxm_update(a, b, w, rig::plus_times<float>{}).to(rig::cpu()), once) == 0);
}

namespace {

const rig::plus_times<float> sum;

TEST_CASE("an update waits for its operands' stream, and that stream for the update") {
  const auto a = hubs(3000).to(gpu);
  const auto b = waves(3000, 33), w = waves(33, 20);
  const auto expected = rig::mxm_update(a, b.to(gpu), w.to(gpu), sum).to(rig::cpu());
  auto late_b = rig::dense<float>(3000, 33).to(gpu), late_w = rig::dense<float>(33, 20).to(gpu);
  const auto b_there = b.to(gpu), w_there = w.to(gpu);
  const own_stream writer, caller;
  const auto view_b = rig::dense<float>::view(late_b.data(), 3000, 33, 0, gpu, writer);
  const auto view_w = rig::dense<float>::view(late_w.data(), 33, 20, 0, gpu, writer);
  rig::synchronise(gpu);
  for (int round = 0; round < 4; ++round) {
    writer.hold_back();
    for (const auto& [to, from] : {std::pair{&late_b, &b_there}, {&late_w, &w_there}})
      REQUIRE(cudaMemcpyAsync(to->data(), from->data(), to->extent(), cudaMemcpyDeviceToDevice,
                              writer) == cudaSuccess);
    const auto c = rig::mxm_update(a, view_b, view_w, sum, {.stream = caller});
    for (rig::dense<float>* of : {&late_b, &late_w})
      REQUIRE(cudaMemsetAsync(of->data(), 0xff, of->extent(), writer) == cudaSuccess);
    CHECK(distance(c.to(rig::cpu()), expected) == 0);
  }
}

TEST_CASE("an update can be captured and replayed, with and without the product") {
  const auto a = hubs(3000).to(gpu);
  const auto b = waves(3000, 64).to(gpu), w = waves(64, 48).to(gpu);
  const own_stream stream;
  for (const bool keeps_product : {false, true}) {
    auto c = rig::dense<float>(3000, 48, -1).to(gpu), called = c;
    auto z = rig::dense<float>(3000, 64, -1).to(gpu), z_called = z;
    const auto update = [&](rig::dense<float>& to, rig::dense<float>& product, void* on) {
      if (keeps_product)
        rig::mxm_update(to, product, a, b, w, sum, {.stream = on});
      else
        rig::mxm_update(to, a, b, w, sum, {.stream = on});
    };
    a.prepare();
    update(called, z_called, stream);
    rig::synchronise(gpu);
    const captured_work graph(stream, [&] { update(c, z, stream); });
    for (int run = 0; run < 3; ++run) graph.launch(stream);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(distance(c.to(rig::cpu()), called.to(rig::cpu())) == 0);
    CHECK(distance(z.to(rig::cpu()), z_called.to(rig::cpu())) == 0);
  }
}

TEST_CASE("every allocation of an update may fail: C and Z stay") {
  failing_allocator allocator;
  const auto a = hubs(2500).to(gpu);
  const auto b = waves(2500, 41).to(gpu), w = waves(41, 24).to(gpu);
  const auto before = waves(2500, 24), product_before = waves(2500, 41);
  const auto expected = rig::mxm_update(a, b, w, sum).to(rig::cpu());
  for (const bool keeps_product : {false, true}) {
    auto c = before.to(gpu), z = product_before.to(gpu);
    a.drop_derived();
    const int failures = allocator.until_success(
        [&] {
          if (keeps_product)
            rig::mxm_update(c, z, a, b, w, sum);
          else
            rig::mxm_update(c, a, b, w, sum);
        },
        [&] {
          CHECK(distance(before, c.to(rig::cpu())) == 0);
          CHECK(distance(product_before, z.to(rig::cpu())) == 0);
          a.drop_derived();
        });
    CHECK(distance(expected, c.to(rig::cpu())) == 0);
    CHECK(failures >= (keeps_product ? 1 : 2));
  }
}

}  // namespace
