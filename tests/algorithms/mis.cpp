// mis: the set is independent and maximal, and does not depend on threads.

#include "algorithms/graph_checks.hpp"

namespace {

std::vector<bool> members(const rig::vector<bool>& set) {
  std::vector<bool> out(static_cast<std::size_t>(set.size()), false);
  for (long p = 0; p < set.nnz(); ++p) {
    CHECK(set.value(p));
    out[static_cast<std::size_t>(set.indices()[p])] = true;
  }
  return out;
}

void check_set(const checks::graph& a, const rig::vector<bool>& set) {
  REQUIRE(set.size() == a.rows());
  const auto in = members(set);
  std::vector<bool> has_neighbour(in.size(), false);
  const auto t = rig::to_tuples(a);
  bool is_independent = true;
  for (int p = 0; p < t.rows.rows(); ++p) {
    const auto i = static_cast<std::size_t>(t.rows(p, 0)),
               j = static_cast<std::size_t>(t.columns(p, 0));
    if (i == j) continue;
    is_independent = is_independent && !(in[i] && in[j]);
    if (in[i]) has_neighbour[j] = true;
    if (in[j]) has_neighbour[i] = true;
  }
  CHECK(is_independent);
  for (std::size_t i = 0; i < in.size(); ++i)
    if (!in[i] && !has_neighbour[i]) FAIL_CHECK("node " << i << " could join");
}

}  // namespace

TEST_CASE("sets of small and random graphs") {
  for (const auto& [name, a] : checks::graphs())
    for (const long seed : {1l, 2l, -7l}) {
      CAPTURE(name);
      CAPTURE(seed);
      const auto found = rig::mis(a, {.seed = seed});
      check_set(a, found.set);
      CHECK((found.rounds == 0) == (a.rows() == 0));
    }
}

TEST_CASE("a set depends on the seed alone") {
  random_bits random(test_seed());
  const auto a = checks::random_graph(3000, 9000, true, random);
  const auto one = members(rig::mis(a, {}, {.threads = 1}).set);
  CHECK(one == members(rig::mis(a, {}, {.threads = 3}).set));
  CHECK(one == members(rig::mis(a.with_value(2.5), {}, {.kernel = "push"}).set));
  CHECK(one != members(rig::mis(a, {.seed = 2}).set));
}

TEST_CASE("mis reports its progress") {
  random_bits random(test_seed());
  const auto a = checks::random_graph(300, 900, true, random);
  std::vector<long> rest;
  const auto found = rig::mis(a, {.progress = [&](int round, long undecided) {
                                rest.push_back(undecided);
                                CHECK(round == static_cast<int>(rest.size()));
                              }});
  CHECK(found.rounds == static_cast<int>(rest.size()));
  CHECK(rest.back() == 0);
  CHECK(std::is_sorted(rest.rbegin(), rest.rend()));
}

TEST_CASE("mis of a matrix that is not square") {
  checks::check_throws(rig::errc::shape, "mis: A is 2x3",
                       [] { rig::mis(rig::matrix<float>(2, 3)); });
}

TEST_CASE("sets of the data sets") {
  for (const auto& [name, a, expected] : checks::data_sets("n", 2000000)) {
    CAPTURE(name);
    check_set(a, rig::mis(a).set);
  }
}
