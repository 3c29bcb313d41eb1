// triangles: known numbers, and plain loops on small graphs.

#include "algorithms/graph_checks.hpp"
#include "rig/generate.hpp"

namespace {

long count_by_loops(const checks::neighbours& of) {
  long count = 0;
  const int n = static_cast<int>(of.size());
  for (int i = 0; i < n; ++i)
    for (const int j : of[static_cast<std::size_t>(i)])
      for (const int k : of[static_cast<std::size_t>(j)])
        if (i < j && j < k && checks::joined(of, i, k)) ++count;
  return count;
}

}  // namespace

TEST_CASE("triangles of small and random graphs") {
  for (const auto& [name, a] : checks::graphs()) {
    CAPTURE(name);
    const long expected = count_by_loops(checks::lists(a, true));
    CHECK(rig::triangles(a) == expected);
    CHECK(rig::triangles(a, {}, {.threads = 1}) == expected);
    for (const char* kernel : {"dot", "gustavson"})
      CHECK(rig::triangles(a, {}, {.kernel = kernel}) == expected);
  }
}

TEST_CASE("triangles of symmetric graphs, with loops, of equal and of skewed degrees") {
  for (const char* text : {"uniform:300:12", "rmat:9:8", "grid:9:11", "karate"}) {
    CAPTURE(text);
    const auto a = rig::generate::from_text(text);
    const auto both = rig::ewise_add(a, rig::transpose(a), rig::binary::maximum).with_value(true);
    const auto loops =
        rig::matrix<bool>::from_positions(a.rows(), a.rows(), std::vector{0, 3}, std::vector{0, 3});
    const auto looped = rig::ewise_add(both, loops, rig::binary::logical_or);
    const long expected = count_by_loops(checks::lists(both, true));
    CHECK(rig::triangles(both, {.symmetric = true}) == expected);
    CHECK(rig::triangles(looped, {.symmetric = true}) == expected);
    CHECK(rig::triangles(looped) == expected);
  }
}

TEST_CASE("triangles does not read values") {
  const auto a = rig::matrix<double>::from_tuples(3, 3, std::vector{0, 1, 2}, std::vector{1, 2, 0},
                                                  std::vector<double>{0, -1, 2});
  CHECK(rig::triangles(a) == 1);
}

TEST_CASE("triangles reports its progress") {
  const auto a = checks::of_arcs(5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}});
  std::vector<std::pair<int, long>> seen;
  rig::triangles(a, {.progress = [&](int k, long entries) { seen.emplace_back(k, entries); }});
  CHECK(seen == std::vector<std::pair<int, long>>{{1, 4}, {2, 1}});
}

TEST_CASE("triangles of a matrix that is not square") {
  checks::check_throws(rig::errc::shape, "triangles: A is 2x3",
                       [] { rig::triangles(rig::matrix<bool>(2, 3)); });
}

TEST_CASE("triangles of the data sets") {
  for (const auto& [name, a, expected] : checks::data_sets("triangles")) {
    CAPTURE(name);
    CHECK(rig::triangles(a) == expected["triangles"]["count"]);
  }
  if (!checks::has_data()) return;
  const auto known = checks::known()["triangles"];
  for (const auto& [name, count] : known.items()) {
    CAPTURE(name);
    CHECK(rig::triangles(checks::lagraph(name)) == count);
  }
}
