// local_clustering: known coefficients, and plain loops on small graphs.

#include "algorithms/graph_checks.hpp"

namespace {

std::vector<double> by_loops(const checks::graph& a, bool directed) {
  const auto around = checks::lists(a, true), to = checks::lists(a, !directed);
  std::vector<double> out;
  for (const auto& of : around) {
    double joined = 0;
    for (const int i : of)
      for (const int j : of) joined += checks::joined(to, i, j);
    const auto d = static_cast<double>(of.size());
    out.push_back(d < 2 ? 0 : joined / (d * (d - 1)));
  }
  return out;
}

void check(const rig::dense<double>& got, const std::vector<double>& expected, double tolerance) {
  REQUIRE(got.rows() == static_cast<int>(expected.size()));
  for (int i = 0; i < got.rows(); ++i)
    CHECK(checks::close(got(i, 0), expected[static_cast<std::size_t>(i)], tolerance));
}

}  // namespace

TEST_CASE("clustering of small and random graphs") {
  for (const auto& [name, a] : checks::graphs())
    for (const bool directed : {false, true}) {
      CAPTURE(name);
      CAPTURE(directed);
      check(rig::local_clustering(a, {.directed = directed}), by_loops(a, directed), 1e-14);
    }
}

TEST_CASE("clustering reports its progress") {
  const auto a = checks::of_arcs(5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}});
  std::vector<std::pair<int, long>> seen;
  rig::local_clustering_options my;
  my.progress = [&](int k, long entries) { seen.emplace_back(k, entries); };
  rig::local_clustering(a, my);
  CHECK(seen == std::vector<std::pair<int, long>>{{1, 8}, {2, 1}, {3, 1}});
  seen.clear();
  my.directed = true;
  rig::local_clustering(a, my);
  CHECK(seen == std::vector<std::pair<int, long>>{{1, 8}, {2, 1}, {3, 1}});
}

TEST_CASE("a node with very many neighbours costs its arcs") {
  const int n = 500000;
  checks::arcs star{{1, 2}};
  for (int i = 1; i < n; ++i) star.emplace_back(0, i);
  for (int i = 3; i < n; i += 2) star.emplace_back(i, 0);
  const auto a = checks::of_arcs(n, star);
  const auto directed = rig::local_clustering(a, {.directed = true}),
             undirected = rig::local_clustering(a);
  CHECK(directed(1, 0) == 0.5);
  CHECK(undirected(1, 0) == 1);
  CHECK(directed(3, 0) == 0);
  CHECK(directed(0, 0) * (n - 1.0) * (n - 2.0) == doctest::Approx(1));
  CHECK(undirected(0, 0) * (n - 1.0) * (n - 2.0) == doctest::Approx(2));
}

TEST_CASE("clustering of a matrix that is not square") {
  checks::check_throws(rig::errc::shape, "local_clustering: A is 2x3",
                       [] { rig::local_clustering(rig::matrix<bool>(2, 3)); });
}

TEST_CASE("clustering of the data sets") {
  for (const auto& [name, a, expected] : checks::data_sets("lcc_mean")) {
    CAPTURE(name);
    const auto found = rig::local_clustering(a);
    CHECK(checks::close(rig::reduce(found, rig::binary::plus) / a.rows(), expected["lcc_mean"],
                        1e-12));
  }
}

TEST_CASE("clustering of LAGraph's and LDBC's graphs") {
  if (!checks::has_data()) return;
  check(rig::local_clustering(checks::lagraph("west0067"), {.directed = true}),
        checks::known()["lcc"]["west0067_directed"], 1e-6);
  for (const std::string of :
       {"lcc/dir", "lcc/undir", "example/example-directed", "example/example-undirected"}) {
    CAPTURE(of);
    const auto graph = checks::ldbc(of + "-input");
    REQUIRE(graph.names.size() > 3);
    const auto expected =
        checks::ldbc_answers(graph, of + (of.starts_with("lcc") ? "-output" : "-LCC"));
    check(rig::local_clustering(graph.a, {.directed = true}), expected, 1e-11);
  }
}
