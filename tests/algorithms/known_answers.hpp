#pragma once

// The known answers of a data set, on the place where its graph lies.

#include <cmath>

#include "algorithms/graph_checks.hpp"
#include "rig/user_semiring.hpp"

namespace checks {

RIG_OPERATOR(
    feature, static constexpr double apply(double, rig::index i, rig::index j, double) {
      return i * 0.37 + j * 1.13;
    });
RIG_OPERATOR(
    weight_of_arc,
    static constexpr rig::int64 apply(bool, rig::index i, rig::index j, rig::int64 n) {
      const rig::int64 low = i < j ? i : j, high = i < j ? j : i;
      return 1 + (31 * low + 17 * high) % n;
    });

/// Whether x is y but for rounding.
inline bool is_near(double x, double y) { return std::abs(x - y) <= 1e-9 * std::abs(y); }

/// The sum of squares.
template <class T>
T squares_of(const rig::dense<T>& x) {
  return rig::reduce(rig::ewise_mult(x, x, rig::binary::times), rig::binary::plus);
}

/// The n×32 of expected.py.
inline rig::dense<double> features(rig::index n) {
  rig::dense<double> out(n, 32);
  rig::apply(out, rig::none, out, feature(), 0.0);
  for (double& x : out) x = std::sin(x);
  return out;
}

/// A·A, whole and masked, B·Bᵀ under A, triangles by node, and ranks.
inline void check_products(const graph& a, const json& expected) {
  using rig::binary;
  using rig::int64;
  const rig::plus_pair<int64> count;
  if (expected.contains("spgemm_masked")) {
    const auto squared = rig::mxm(a, a, count);
    CHECK(squared.nnz() == expected["spgemm"]["nnz"]);
    CHECK(rig::reduce(squared, binary::plus) == expected["spgemm"]["sum"]);
    CHECK(rig::reduce(rig::mxm(a, a, count, rig::structure(a)), binary::plus) ==
          expected["spgemm_masked"]);
  }
  const auto b = features(a.rows()).to(a.where());
  const auto dots =
      rig::mxm(b, b, rig::plus_times<double>(), rig::structure(a), {.transpose_b = true});
  const json& sddmm = expected["sddmm"];
  CHECK(dots.shared_structure() == a.shared_structure());
  CHECK(is_near(rig::reduce(dots, binary::plus), sddmm["sum"]));
  CHECK(is_near(rig::reduce(rig::ewise_mult(dots, dots, binary::times), binary::plus),
                sddmm["sum_squares"]));

  const auto u = rig::symmetrise(rig::select(a, rig::selection::off_diagonal, 0).with_value(true));
  const auto twice = rig::reduce_rows(rig::mxm(u, u, count, rig::structure(u)), binary::plus);
  const auto twice_by_node = twice.to_dense(0);
  CHECK(squares_of(twice_by_node) ==
        4 * expected["triangles"]["sum_squares_per_node"].get<int64>());

  const json& pagerank = expected["pagerank"];
  const auto ranks = rig::pagerank(a).ranks.to(rig::cpu());
  CHECK(is_near(std::sqrt(squares_of(ranks)), pagerank["fro"]));
  for (const auto& [node, rank] : pagerank["at"].items())
    CHECK(is_near(ranks(std::stoi(node), 0), rank));
}

/// What the algorithms find.
inline void check_algorithms(const graph& a, const json& expected) {
  const auto components = rig::components(a);
  CHECK(components.count == expected["wcc"]["count"]);
  CHECK(rig::reduce(rig::apply<rig::int64>(components.labels, rig::unary::identity),
                    rig::binary::plus) == expected["wcc"]["sum_min_index"]);
  CHECK(rig::scc(a).count == expected["scc"]["count"]);
  const auto weights = rig::apply<rig::int64>(a, weight_of_arc(), rig::int64{64});
  const int hub = expected["hub"];
  for (const auto& [source, of_bfs, of_sssp] :
       {std::tuple{0, "bfs", "sssp_syn"}, std::tuple{hub, "bfs_hub", "sssp_syn_hub"}}) {
    const auto levels = rig::bfs(a, source);
    CHECK(levels.reached == expected[of_bfs]["reached"]);
    CHECK(levels.max_level == expected[of_bfs]["max"]);
    const auto found = rig::sssp(weights, source);
    CHECK(found.reached == expected[of_sssp]["reached"]);
    double sum = 0;
    for (const rig::int64 distance : found.distances.to(rig::cpu()))
      if (distance != rig::highest<rig::int64>()) sum += static_cast<double>(distance);
    CHECK(sum == expected[of_sssp]["sum"]);
  }
  CHECK(rig::triangles(a) == expected["triangles"]["count"]);
  CHECK(is_near(rig::reduce(rig::local_clustering(a), rig::binary::plus) / a.rows(),
                expected["lcc_mean"]));
  CHECK(rig::kcore(a).most == expected["kcore_max"]);
  if (expected.contains("msf") && expected["msf"]["weights_of"] != "file") {
    const auto found = rig::msf(weights);
    CHECK(found.forest.nnz() == expected["msf"]["edges"]);
    CHECK(found.weight == expected["msf"]["weight"]);
  }
}

}  // namespace checks
