// msf: a forest that spans, of the weight that Kruskal's loop finds.

#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "algorithms/graph_checks.hpp"

namespace {

struct trees {
  std::vector<int> parent;
  explicit trees(int n) : parent(static_cast<std::size_t>(n)) {
    std::iota(parent.begin(), parent.end(), 0);
  }
  int root(int i) {
    int& up = parent[static_cast<std::size_t>(i)];
    return up == i ? i : up = root(up);
  }
  bool join(int i, int j) {
    i = root(i);
    j = root(j);
    parent[static_cast<std::size_t>(i)] = j;
    return i != j;
  }
};

using edge = std::tuple<double, int, int>;  // weight, lesser end, greater end

template <class T>
std::vector<edge> kruskal(const rig::matrix<T>& a) {
  std::vector<edge> edges, out;
  const auto t = rig::to_tuples(a);
  for (int p = 0; p < t.rows.rows(); ++p) {
    const int i = t.rows(p, 0), j = t.columns(p, 0);
    if (i != j) edges.emplace_back(t.values(p, 0), std::min(i, j), std::max(i, j));
  }
  std::sort(edges.begin(), edges.end());
  trees all(a.rows());
  for (const auto& [weight, i, j] : edges)
    if (all.join(i, j)) out.emplace_back(weight, i, j);
  std::sort(out.begin(), out.end());
  return out;
}

template <class T>
rig::msf_result check(const rig::matrix<T>& a, const rig::descriptor& desc = {}) {
  const auto found = rig::msf(a, {}, desc);
  const auto expected = kruskal(a);
  REQUIRE(found.forest.rows() == a.rows());
  REQUIRE(found.forest.nnz() == static_cast<long>(expected.size()));
  const auto t = rig::to_tuples(found.forest);
  std::vector<edge> got;
  trees all(a.rows());
  double weight = 0;
  for (int p = 0; p < t.rows.rows(); ++p) {
    const int i = t.rows(p, 0), j = t.columns(p, 0);
    if (!all.join(i, j)) FAIL_CHECK("edge " << i << " " << j << " closes a cycle");
    got.emplace_back(t.values(p, 0), i, j);
    weight += t.values(p, 0);
  }
  std::sort(got.begin(), got.end());
  CHECK((got == expected));
  CHECK((found.weight == weight || checks::close(found.weight, weight, 1e-12)));
  return found;
}

/// Few different weights, so that many tie.
rig::matrix<int> weighted(const checks::graph& a, int most, random_bits& random) {
  std::vector<int> values(static_cast<std::size_t>(a.nnz()));
  for (int& value : values) value = random.below(most) - most / 3;
  return a.with_values(values);
}

rig::matrix<double> synthetic(const checks::graph& a) {
  const auto t = rig::to_tuples(a);
  std::vector<double> values;
  for (int p = 0; p < t.rows.rows(); ++p) {
    const long i = t.rows(p, 0), j = t.columns(p, 0);
    values.push_back(static_cast<double>(1 + (31 * std::min(i, j) + 17 * std::max(i, j)) % 64));
  }
  return a.with_values(values);
}

}  // namespace

TEST_CASE("forests of small and random graphs") {
  random_bits random(test_seed());
  for (const auto& [name, a] : checks::graphs())
    for (const int most : {1, 3, 1000}) {
      CAPTURE(name);
      CAPTURE(most);
      const auto found = check(weighted(a, most, random));
      CHECK((found.rounds == 0) == (found.forest.nnz() == 0));
    }
}

TEST_CASE("a forest of floats, booleans, and infinite weights") {
  const std::vector<int> from{0, 1, 2, 0}, to{1, 2, 0, 3};
  check(rig::matrix<float>::from_tuples(4, 4, from, to, std::vector<float>{.5f, 2, -1, 7}));
  check(rig::matrix<bool>::from_positions(4, 4, from, to));
  const double infinite = std::numeric_limits<double>::infinity();
  check(rig::matrix<double>::from_tuples(4, 4, from, to,
                                         std::vector<double>{infinite, 2, -4, infinite}));
}

TEST_CASE("msf reports its progress, and does not depend on threads") {
  random_bits random(test_seed());
  const auto a = weighted(checks::random_graph(2000, 6000, false, random), 20, random);
  std::vector<long> edges;
  const auto found = rig::msf(a, {.progress = [&](int round, long count) {
                                edges.push_back(count);
                                CHECK(round == static_cast<int>(edges.size()));
                              }});
  CHECK(edges.back() == 0);
  CHECK(std::is_sorted(edges.rbegin(), edges.rend()));
  CHECK(found.rounds == static_cast<int>(edges.size()));
  check(a, {.threads = 1});
  check(a, {.threads = 3});
}

TEST_CASE("msf refuses what it cannot use") {
  checks::check_throws(rig::errc::shape, "msf: A is 2x3",
                       [] { rig::msf(rig::matrix<float>(2, 3)); });
  const auto no_number = rig::matrix<double>::from_tuples(2, 2, std::vector{0}, std::vector{1},
                                                          std::vector<double>{std::nan("")});
  checks::check_throws(rig::errc::range, "msf: a weight is NaN", [&] { rig::msf(no_number); });
}

TEST_CASE("forests of the data sets") {
  for (const auto& [name, a, expected] : checks::data_sets("msf")) {
    CAPTURE(name);
    const bool of_file = expected["msf"]["weights_of"] == "file";
    const auto folder = data::folder() / name;
    const auto found =
        check(of_file ? rig::read_matrix<double>(data::find(folder, "graph.mtx")) : synthetic(a));
    CHECK(found.forest.nnz() == expected["msf"]["edges"]);
    CHECK(checks::close(found.weight, expected["msf"]["weight"], 1e-12));
  }
}
