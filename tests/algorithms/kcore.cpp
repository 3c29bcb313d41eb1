// kcore: known numbers, and peeling one node at a time on small graphs.

#include "algorithms/graph_checks.hpp"

namespace {

std::vector<int> by_loops(checks::neighbours of) {
  std::vector<int> core(of.size(), -1);
  int k = 0;
  for (std::size_t removed = 0; removed < of.size();) {
    bool found = false;
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (core[i] >= 0 || static_cast<int>(of[i].size()) > k) continue;
      core[i] = k;
      for (const int j : of[i]) of[static_cast<std::size_t>(j)].erase(static_cast<int>(i));
      ++removed;
      found = true;
    }
    if (!found) ++k;
  }
  return core;
}

}  // namespace

TEST_CASE("cores of small and random graphs") {
  for (const auto& [name, a] : checks::graphs()) {
    CAPTURE(name);
    const auto expected = by_loops(checks::lists(a, true));
    for (const char* kernel : {"", "push"}) {
      const auto found = rig::kcore(a, {}, {.kernel = kernel});
      REQUIRE(found.cores.rows() == a.rows());
      int most = 0;
      for (int i = 0; i < a.rows(); ++i) {
        CHECK(found.cores(i, 0) == expected[static_cast<std::size_t>(i)]);
        most = std::max(most, expected[static_cast<std::size_t>(i)]);
      }
      CHECK(found.most == most);
    }
  }
}

TEST_CASE("cores of long paths with a clique at one end, whose steps are many") {
  // A path of 40 000 nodes, a cycle of as many, and a clique of 6 that the path leads to.
  const int n = 40000;
  checks::arcs all;
  for (int i = 0; i + 1 < n; ++i) all.emplace_back(i, i + 1);
  for (int i = 0; i < n; ++i) all.emplace_back(n + i, n + (i + 1) % n);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < i; ++j) all.emplace_back(n - 6 + i, n - 6 + j);
  const auto a = checks::of_arcs(2 * n, all);
  int calls = 0;
  const auto found = rig::kcore(a, {.progress = [&](int, long) { ++calls; }});
  CHECK(found.most == 5);
  int wrong = 0;
  for (int i = 0; i < 2 * n; ++i) wrong += found.cores(i, 0) != (i < n - 6 ? 1 : i < n ? 5 : 2);
  CHECK(wrong == 0);
  CHECK(calls == 1);
}

TEST_CASE("kcore reports its progress") {
  std::vector<std::pair<int, long>> seen;
  const auto a = checks::of_arcs(5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}});
  rig::kcore(a, {.progress = [&](int k, long rest) { seen.emplace_back(k, rest); }});
  CHECK(seen == std::vector<std::pair<int, long>>{{0, 4}, {1, 3}, {2, 0}});
}

TEST_CASE("kcore of a matrix that is not square") {
  checks::check_throws(rig::errc::shape, "kcore: A is 2x3",
                       [] { rig::kcore(rig::matrix<float>(2, 3)); });
}

TEST_CASE("cores of the data sets") {
  for (const auto& [name, a, expected] : checks::data_sets("kcore_max")) {
    CAPTURE(name);
    CHECK(rig::kcore(a).most == expected["kcore_max"]);
  }
}
