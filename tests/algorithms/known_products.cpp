// Products, and what follows from them, against the known answers.

#include "algorithms/known_answers.hpp"
#include "algorithms/known_matrices.hpp"

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

}  // namespace

TEST_CASE("products of the data sets") {
  for (const auto& [name, a, expected] : checks::data_sets("sddmm")) {
    CAPTURE(name);
    checks::check_products(a, expected);
  }
}

TEST_CASE("degrees of the data sets") {
  for (const auto& [name, a, expected] : checks::data_sets("degree")) {
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
  }
}

TEST_CASE("products of the matrix sets") {
  for (const auto& set : data::sets("spmv", "matrix.mtx")) {
    CAPTURE(set.name);
    checks::check_matrix(rig::read_matrix<double>(set.file), set.answers);
  }
}

namespace {

template <class X>
double norm_of(const X& x) {
  return std::sqrt(rig::reduce(rig::ewise_mult(x, x, binary::times), binary::plus));
}

/// Shape, entries and norm of the features X, and the norm of S·X if A is normalised to S.
template <class X>
void check_features(const checks::graph& a, const X& x, int64 entries, const json& expected) {
  CHECK(x.rows() == expected["rows"]);
  CHECK(x.columns() == expected["cols"]);
  CHECK(entries == expected["nnz"]);
  CHECK(checks::is_near(norm_of(x), expected["fro"]));
  if (!expected.contains("fro_SX")) return;
  const auto s = rig::gcn_normalise(a.with_value(1.0));
  CHECK(checks::is_near(norm_of(rig::mxm(s, x, rig::plus_times<double>())), expected["fro_SX"]));
}

}  // namespace

TEST_CASE("features of the data sets") {
  for (const auto& [name, a, expected] : checks::data_sets("features")) {
    CAPTURE(name);
    const auto x = rig::read_matrix<double>(data::find(data::folder() / name, "features.mtx"));
    check_features(a, x, x.nnz(), expected["features"]);
  }
}

TEST_CASE("dense features of the data sets") {
  for (const auto& [name, a, expected] : checks::data_sets("features_npy")) {
    CAPTURE(name);
    const auto x = rig::read_dense<double>(data::find(data::folder() / name, "features.npy"));
    const auto zeros = rig::reduce(rig::apply<int64>(x, binary::equal, 0.0), binary::plus);
    check_features(a, x, int64{x.rows()} * x.columns() - zeros, expected["features_npy"]);
  }
}
