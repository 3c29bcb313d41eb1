// `rig::sample` against the sampling rules as the tests have them, by seeds, and its refusals.

#include "sample_cases.hpp"

namespace {

TEST_CASE("seed 0 takes the entries that the sampled kernels read") {
  check_kernels_entries(rig::cpu());
}
TEST_CASE("the product with a sample is the sampled product") { check_products(rig::cpu()); }
TEST_CASE("each entry is drawn as often as others of its row") { check_seeds(rig::cpu()); }
TEST_CASE("rescaled rows, iso values, whole rows") { check_rescale(rig::cpu()); }
TEST_CASE("refusals") { check_sample_errors(rig::cpu()); }

}  // namespace
