// Products, and what follows from them, against the known answers.

#include "algorithms/known_answers.hpp"

namespace {

using checks::json;
using rig::binary;
using rig::int64;

int64 zeros_of(const rig::dense<int64>& x) {
  return rig::reduce(rig::apply<int64>(x, binary::equal, int64{0}), binary::plus);
}

/// The numbers of entries of each row of A, or of its transpose.
rig::dense<int64> degrees_of(const checks::graph& a, bool transposed) {
  return rig::mxv(a, rig::dense<int64>(a.rows(), 1, 1), rig::plus_second<int64>(),
                  {.transpose_a = transposed});
}

/// exp(e) / Σ exp(e) over each row, e(r, c) = sin(0.11·r − 0.07·c).
rig::matrix<double> attention_of(const checks::graph& a) {
  rig::buffer scores = rig::buffer::allocate(static_cast<std::size_t>(a.nnz()) * sizeof(double));
  for (rig::index r = 0; r < a.rows(); ++r)
    for (int64 e = a.structure().offset(r); e < a.structure().offset(r + 1); ++e)
      scores.data<double>()[e] = std::sin(0.11 * r - 0.07 * a.structure().column_indices()[e]);
  return rig::edge_softmax(rig::matrix<double>(a.shared_structure(), scores));
}

}  // namespace

TEST_CASE("products of the data sets") {
  for (const auto& [name, a, expected] : checks::data_sets("sddmm")) {
    CAPTURE(name);
    checks::check_products(a, expected);
  }
}

TEST_CASE("degrees of the data sets, and attention over their arcs") {
  for (const auto& [name, a, expected] : checks::data_sets("gat_softmax")) {
    CAPTURE(name);
    const auto out = degrees_of(a, false), in = degrees_of(a, true);
    const json& degree = expected["degree"];
    CHECK(rig::reduce(out, binary::maximum) == degree["out_max"]);
    CHECK(rig::reduce(in, binary::maximum) == degree["in_max"]);
    CHECK(zeros_of(out) == degree["out_zero"]);
    CHECK(zeros_of(in) == degree["in_zero"]);
    CHECK(rig::reduce(rig::ewise_mult(out, in, binary::times), binary::plus) ==
          expected["spgemm"]["products"]);
    CHECK(rig::symmetrise(rig::select(a, rig::selection::off_diagonal, 0)).nnz() ==
          2 * expected["undirected_edges"].get<int64>());
    const auto c = rig::mxm(attention_of(a), checks::features(a.rows()), rig::plus_times<double>());
    CHECK(checks::is_near(std::sqrt(checks::squares_of(c)), expected["gat_softmax"]["fro"]));
    CHECK(checks::is_near(rig::reduce(c, binary::plus), expected["gat_softmax"]["total"]));
  }
}

TEST_CASE("features of the data sets") {
  for (const auto& [name, a, expected] : checks::data_sets("features")) {
    CAPTURE(name);
    const json& features = expected["features"];
    const auto x = rig::read_matrix<double>(checks::find(checks::data() / name, "features.mtx"));
    CHECK(x.rows() == features["rows"]);
    CHECK(x.columns() == features["cols"]);
    CHECK(x.nnz() == features["nnz"]);
    const auto fro = [](const rig::matrix<double>& of) {
      return std::sqrt(rig::reduce(rig::ewise_mult(of, of, binary::times), binary::plus));
    };
    CHECK(checks::is_near(fro(x), features["fro"]));
    if (!features.contains("fro_SX")) continue;
    const auto s = rig::gcn_normalise(a.with_value(1.0));
    CHECK(checks::is_near(fro(rig::mxm(s, x, rig::plus_times<double>())), features["fro_SX"]));
  }
}
