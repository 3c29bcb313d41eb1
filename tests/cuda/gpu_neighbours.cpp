// `rig::neighbours` on a GPU: the CPU's cases, and the CPU's blocks.

#include "gpu.hpp"
#include "neighbour_cases.hpp"

TEST_CASE("blocks have entries of the graph, and as many as the fan-outs") {
  check_neighbours(gpu);
}
TEST_CASE("with every neighbour, blocks give what the graph gives") { check_whole_hops(gpu); }
TEST_CASE("draws by seed and by hop") { check_draws(gpu); }
TEST_CASE("refusals") { check_neighbour_errors(gpu); }

TEST_CASE("both places draw the same blocks") {
  const auto a = weighted_graph();
  const std::vector<index> seeds = {3, 200, 1};
  const auto here = rig::neighbours(a, seeds, {5, 3, 2}, 11),
             there = rig::neighbours(a.to(gpu), seeds, {5, 3, 2}, 11);
  CHECK(listed(here.nodes) == listed(there.nodes));
  for (std::size_t l = 0; l < 3; ++l) CHECK(here.blocks[l] == there.blocks[l]);
}
