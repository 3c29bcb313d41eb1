// Betweenness against known answers and a plain loop of Brandes.

#include "rig/algorithms/betweenness.hpp"

#include <cmath>
#include <numeric>

#include "algorithms/known_graphs.hpp"

namespace {

using known::json;

/// What a plain search from one source adds.
void add_source(const std::vector<std::vector<int>>& arcs, int source, std::vector<double>& to) {
  const auto level = known::levels_of(arcs, source);
  std::vector<int> order;
  for (std::size_t i = 0; i < level.size(); ++i)
    if (level[i] >= 0) order.push_back(static_cast<int>(i));
  const auto level_of = [&](int i) { return level[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int x, int y) { return level_of(x) < level_of(y); });
  std::vector<double> paths(level.size(), 0), share(level.size(), 0);
  paths[static_cast<std::size_t>(source)] = 1;
  const auto each_step = [&](int i, auto visit) {
    for (const int j : arcs[static_cast<std::size_t>(i)])
      if (level_of(j) == level_of(i) + 1)
        visit(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
  };
  for (const int i : order)
    each_step(i, [&](std::size_t x, std::size_t y) { paths[y] += paths[x]; });
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    each_step(*i, [&](std::size_t x, std::size_t y) {
      share[x] += paths[x] / paths[y] * (1 + share[y]);
    });
    if (*i != source) to[static_cast<std::size_t>(*i)] += share[static_cast<std::size_t>(*i)];
  }
}

void check_close(const rig::dense<double>& got, const std::vector<double>& expected,
                 double tolerance) {
  REQUIRE(got.rows() == static_cast<int>(expected.size()));
  for (int i = 0; i < got.rows(); ++i) {
    const double x = got(i, 0), y = expected[static_cast<std::size_t>(i)];
    CHECK(std::abs(x - y) <= tolerance * std::max(1.0, std::abs(y)));
  }
}

}  // namespace

TEST_CASE("betweenness of the data sets, from every node") {
  for (const auto& graph : known::with("betweenness")) {
    CAPTURE(graph.name);
    const json& expected = graph.expected["betweenness"];
    const double scale = graph.expected["symmetric"].get<bool>() ? 0.5 : 1;
    const auto found = rig::betweenness(graph.load());
    const double sum = scale * std::accumulate(found.begin(), found.end(), 0.0);
    CHECK(std::abs(sum - expected["sum"].get<double>()) <= 1e-9 * sum);
    for (const auto& place : expected["top"]) {
      const double value = place[1].get<double>();
      CHECK(std::abs(scale * found(place[0].get<int>(), 0) - value) <= 1e-9 * value);
    }
  }
}

TEST_CASE("published betweenness from four sources") {
  const json answers = known::lagraph();
  if (answers.is_null()) return;
  for (const std::string name : {"karate", "west0067"}) {
    CAPTURE(name);
    const json& expected = answers["betweenness_from_4_sources"][name];
    const auto a = rig::read_matrix<double>(known::lagraph_file(name));
    check_close(rig::betweenness(a, expected["sources"].get<std::vector<int>>()),
                expected["bc"].get<std::vector<double>>(), 1e-4);
  }
}

TEST_CASE("betweenness of random graphs is that of a plain loop, by any batch") {
  known::each_random([](const rig::matrix<bool>& a, bool) {
    const auto arcs = known::arcs_of(a);
    std::vector<int> some;
    for (int k = 0; k < std::min(a.rows(), 5); ++k) some.push_back((k * 7 + 3) % a.rows());
    std::vector<double> of_some(arcs.size(), 0), of_all(arcs.size(), 0);
    for (const int source : some) add_source(arcs, source, of_some);
    for (int source = 0; source < a.rows(); ++source) add_source(arcs, source, of_all);
    for (const int batch : {1, 3, 32, 1000}) {
      rig::int64 done = 0;
      rig::betweenness_options my{.batch = batch, .progress = [&](rig::int64 sources) {
                                    CHECK(sources > done);
                                    done = sources;
                                  }};
      check_close(rig::betweenness(a.with_value(0.0f), some, my), of_some, 1e-12);
      CHECK(done == static_cast<rig::int64>(some.size()));
      const std::vector<long> as_long(some.begin(), some.end());
      done = 0;
      // A kernel of dense products makes all levels dense.
      check_close(rig::betweenness(a, as_long, my, {.kernel = "row"}), of_some, 1e-12);
      CHECK(done == static_cast<rig::int64>(some.size()));
      done = 0;
      if (batch > 1) check_close(rig::betweenness(a, my), of_all, 1e-12);
    }
  });
}

TEST_CASE("wrong input") {
  using rig::errc;
  const rig::matrix<bool> wide(2, 3), five(5, 5);
  known::check_error(errc::shape, "betweenness: A is 2x3", [&] { rig::betweenness(wide); });
  known::check_error(errc::range, "betweenness: source is 5", [&] {
    rig::betweenness(five, std::vector{1, 5});
  });
  known::check_error(errc::range, "betweenness: batch is 0",
                     [&] { rig::betweenness(five, {.batch = 0}); });
}
