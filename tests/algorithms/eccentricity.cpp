// eccentricity and diameter_bound, beside plain searches and known diameters.

#include "algorithms/graph_checks.hpp"
#include "rig/generate.hpp"

namespace {

/// Steps from a node; −1: not reached.
std::vector<int> levels_by_loops(const checks::neighbours& of, int from) {
  std::vector<int> level(of.size(), -1), queue{from};
  level[static_cast<std::size_t>(from)] = 0;
  for (std::size_t k = 0; k < queue.size(); ++k)
    for (const int to : of[static_cast<std::size_t>(queue[k])])
      if (level[static_cast<std::size_t>(to)] < 0) {
        level[static_cast<std::size_t>(to)] = level[static_cast<std::size_t>(queue[k])] + 1;
        queue.push_back(to);
      }
  return level;
}
int eccentricity_by_loops(const checks::neighbours& of, int from) {
  const auto level = levels_by_loops(of, from);
  return *std::max_element(level.begin(), level.end());
}

}  // namespace

TEST_CASE("eccentricities of small and random graphs") {
  for (const auto& [name, a] : checks::graphs()) {
    CAPTURE(name);
    const auto of = checks::lists(a, false);
    const auto found = rig::eccentricity(a), in_threes = rig::eccentricity(a, {.batch = 3});
    REQUIRE(found.rows() == a.rows());
    for (int i = 0; i < a.rows(); ++i) {
      CHECK(found(i, 0) == eccentricity_by_loops(of, i));
      CHECK(in_threes(i, 0) == found(i, 0));
    }
  }
}

TEST_CASE("bounds of the diameters of small and random graphs") {
  for (const auto& [name, a] : checks::graphs()) {
    CAPTURE(name);
    const auto of = checks::lists(a, true);
    for (int source = 0; source < a.rows(); source += 7) {
      const auto reached = levels_by_loops(of, source);
      int diameter = 0;
      for (int i = 0; i < a.rows(); ++i)
        if (reached[static_cast<std::size_t>(i)] >= 0)
          diameter = std::max(diameter, eccentricity_by_loops(of, i));
      const auto found = rig::diameter_bound(a, source);
      CHECK(found.lower <= diameter);
      CHECK(found.upper >= diameter);
      CHECK(found.lower == eccentricity_by_loops(of, found.node));
      CHECK(reached[static_cast<std::size_t>(found.node)] >= 0);
    }
  }
}

TEST_CASE("known diameters") {
  // A tree's first sweep finds both ends of a longest path.
  const auto path = rig::diameter_bound(rig::generate::from_text("grid:1:101"), 30);
  CHECK(path.lower == 100);
  CHECK(path.upper == 100);
  CHECK(path.sweeps == 1);
  const auto karate = rig::diameter_bound(rig::generate::from_text("karate"), 0);
  CHECK(karate.lower == 5);  // networkx.diameter
  CHECK(karate.upper >= 5);
  CHECK(karate.upper <= 6);
  const auto grid = rig::diameter_bound(rig::generate::from_text("grid:9:14"), 60);
  CHECK(grid.lower == 8 + 13);
  CHECK(grid.upper == 22);
}

TEST_CASE("searches of the data sets are no deeper than the diameter allows") {
  for (const auto& [name, a, expected] : checks::data_sets("bfs_hub", 500000)) {
    CAPTURE(name);
    const int hub = expected["hub"], most = expected["bfs_hub"]["max"];
    CHECK(rig::eccentricity(a, std::vector{hub})(0, 0) == most);
  }
}

TEST_CASE("eccentricity and diameter_bound report their progress, and refuse what has no meaning") {
  const auto a = checks::of_arcs(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  std::vector<long> done;
  rig::eccentricity(a, std::vector{4, 0, 1},
                    {.batch = 2, .progress = [&](long count) { done.push_back(count); }});
  CHECK(done == std::vector<long>{2, 3});
  std::vector<std::pair<int, long>> seen;
  rig::diameter_bound(a, 1, {.progress = [&](int k, long gap) { seen.emplace_back(k, gap); }});
  CHECK(seen == std::vector<std::pair<int, long>>{{1, 0}});
  CHECK(rig::eccentricity(a, std::vector<int>()).rows() == 0);
  checks::check_throws(rig::errc::range, "eccentricity: batch is 0",
                       [&] { rig::eccentricity(a, {.batch = 0}); });
  checks::check_throws(rig::errc::range, "eccentricity: source is 5",
                       [&] { rig::eccentricity(a, std::vector{5}); });
  checks::check_throws(rig::errc::range, "diameter_bound: most_sweeps is 0",
                       [&] { rig::diameter_bound(a, 0, {.most_sweeps = 0}); });
  checks::check_throws(rig::errc::range, "diameter_bound: source is 5",
                       [&] { rig::diameter_bound(a, 5); });
  checks::check_throws(rig::errc::shape, "diameter_bound: A is 2x3",
                       [] { rig::diameter_bound(rig::matrix<bool>(2, 3), 0); });
}
