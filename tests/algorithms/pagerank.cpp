// PageRank against known answers and a plain loop.

#include "rig/algorithms/pagerank.hpp"

#include <cmath>
#include <numeric>

#include "algorithms/known_graphs.hpp"

namespace {

using known::json;

void check_close(const rig::dense<double>& got, const std::vector<double>& expected,
                 double relative, double absolute = 0) {
  REQUIRE(got.rows() == static_cast<int>(expected.size()));
  for (int i = 0; i < got.rows(); ++i) {
    const double y = expected[static_cast<std::size_t>(i)];
    CHECK(std::abs(got(i, 0) - y) <= relative * std::abs(y) + absolute);
  }
}

/// The ranks after some iterations of a plain loop.
std::vector<double> plain_ranks(const std::vector<std::vector<int>>& arcs, int iterations) {
  const auto n = static_cast<double>(arcs.size());
  std::vector<double> ranks(arcs.size(), 1 / n);
  for (int k = 0; k < iterations; ++k) {
    double lost = 0;
    for (std::size_t i = 0; i < arcs.size(); ++i) lost += arcs[i].empty() ? ranks[i] : 0;
    std::vector<double> next(arcs.size(), 0.15 / n + 0.85 * lost / n);
    for (std::size_t i = 0; i < arcs.size(); ++i)
      for (const int j : arcs[i])
        next[static_cast<std::size_t>(j)] += 0.85 * ranks[i] / static_cast<double>(arcs[i].size());
    ranks = next;
  }
  return ranks;
}

}  // namespace

TEST_CASE("published ranks") {
  const json answers = known::lagraph();
  if (answers.is_null()) return;
  for (const std::string name : {"karate", "west0067"}) {
    CAPTURE(name);
    const auto found = rig::pagerank(rig::read_matrix<bool>(known::lagraph_file(name)));
    check_close(found.ranks, answers["pagerank"][name].get<std::vector<double>>(), 0, 5e-5);
  }
}

TEST_CASE("ranks of LDBC's graphs") {
  for (const auto& graph : known::ldbc("PR")) {
    CAPTURE(graph.name);
    // As the data's README says.
    const int iterations = graph.name == "pr/dir-input"     ? 14
                           : graph.name == "pr/undir-input" ? 26
                                                            : 2;
    const auto found =
        rig::pagerank(graph.a, {.tolerance = 0, .most_iterations = iterations}).ranks;
    std::vector<double> expected;
    for (int i = 0; i < graph.a.rows(); ++i) expected.push_back(std::stod(graph.answer(i)));
    CHECK(expected.size() > 5);
    check_close(found, expected, 1e-4);
  }
}

TEST_CASE("ranks of random graphs are those of a plain loop") {
  known::each_random([](const rig::matrix<bool>& a, bool) {
    const auto expected = plain_ranks(known::arcs_of(a), 9);
    for (const int threads : {1, 3}) {
      const auto found = rig::pagerank(a.with_value(0.5f), {.tolerance = 0, .most_iterations = 9},
                                       {.threads = threads});
      check_close(found.ranks, expected, 1e-12);
      const double sum = std::accumulate(found.ranks.begin(), found.ranks.end(), 0.0);
      CHECK(std::abs(sum - (a.rows() > 0 ? 1 : 0)) < 1e-12);
    }
  });
}
