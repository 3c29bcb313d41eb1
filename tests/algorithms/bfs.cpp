// Breadth-first search against known answers and a plain queue.

#include "rig/algorithms/bfs.hpp"

#include "algorithms/known_graphs.hpp"

namespace {

using known::json;

void check_counts(const rig::matrix<bool>& a, int source, const json& expected) {
  std::vector<rig::int64> per_level;
  rig::bfs_options my;
  my.progress = [&](int level, rig::int64 nodes) {
    CHECK(level == static_cast<int>(per_level.size()));
    per_level.push_back(nodes);
  };
  const auto found = rig::bfs(a, source, my);
  rig::int64 sum = 0;
  for (const int level : found.levels) sum += std::max(level, 0);
  CHECK(found.reached == expected["reached"]);
  CHECK(found.max_level == expected["max"]);
  CHECK(sum == expected["sum"]);
  per_level.resize(std::min<std::size_t>(per_level.size(), 64));
  CHECK(json(per_level) == expected["per_level"]);
}

/// The parent is the least node of the level before with an arc to the node.
void check_parents(const std::vector<std::vector<int>>& arcs, const std::vector<int>& level,
                   int source, const rig::dense<int>& parents) {
  std::vector<int> expected(level.size(), -1);
  for (std::size_t i = level.size(); i-- > 0;)
    for (const int j : arcs[i]) {
      const auto to = static_cast<std::size_t>(j);
      if (level[i] >= 0 && level[to] == level[i] + 1) expected[to] = static_cast<int>(i);
    }
  expected[static_cast<std::size_t>(source)] = source;
  CHECK(std::equal(expected.begin(), expected.end(), parents.begin()));
}

/// A kernel of a dense product serves every level.
void check_several(const rig::matrix<bool>& a, const std::vector<int>& sources,
                   const std::vector<std::vector<int>>& arcs, const char* kernel) {
  rig::int64 reached = 0, counted = 0;
  int most = 0, levels = 0;
  rig::bfs_options my;
  my.progress = [&](int level, rig::int64 nodes) {
    CHECK(level == levels++);
    counted += nodes;
  };
  const auto found = rig::multi_source(a, sources, my, {.kernel = kernel});
  REQUIRE(found.levels.columns() == static_cast<int>(sources.size()));
  for (std::size_t k = 0; k < sources.size(); ++k) {
    const auto expected = known::levels_of(arcs, sources[k]);
    for (int i = 0; i < a.rows(); ++i) {
      const int level = expected[static_cast<std::size_t>(i)];
      CHECK(found.levels(i, static_cast<int>(k)) == level);
      reached += level >= 0;
      most = std::max(most, level);
    }
  }
  CHECK(found.reached == reached);
  CHECK(counted == reached);
  CHECK(found.max_level == most);
}

}  // namespace

TEST_CASE("levels of the data sets") {
  for (const auto& graph : known::with("bfs")) {
    CAPTURE(graph.name);
    const auto a = graph.load();
    check_counts(a, 0, graph.expected["bfs"]);
    check_counts(a, graph.expected["hub"], graph.expected["bfs_hub"]);
    if (graph.expected.contains("bfs_u"))
      check_counts(rig::symmetrise(a), 0, graph.expected["bfs_u"]);
  }
}

TEST_CASE("published levels of karate") {
  const json answers = known::lagraph();
  if (answers.is_null()) return;
  const auto levels = rig::bfs(rig::read_matrix<bool>(known::lagraph_file("karate")), 30).levels;
  CHECK(json(std::vector<int>(levels.begin(), levels.end())) ==
        answers["bfs"]["karate_levels_from_30"]);
}

TEST_CASE("levels of LDBC's graphs") {
  for (const auto& graph : known::ldbc("BFS")) {
    CAPTURE(graph.name);
    const auto found = rig::bfs(graph.a, known::ldbc_source(graph));
    CHECK(graph.a.rows() > 5);
    for (int i = 0; i < graph.a.rows(); ++i) {
      const int level = found.levels(i, 0);
      CHECK(graph.answer(i) == (level < 0 ? "9223372036854775807" : std::to_string(level)));
    }
  }
}

