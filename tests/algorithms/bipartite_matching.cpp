// bipartite_matching: each matching is held against a cover of the entries by as many rows and
// columns, so no greater one exists (König, 1931).

#include "rig/algorithms/bipartite_matching.hpp"

#include "algorithms/graph_checks.hpp"
#include "rig/generate.hpp"

namespace {

/// Rows and columns on paths from rows without a partner: entries of any kind lead to columns,
/// pairs lead back to rows.
struct reached {
  std::vector<bool> rows, columns;
};
reached reach(const rig::matrix<bool>& a, const rig::bipartite_matching_result& found) {
  reached out{std::vector<bool>(static_cast<std::size_t>(a.rows())),
              std::vector<bool>(static_cast<std::size_t>(a.columns()))};
  std::vector<rig::index> to_visit;
  for (rig::index i = 0; i < a.rows(); ++i)
    if (found.columns(i, 0) < 0) {
      out.rows[static_cast<std::size_t>(i)] = true;
      to_visit.push_back(i);
    }
  while (!to_visit.empty()) {
    const rig::index i = to_visit.back();
    to_visit.pop_back();
    for (rig::int64 p = a.structure().offset(i); p < a.structure().offset(i + 1); ++p) {
      const rig::index j = a.structure().column_indices()[p], back = found.rows(j, 0);
      out.columns[static_cast<std::size_t>(j)] = true;
      REQUIRE(back >= 0);  // else the path to this column would make the matching greater
      if (!out.rows[static_cast<std::size_t>(back)]) {
        out.rows[static_cast<std::size_t>(back)] = true;
        to_visit.push_back(back);
      }
    }
  }
  return out;
}

/// Returns the number of phases.
int check_matching(const rig::matrix<bool>& a) {
  const auto found = rig::bipartite_matching(a);
  REQUIRE(found.columns.rows() == a.rows());
  REQUIRE(found.rows.rows() == a.columns());
  rig::int64 pairs = 0;
  for (rig::index i = 0; i < a.rows(); ++i) {
    const rig::index j = found.columns(i, 0);
    if (j < 0) continue;
    ++pairs;
    CHECK(found.rows(j, 0) == i);
    const rig::index* const begin = a.structure().column_indices() + a.structure().offset(i);
    const rig::index* const end = a.structure().column_indices() + a.structure().offset(i + 1);
    CHECK(std::find(begin, end, j) != end);
  }
  CHECK(found.size == pairs);
  for (rig::index j = 0; j < a.columns(); ++j)
    if (found.rows(j, 0) >= 0) CHECK(found.columns(found.rows(j, 0), 0) == j);

  const reached on = reach(a, found);
  rig::int64 cover = 0;
  for (const bool is_on : on.rows) cover += is_on ? 0 : 1;
  for (const bool is_on : on.columns) cover += is_on ? 1 : 0;
  CHECK(cover == found.size);
  for (rig::index i = 0; i < a.rows(); ++i)
    for (rig::int64 p = a.structure().offset(i); p < a.structure().offset(i + 1); ++p)
      CHECK((!on.rows[static_cast<std::size_t>(i)] ||
             on.columns[static_cast<std::size_t>(a.structure().column_indices()[p])]));
  return found.phases;
}

}  // namespace

TEST_CASE("no cover is smaller than the matching") {
  for (const auto& [name, a] : checks::graphs()) {
    CAPTURE(name);
    check_matching(a);
  }
  check_matching(rig::matrix<bool>(0, 0));
  check_matching(rig::matrix<bool>(3, 0));
  check_matching(rig::matrix<bool>(0, 5));
  for (const char* graph : {"karate", "rmat:10:2", "uniform:2000:1.5", "grid:20:20"}) {
    CAPTURE(graph);
    check_matching(rig::generate::from_text(graph).with_value(true));
  }
}

TEST_CASE("rows and columns may differ in number") {
  int phases = 0;
  for (int seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const rig::index rows = 1 + seed % 13, columns = 1 + seed * 7 % 17;
    std::vector<rig::index> i, j;
    for (rig::index k = 0; k < rows * columns; ++k)
      if ((k * 2654435761u + static_cast<unsigned>(seed) * 40503u) % 97 < 20) {
        i.push_back(k / columns);
        j.push_back(k % columns);
      }
    phases += check_matching(rig::matrix<bool>::from_positions(rows, columns, i, j));
  }
  CHECK(phases > 0);  // the first pairs were not a greatest matching each time
}

TEST_CASE("long paths need no recursion, and a perfect matching is found") {
  // Row i has columns i and i + 1, the last row has column 0 too: greedy pairs have to move along.
  const rig::index n = 200000;
  std::vector<rig::index> i, j;
  for (rig::index k = 0; k < n; ++k) {
    i.insert(i.end(), {k, k});
    j.insert(j.end(), {k, k + 1 < n ? k + 1 : 0});
  }
  i.push_back(n);
  j.push_back(0);
  const auto a = rig::matrix<bool>::from_positions(n + 1, n + 1, i, j);
  const auto found = rig::bipartite_matching(a);
  CHECK(found.size == n);
  check_matching(a);
}

TEST_CASE("sizes that are known") {
  CHECK(rig::bipartite_matching(rig::generate::from_text("karate")).size ==
        27);  // as NetworkX finds
  const auto grid = rig::generate::from_text("grid:10:10");
  CHECK(rig::bipartite_matching(grid).size == 100);
}

TEST_CASE("bipartite_matching reports phases, and refuses what has no meaning") {
  const auto a = checks::of_arcs(3, {{0, 0}, {0, 1}, {1, 0}, {2, 1}});
  int last = 0;
  rig::int64 size = 0;
  const auto found = rig::bipartite_matching(a, {.progress = [&](int phase, rig::int64 pairs) {
                                               CHECK(phase == last + 1);
                                               last = phase;
                                               size = pairs;
                                             }});
  CHECK(found.size == 2);
  CHECK(found.phases == last);
  CHECK((last == 0 || size == 2));
  checks::check_throws(rig::errc::cannot, "bipartite_matching: transpose_a",
                       [&] { rig::bipartite_matching(a, {}, {.transpose_a = true}); });
  checks::check_throws(rig::errc::cannot, "bipartite_matching: kernel",
                       [&] { rig::bipartite_matching(a, {}, {.kernel = "row"}); });
}
