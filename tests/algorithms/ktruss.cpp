// ktruss: known trusses, and edges removed one at a time on small graphs.

#include "algorithms/graph_checks.hpp"
#include "rig/generate.hpp"

namespace {

int triangles_on(const checks::neighbours& of, int i, int j) {
  int count = 0;
  for (const int k : of[static_cast<std::size_t>(i)]) count += checks::joined(of, j, k) ? 1 : 0;
  return count;
}

checks::neighbours by_loops(checks::neighbours of, int k) {
  const auto find = [&]() -> std::pair<int, int> {
    for (int i = 0; i < static_cast<int>(of.size()); ++i)
      for (const int j : of[static_cast<std::size_t>(i)])
        if (triangles_on(of, i, j) < k - 2) return {i, j};
    return {-1, -1};
  };
  for (auto [i, j] = find(); i >= 0; std::tie(i, j) = find()) {
    of[static_cast<std::size_t>(i)].erase(j);
    of[static_cast<std::size_t>(j)].erase(i);
  }
  return of;
}

}  // namespace

TEST_CASE("trusses of small and random graphs") {
  for (const auto& [name, a] : checks::graphs()) {
    CAPTURE(name);
    for (const int k : {3, 4, 5}) {
      CAPTURE(k);
      const auto expected = by_loops(checks::lists(a, true), k);
      rig::int64 arcs = 0;
      for (const auto& of : expected) arcs += static_cast<rig::int64>(of.size());
      for (const char* kernel : {"", "gustavson"}) {
        const auto found = rig::ktruss(a, k, {}, {.kernel = kernel});
        REQUIRE(found.truss.rows() == a.rows());
        CHECK(found.truss.nnz() == arcs);
        const auto t = rig::to_tuples(found.truss);
        for (int p = 0; p < t.rows.rows(); ++p) {
          const int i = t.rows(p, 0), j = t.columns(p, 0);
          CHECK(checks::joined(expected, i, j));
          CHECK(t.values(p, 0) == triangles_on(expected, i, j));
        }
      }
    }
  }
}

TEST_CASE("edges of the trusses that NetworkX finds in the karate club") {
  const auto a = rig::generate::from_text("karate");
  for (const auto& [k, edges] :
       {std::pair{3, 67}, std::pair{4, 25}, std::pair{5, 14}, std::pair{6, 0}}) {
    CAPTURE(k);
    CHECK(rig::ktruss(a, k).truss.nnz() == 2 * edges);
    CHECK(rig::ktruss(a, k, {.symmetric = true}).truss.nnz() == 2 * edges);
  }
}

TEST_CASE("a 3-truss of the data sets holds each triangle three times") {
  for (const auto& [name, a, expected] : checks::data_sets("triangles", 500000)) {
    CAPTURE(name);
    const auto found = rig::ktruss(a, 3);
    CHECK(rig::reduce(found.truss, rig::binary::plus) ==
          6 * expected["triangles"]["count"].get<rig::int64>());
  }
}

TEST_CASE("ktruss reports its progress, and refuses a k below 3") {
  const auto a = checks::of_arcs(5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 3}});
  std::vector<std::pair<int, long>> seen;
  rig::ktruss(a, 3, {.progress = [&](int k, long edges) { seen.emplace_back(k, edges); }});
  CHECK(seen == std::vector<std::pair<int, long>>{{1, 3}, {2, 3}});
  checks::check_throws(rig::errc::range, "ktruss: k is 2; give at least 3",
                       [&] { rig::ktruss(a, 2); });
  checks::check_throws(rig::errc::shape, "ktruss: A is 2x3",
                       [] { rig::ktruss(rig::matrix<float>(2, 3), 3); });
}