TEST_CASE("levels and parents are those of a plain queue, in every direction") {
  known::each_random([](const rig::matrix<bool>& a, bool) {
    const auto arcs = known::arcs_of(a);
    for (int source = 0; source < a.rows(); source += 1 + a.rows() / 4) {
      const auto expected = known::levels_of(arcs, source);
      for (const char* kernel : {"", "push", "pull", "closure"})
        for (const bool parents : {false, true}) {
          CAPTURE(kernel);
          const auto found =
              rig::bfs(a.with_value(2.5f), source, {.parents = parents}, {.kernel = kernel});
          CHECK(std::equal(expected.begin(), expected.end(), found.levels.begin()));
          if (parents)
            check_parents(arcs, expected, source, found.parents);
          else
            CHECK(found.parents.rows() == 0);
        }
    }
  });
}

TEST_CASE("several sources give the levels of each") {
  known::each_random([](const rig::matrix<bool>& a, bool) {
    const auto arcs = known::arcs_of(a);
    std::vector<int> sources;
    for (int k = 0; k < std::min(a.rows(), 5); ++k) sources.push_back((k * 7 + 3) % a.rows());
    for (const char* kernel : {"", "row"}) check_several(a, sources, arcs, kernel);
  });
}

TEST_CASE("more sources than a word has bits, several in one node, on many levels") {
  const auto path = rig::generate::grid(1, 300).with_value(true);
  // Its frontiers are few nodes, then most of them, then few.
  const auto uniform = rig::generate::uniform(1000, 16).with_value(true);
  for (const auto& a : {path, uniform, rig::generate::karate().with_value(true)})
    for (const int count : {0, 1, 32, 33, 63, 64, 65, 129})
      for (const char* kernel : {"", "row"}) {
        std::vector<int> sources;
        for (int k = 0; k < count; ++k) sources.push_back(k * k % a.rows());
        check_several(a, sources, known::arcs_of(a), kernel);
      }
}

TEST_CASE("sources of any integer type") {
  const auto a = rig::generate::karate().with_value(true);
  const auto expected = rig::multi_source(a, std::vector{30, 2});
  for (const auto& found : {rig::multi_source(a, std::vector<long>{30, 2}),
                            rig::multi_source(a, std::vector<unsigned short>{30, 2})})
    CHECK(std::equal(expected.levels.begin(), expected.levels.end(), found.levels.begin()));
}

TEST_CASE("wrong input") {
  using rig::errc;
  const rig::matrix<bool> wide(2, 3), five(5, 5);
  known::check_error(errc::shape, "bfs: A is 2x3", [&] { rig::bfs(wide, 0); });
  known::check_error(errc::range, "bfs: source is 5", [&] { rig::bfs(five, 5); });
  known::check_error(errc::range, "bfs: source is -1", [&] { rig::bfs(five, -1); });
  known::check_error(errc::range, "source is 0", [&] { rig::bfs(rig::matrix<bool>(0, 0), 0); });
  known::check_error(errc::range, "multi_source: source is 9", [&] {
    rig::multi_source(five, std::vector{1, 9});
  });
  known::check_error(errc::range, "multi_source: source is 4294967297", [&] {
    rig::multi_source(five, std::vector<long>{1, 4294967297});
  });
  known::check_error(errc::cannot, "bfs: transpose_a of the descriptor has no meaning here",
                     [&] { rig::bfs(five, 0, {}, {.transpose_a = true}); });
  known::check_error(errc::cannot, "bfs: fill of the descriptor",
                     [&] { rig::bfs(five, 0, {}, {.fill = 0}); });
  known::check_error(errc::range, "bfs: threads is -1",
                     [&] { rig::bfs(five, 0, {}, {.threads = -1}); });
}
