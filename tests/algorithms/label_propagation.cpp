// label_propagation: LDBC's and LAGraph's answers, and plain loops on small graphs.

#include <map>

#include "algorithms/graph_checks.hpp"

namespace {

std::vector<int> by_loops(const checks::graph& a, int iterations) {
  std::vector<int> labels(static_cast<std::size_t>(a.rows()));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int>(i);
  const auto t = rig::to_tuples(a);
  for (int k = 0; k < iterations; ++k) {
    std::vector<std::map<int, int>> count(labels.size());
    for (int p = 0; p < t.rows.rows(); ++p) {
      const auto i = static_cast<std::size_t>(t.rows(p, 0)),
                 j = static_cast<std::size_t>(t.columns(p, 0));
      ++count[i][labels[j]];
      ++count[j][labels[i]];
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
      int most = 0;
      for (const auto& [label, times] : count[i])
        if (times > most) {
          most = times;
          labels[i] = label;
        }
    }
  }
  return labels;
}

void check(const rig::label_propagation_result& found, const std::vector<int>& expected) {
  REQUIRE(found.labels.rows() == static_cast<int>(expected.size()));
  for (int i = 0; i < found.labels.rows(); ++i)
    CHECK(found.labels(i, 0) == expected[static_cast<std::size_t>(i)]);
  CHECK(found.communities ==
        static_cast<long>(std::set<int>(expected.begin(), expected.end()).size()));
}

}  // namespace

TEST_CASE("labels of small and random graphs") {
  for (const auto& [name, a] : checks::graphs())
    for (const int iterations : {0, 1, 2, 7}) {
      CAPTURE(name);
      CAPTURE(iterations);
      const auto expected = by_loops(a, iterations);
      check(rig::label_propagation(a, {.iterations = iterations}), expected);
      check(rig::label_propagation(a, {.iterations = iterations}, {.threads = 1}), expected);
    }
}

TEST_CASE("labels of a graph whose labels soon stay") {
  const auto a = checks::of_arcs(3, {{0, 1}, {1, 2}, {2, 0}});
  std::vector<long> changed;
  const auto found = rig::label_propagation(
      a, {.iterations = 100, .progress = [&](int, long count) { changed.push_back(count); }});
  CHECK(found.iterations == static_cast<int>(changed.size()));
  CHECK(found.iterations < 100);
  CHECK(changed.back() == 0);
  CHECK(found.communities == 1);
}

TEST_CASE("label_propagation refuses what it cannot use") {
  checks::check_throws(rig::errc::shape, "label_propagation: A is 2x3",
                       [] { rig::label_propagation(rig::matrix<float>(2, 3)); });
  checks::check_throws(rig::errc::range, "iterations is -1",
                       [] { rig::label_propagation(checks::graph(2, 2), {.iterations = -1}); });
}

TEST_CASE("labels of LDBC's and LAGraph's graphs") {
  if (!checks::has_data()) return;
  for (const std::string of :
       {"cdlp/dir", "cdlp/undir", "example/example-directed", "example/example-undirected"}) {
    CAPTURE(of);
    const bool is_example = of.starts_with("example");
    const auto graph = checks::ldbc(of + "-input");
    const auto names = checks::ldbc_answers(graph, of + (is_example ? "-CDLP" : "-output"));
    std::vector<int> expected;
    for (const double name : names) expected.push_back(graph.at(static_cast<long>(name)));
    check(rig::label_propagation(graph.a, {.iterations = is_example ? 2 : 5}), expected);
  }
  const auto known = checks::known()["cdlp"];
  check(rig::label_propagation(checks::lagraph("jagmesh7"), {.iterations = known["iterations"]}),
        known["jagmesh7"].get<std::vector<int>>());
}

TEST_CASE("labels of the data sets do not depend on threads") {
  for (const auto& [name, a, expected] : checks::data_sets("n", 500000)) {
    CAPTURE(name);
    const auto one = rig::label_propagation(a, {.iterations = 3}, {.threads = 1});
    check(one, by_loops(a, 3));
    const auto two = rig::label_propagation(a, {.iterations = 3}, {.threads = 2});
    CHECK(one.communities == two.communities);
    CHECK(std::equal(one.labels.begin(), one.labels.end(), two.labels.begin()));
  }
}
