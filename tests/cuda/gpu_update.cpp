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
  const tuned with({"segments,,split_length=64"});
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
