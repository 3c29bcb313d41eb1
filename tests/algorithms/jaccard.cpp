// jaccard: sets of neighbours compared one by one.

#include "algorithms/graph_checks.hpp"

namespace {

struct overlap {
  int common = 0, united = 0;
  double share() const { return static_cast<double>(common) / united; }
};

overlap compare(const checks::neighbours& of, int i, int j) {
  overlap out;
  const auto &x = of[static_cast<std::size_t>(i)], &y = of[static_cast<std::size_t>(j)];
  for (const int k : x) out.common += static_cast<int>(y.count(k));
  out.united = static_cast<int>(x.size() + y.size()) - out.common;
  return out;
}

}  // namespace

TEST_CASE("similarities with one node of small and random graphs") {
  for (const auto& [name, a] : checks::graphs()) {
    CAPTURE(name);
    const auto of = checks::lists(a, true);
    for (int i = 0; i < a.rows(); i += 1 + a.rows() / 5) {
      const auto found = rig::jaccard(a, i);
      REQUIRE(found.size() == a.rows());
      for (int j = 0; j < a.rows(); ++j) {
        const auto expected = compare(of, i, j);
        const auto got = rig::at(found, j);
        CHECK(got.has_value() == (j != i && expected.common > 0));
        if (got.has_value()) CHECK(*got == expected.share());
      }
    }
  }
}

TEST_CASE("similarities of edges of small and random graphs") {
  for (const auto& [name, a] : checks::graphs()) {
    CAPTURE(name);
    const auto of = checks::lists(a, true);
    const auto found = rig::jaccard_of_edges(a);
    long edges = 0;
    for (const auto& row : of) edges += static_cast<long>(row.size());
    REQUIRE(found.nnz() == edges);
    const auto t = rig::to_tuples(found);
    for (int p = 0; p < t.rows.rows(); ++p) {
      REQUIRE(checks::joined(of, t.rows(p, 0), t.columns(p, 0)));
      CHECK(t.values(p, 0) == compare(of, t.rows(p, 0), t.columns(p, 0)).share());
    }
  }
}

TEST_CASE("jaccard reports its progress") {
  const auto a = checks::of_arcs(5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}});
  std::vector<std::pair<int, long>> seen;
  const rig::jaccard_options my{
      .progress = [&](int k, long entries) { seen.emplace_back(k, entries); }};
  rig::jaccard(a, 0, my);
  CHECK(seen == std::vector<std::pair<int, long>>{{1, 8}, {2, 4}});
  seen.clear();
  rig::jaccard_of_edges(a, my);
  CHECK(seen == std::vector<std::pair<int, long>>{{1, 8}, {2, 6}});
}

TEST_CASE("jaccard refuses what it cannot use") {
  checks::check_throws(rig::errc::shape, "jaccard: A is 2x3",
                       [] { rig::jaccard(rig::matrix<float>(2, 3), 0); });
  checks::check_throws(rig::errc::shape, "jaccard_of_edges: A is 2x3",
                       [] { rig::jaccard_of_edges(rig::matrix<float>(2, 3)); });
  for (const int node : {-1, 4})
    checks::check_throws(rig::errc::range, "but A has 4 nodes",
                         [&] { rig::jaccard(checks::graph(4, 4), node); });
}

TEST_CASE("one node's similarities in the data sets are those of its edges") {
  for (const auto& [name, a, expected] : checks::data_sets("n", 100000)) {
    CAPTURE(name);
    const int hub = expected["hub"];
    const auto of_node = rig::jaccard(a, hub);
    const auto of_edges = rig::extract_row(rig::jaccard_of_edges(a), hub);
    CHECK(of_edges.nnz() > 0);
    for (long p = 0; p < of_edges.nnz(); ++p)
      CHECK(rig::at(of_node, of_edges.indices()[p]).value_or(0) == of_edges.value(p));
  }
}
