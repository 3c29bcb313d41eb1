// hits: values of NetworkX, and a plain loop on small graphs.

#include <cmath>
#include <numeric>

#include "algorithms/graph_checks.hpp"
#include "rig/generate.hpp"

namespace {

using numbers = std::vector<double>;

struct plain {
  numbers hubs, authorities;
};

void normalise(numbers& x) {
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  for (double& of : x) of = sum > 0 ? of / sum : 0;
}

/// The hubs and authorities after some iterations.
plain by_loops(const rig::matrix<bool>& a, int iterations) {
  const auto n = static_cast<std::size_t>(a.rows());
  const auto t = rig::to_tuples(a);
  plain out{numbers(n, n == 0 ? 0 : 1.0 / static_cast<double>(n)), numbers(n)};
  for (int k = 0; k < iterations; ++k) {
    numbers hubs(n);
    out.authorities.assign(n, 0);
    for (int p = 0; p < t.rows.rows(); ++p)
      out.authorities[static_cast<std::size_t>(t.columns(p, 0))] +=
          out.hubs[static_cast<std::size_t>(t.rows(p, 0))];
    for (int p = 0; p < t.rows.rows(); ++p)
      hubs[static_cast<std::size_t>(t.rows(p, 0))] +=
          out.authorities[static_cast<std::size_t>(t.columns(p, 0))];
    normalise(hubs);
    out.hubs = hubs;
  }
  normalise(out.authorities);
  return out;
}

void check_close(const rig::dense<double>& got, const numbers& expected, double tolerance) {
  REQUIRE(got.rows() == static_cast<int>(expected.size()));
  for (int i = 0; i < got.rows(); ++i)
    CHECK(std::abs(got(i, 0) - expected[static_cast<std::size_t>(i)]) <= tolerance);
}

}  // namespace

TEST_CASE("hubs and authorities of small and random graphs are those of a plain loop") {
  for (const auto& [name, a] : checks::graphs()) {
    CAPTURE(name);
    const auto expected = by_loops(a, 9);
    for (const char* kernel : {"", "row"}) {
      const auto found =
          rig::hits(a, {.tolerance = 0, .most_iterations = 9}, {.kernel = kernel, .threads = 2});
      check_close(found.hubs, expected.hubs, 1e-12);
      check_close(found.authorities, expected.authorities, 1e-12);
      CHECK(found.iterations == (a.nnz() == 0 ? 0 : 9));
    }
  }
}

TEST_CASE("hubs and authorities that NetworkX finds") {
  // networkx.hits of the arcs 0→1, 0→2, 1→2, 2→0, 3→2, 3→1, 4→3
  const auto a = checks::of_arcs(5, {{0, 1}, {0, 2}, {1, 2}, {2, 0}, {3, 2}, {3, 1}, {4, 3}});
  const auto found = rig::hits(a, {.tolerance = 1e-15});
  check_close(found.hubs, {0.390388203202, 0.219223593596, 0, 0.390388203202, 0}, 1e-9);
  check_close(found.authorities, {0, 0.438447187191, 0.561552812809, 0, 0}, 1e-9);
}

TEST_CASE("hubs of the karate club, which are authorities too") {
  if (!checks::has_data()) return;
  const auto a = rig::generate::from_text("karate");
  const auto found = rig::hits(a);
  // networkx.hits of networkx.karate_club_graph, weights left out
  for (const auto& [node, value] : {std::pair{0, 0.0714127288083}, std::pair{16, 0.0047480318473},
                                    std::pair{33, 0.0750029421566}}) {
    CHECK(std::abs(found.hubs(node, 0) - value) < 1e-8);
    CHECK(std::abs(found.authorities(node, 0) - value) < 1e-8);
  }
  CHECK(found.change < 1e-10);
}

TEST_CASE("hits reports its progress, and refuses what stops it never or at once") {
  const auto a = checks::of_arcs(3, {{0, 1}, {1, 2}, {0, 2}});
  int calls = 0;
  rig::hits(a, {.tolerance = 0, .most_iterations = 4, .progress = [&](int k, double change) {
                  CHECK(k == ++calls);
                  CHECK(change >= 0);
                }});
  CHECK(calls == 4);
  checks::check_throws(rig::errc::range, "hits: tolerance is -1",
                       [&] { rig::hits(a, {.tolerance = -1}); });
  checks::check_throws(rig::errc::range, "hits: most_iterations is 0",
                       [&] { rig::hits(a, {.most_iterations = 0}); });
  checks::check_throws(rig::errc::shape, "hits: A is 2x3",
                       [] { rig::hits(rig::matrix<bool>(2, 3)); });
}
