// `rig::sample` on a GPU: the CPU's cases, and the CPU's entries for other seeds.

#include "gpu_cases.hpp"
#include "rig/generate.hpp"
#include "sample_cases.hpp"

namespace {

TEST_CASE("seed 0 takes the entries that the sampled kernels read") { check_kernels_entries(gpu); }
TEST_CASE("the product with a sample is the sampled product") { check_products(gpu); }
TEST_CASE("each entry is drawn as often as others of its row") { check_seeds(gpu); }
TEST_CASE("rescaled rows, iso values, whole rows") { check_rescale(gpu); }
TEST_CASE("refusals") { check_sample_errors(gpu); }

TEST_CASE("both places draw the same entries") {
  const auto a = rig::generate::from_text("rmat:12:16");
  for (const auto& [name, how] : sampled_kernels)
    for (const int width : widths)
      for (const unsigned long seed : {0ul, 1ul, ~0ul}) {
        const rig::sampling_options options{how, width, seed};
        CHECK(rig::sample(a.to(gpu), options) == rig::sample(a, options));
      }
}

}  // namespace
