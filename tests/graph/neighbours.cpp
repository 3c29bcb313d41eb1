// `rig::neighbours` against the graph, entry by entry, and its refusals.

#include "neighbour_cases.hpp"

TEST_CASE("blocks have entries of the graph, and as many as the fan-outs") {
  check_neighbours(rig::cpu());
}
TEST_CASE("with every neighbour, blocks give what the graph gives") {
  check_whole_hops(rig::cpu());
}
TEST_CASE("draws by seed and by hop") { check_draws(rig::cpu()); }
TEST_CASE("refusals") { check_neighbour_errors(rig::cpu()); }
