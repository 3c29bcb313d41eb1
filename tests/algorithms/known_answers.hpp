#pragma once

// The known answers of a data set, on the place where its graph lies.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

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

/// Whether x is y but for rounding; for sums of terms of one sign.
inline bool is_near(double x, double y) { return std::abs(x - y) <= 1e-9 * std::abs(y); }

/// Whether x is the sum y but for rounding: n·eps of its terms, whose magnitudes add up to `terms`.
/// Features are sines of up to n, which round alike.
inline bool is_sum(double x, double y, double n, double terms) {
  return std::abs(x - y) <= n * std::numeric_limits<double>::epsilon() * terms;
}

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

/// exp(e) / Σ exp(e) over each row, e(r, c) = sin(0.11·r − 0.07·c).
template <class T>
rig::matrix<double> attention_of(const rig::matrix<T>& of) {
  const auto a = of.to(rig::cpu());
  rig::buffer scores = rig::buffer::allocate(static_cast<std::size_t>(a.nnz()) * sizeof(double));
  for (rig::index r = 0; r < a.rows(); ++r)
    for (rig::int64 e = a.structure().offset(r); e < a.structure().offset(r + 1); ++e)
      scores.data<double>()[e] = std::sin(0.11 * r - 0.07 * a.structure().column_indices()[e]);
  return rig::edge_softmax(rig::matrix<double>(a.shared_structure(), scores).to(of.where()));
}

/// The sum of the magnitudes of each row of op(A), which bounds those of A·B if |B| is at most 1.
inline rig::dense<double> magnitudes(const rig::matrix<double>& a, const rig::descriptor& op = {}) {
  const auto b = rig::dense<double>(op.transpose_a ? a.rows() : a.columns(), 1, 1).to(a.where());
  return rig::mxv(rig::apply(a, rig::unary::absolute), b, rig::plus_times<double>(), op)
      .to(rig::cpu());
}

/// Norm, total and some elements of a product C, the sums of whose rows have terms of these
/// magnitudes.
inline void check_sums(const rig::dense<double>& c, const json& expected, double n,
                       const rig::dense<double>& terms) {
  using rig::binary;
  CHECK(is_near(std::sqrt(squares_of(c)), expected["fro"]));
  CHECK(is_sum(rig::reduce(c, binary::plus), expected["total"], n,
               c.columns() * rig::reduce(terms, binary::plus)));
  const auto here = c.to(rig::cpu());
  const auto check_element = [&](const std::string& row, int j, double value) {
    const int i = std::stoi(row);
    CHECK(is_sum(here(i, j), value, n, terms(i, 0)));
  };
  if (expected.contains("at"))
    for (const auto& [row, value] : expected["at"].items()) check_element(row, 0, value);
  if (expected.contains("rows"))
    for (const auto& [row, values] : expected["rows"].items()) {
      CHECK(values.size() == 4);
      for (int j = 0; j < 4; ++j)
        check_element(row, j, values[static_cast<std::size_t>(j)].get<double>());
    }
}

/// Sum, mean, max and min of the rows of B that the rows of op(A) name.
template <class T>
void check_reductions(const rig::matrix<T>& a, const rig::dense<double>& b, const json& expected,
                      rig::descriptor op = {}) {
  const double n = std::max(a.rows(), a.columns());
  const auto lengths = magnitudes(a.with_value(1.0), op);
  const auto one = rig::apply(lengths, rig::binary::minimum, 1.0);
  op.fill = 0;
  check_sums(rig::mxm(a, b, rig::plus_second<double>(), op), expected["sum"], n, lengths);
  check_sums(rig::mxm(a, b, rig::mean_second<double>(), op), expected["mean"], n, one);
  check_sums(rig::mxm(a, b, rig::max_second<double>(), op), expected["max"], n, one);
  check_sums(rig::mxm(a, b, rig::min_second<double>(), op), expected["min"], n, one);
}

/// Σ and Σ² of the dot products of rows of two features under A.
template <class T>
void check_dots(const rig::matrix<T>& a, const json& expected) {
  using rig::binary;
  const auto left = features(a.rows()).to(a.where()), right = features(a.columns()).to(a.where());
  const auto dots =
      rig::mxm(left, right, rig::plus_times<double>(), rig::structure(a), {.transpose_b = true});
  CHECK(dots.shared_structure() == a.shared_structure());
  CHECK(is_sum(rig::reduce(dots, binary::plus), expected["sum"], std::max(a.rows(), a.columns()),
               left.columns() * static_cast<double>(a.nnz())));
  CHECK(is_near(rig::reduce(rig::ewise_mult(dots, dots, binary::times), binary::plus),
                expected["sum_squares"]));
}

/// Products of A, and of what normalises it, with features.
inline void check_dense_products(const graph& a, const json& expected) {
  const auto b = features(a.rows()).to(a.where());
  const rig::plus_times<double> s;
  const double n = a.rows();
  check_reductions(a, b, expected["spmm"]);
  if (expected.contains("spmm_t"))
    check_reductions(a, b, expected["spmm_t"], {.transpose_a = true});
  if (expected.contains("gcn")) {
    const auto normal = rig::gcn_normalise(a.with_value(1.0));
    check_sums(rig::mxm(normal, b, s), expected["gcn"], n, magnitudes(normal));
  }
  const auto attention = attention_of(a);
  check_sums(rig::mxm(attention, b, s), expected["gat_softmax"], n, magnitudes(attention));
  check_dots(a, expected["sddmm"]);
}

/// Ranks, the greatest of them by value: nodes may tie.
inline void check_ranks(const graph& a, const json& expected) {
  const auto found = rig::pagerank(a);
  auto ranks = found.ranks.to(rig::cpu());
  CHECK(std::abs(found.iterations - expected["iterations"].get<int>()) <= 1);
  CHECK(is_near(std::sqrt(squares_of(ranks)), expected["fro"]));
  for (const auto& [node, rank] : expected["at"].items())
    CHECK(is_near(ranks(std::stoi(node), 0), rank));
  const json& top = expected["top"];
  for (const auto& place : top) CHECK(is_near(ranks(place[0].get<int>(), 0), place[1]));
  std::sort(ranks.begin(), ranks.end(), std::greater<>());
  for (std::size_t k = 0; k < top.size(); ++k) CHECK(is_near(ranks.begin()[k], top[k][1]));
}

/// A·A, whole and masked, triangles by node, ranks, and products with features.
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
  const auto u = rig::symmetrise(rig::select(a, rig::selection::off_diagonal, 0).with_value(true));
  const auto twice = rig::reduce_rows(rig::mxm(u, u, count, rig::structure(u)), binary::plus);
  const auto twice_by_node = twice.to_dense(0);
  CHECK(squares_of(twice_by_node) ==
        4 * expected["triangles"]["sum_squares_per_node"].get<int64>());
  check_dense_products(a, expected);
  check_ranks(a, expected["pagerank"]);
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
