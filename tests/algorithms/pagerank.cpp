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

TEST_CASE("jumps to some nodes only") {
  // networkx.pagerank with personalization={0: 1, 4: 2}, tol=1e-16
  const auto a = rig::matrix<bool>::from_positions(6, 6, std::vector{0, 0, 1, 2, 3, 3, 4, 2},
                                                   std::vector{1, 2, 2, 0, 2, 1, 3, 5});
  rig::dense<double> to(6, 1, 0.0);
  to(0, 0) = 1;
  to(4, 0) = 2;
  const rig::pagerank_options given{.tolerance = 1e-15, .personalised = to};
  check_close(rig::pagerank(a, given).ranks,
              {0.191127653958, 0.139865946565, 0.258752001146, 0.137968690901, 0.162316106943,
               0.109969600487},
              1e-10);
  check_close(rig::pagerank(a, {.damping = 0, .personalised = to}).ranks,
              {1.0 / 3, 0, 0, 0, 2.0 / 3, 0}, 1e-15);
  const auto alike = rig::pagerank(a, {.personalised = rig::dense<double>(6, 1, 0.5)}).ranks;
  const auto plain = rig::pagerank(a).ranks;
  check_close(alike, {plain.begin(), plain.end()}, 1e-12);
}

TEST_CASE("jumps that lead nowhere are refused") {
  const rig::matrix<bool> a(3, 3);
  const auto refuses = [&](rig::errc code, const std::string& text, const rig::dense<double>& to) {
    try {
      rig::pagerank(a, {.personalised = to});
      FAIL_CHECK("nothing was thrown: " << text);
    } catch (const rig::error& bad) {
      CHECK(bad.code() == code);
      CHECK(std::string(bad.what()).find(text) != std::string::npos);
    }
  };
  refuses(rig::errc::shape, "pagerank: personalised is 2x1; give 3x1",
          rig::dense<double>(2, 1, 1.0));
  refuses(rig::errc::shape, "pagerank: personalised is 3x2", rig::dense<double>(3, 2, 1.0));
  refuses(rig::errc::range, "their sum 0;", rig::dense<double>(3, 1, 0.0));
  for (const double bad : {-1.0, std::nan(""), HUGE_VAL}) {
    rig::dense<double> to(3, 1, 1.0);
    to(1, 0) = bad;
    refuses(rig::errc::range, "pagerank: the least number of personalised is", to);
  }
}
