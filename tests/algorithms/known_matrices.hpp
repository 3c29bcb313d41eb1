#pragma once

// The known answers of a rectangular or square matrix, on the place where it lies.

#include "algorithms/known_answers.hpp"

namespace checks {

/// What the file holds.
inline void check_entries(const rig::matrix<double>& a, const json& expected) {
  using rig::binary;
  using rig::int64;
  CHECK(a.rows() == expected["rows"]);
  CHECK(a.columns() == expected["cols"]);
  CHECK(a.nnz() == expected["nnz"]);
  CHECK(a.iso() == (expected["field"] == "pattern"));
  CHECK(a.nnz() - rig::select(a, rig::selection::not_equal, 0.0).nnz() == expected["stored_zeros"]);
  if (!expected["diagonal"].is_null()) CHECK(rig::diag(a, 0).nnz() == expected["diagonal"]);
  const json& values = expected["values"];
  const auto absolute = rig::reduce(rig::apply(a, rig::unary::absolute), binary::plus);
  CHECK(
      is_sum(rig::reduce(a, binary::plus), values["sum"], static_cast<double>(a.nnz()), absolute));
  CHECK(is_near(std::sqrt(rig::reduce(rig::ewise_mult(a, a, binary::times), binary::plus)),
                values["fro"]));
  CHECK(rig::reduce(a, binary::minimum) == values["min"]);
  CHECK(rig::reduce(a, binary::maximum) == values["max"]);
}

/// A·Aᵀ or Aᵀ·A, and the entries that its products read.
inline void check_square(const rig::matrix<double>& a, const json& expected, bool transposed,
                         const rig::dense<double>& lengths) {
  CHECK(squares_of(lengths) == expected["products"].get<double>());
  if (!expected.contains("nnz")) return;
  const auto c = rig::mxm(a, a, rig::plus_pair<rig::int64>(),
                          {.transpose_a = transposed, .transpose_b = !transposed});
  CHECK(c.nnz() == expected["nnz"]);
  CHECK(rig::reduce(c, rig::binary::plus) == expected["sum"]);
}

inline void check_matrix(const rig::matrix<double>& a, const json& expected) {
  using rig::binary;
  const rig::plus_times<double> s;
  const rig::descriptor turned{.transpose_a = true};
  const double n = std::max(a.rows(), a.columns());
  check_entries(a, expected);
  const auto of_rows = features(a.rows()), of_columns = features(a.columns());
  const auto left = of_rows.to(a.where()), right = of_columns.to(a.where());
  const auto x = rig::extract(of_columns, rig::all, rig::range{0, 1}).to(a.where());
  check_sums(rig::mxv(a, x, s), expected["spmv"], n, magnitudes(a));
  check_sums(rig::mxm(a, right, s), expected["spmm"], n, magnitudes(a));
  check_sums(rig::mxm(a, left, s, turned), expected["spmm_t"], n, magnitudes(a, turned));
  check_reductions(a, right, expected["spmm_pattern"]);
  check_reductions(a, left, expected["spmm_t_pattern"], turned);
  const auto attention = attention_of(a);
  check_sums(rig::mxm(attention, right, s), expected["gat_softmax"], n, magnitudes(attention));
  check_dots(a, expected["sddmm"]);

  const auto ones = a.with_value(1.0);
  const auto by_row = magnitudes(ones), by_column = magnitudes(ones, turned);
  const auto zeros = [](const rig::dense<double>& of) {
    return rig::reduce(rig::apply<rig::int64>(of, binary::equal, 0.0), binary::plus);
  };
  const json& degree = expected["degree"];
  CHECK(rig::reduce(by_row, binary::maximum) == degree["row_max"]);
  CHECK(rig::reduce(by_column, binary::maximum) == degree["col_max"]);
  CHECK(zeros(by_row) == degree["row_zero"]);
  CHECK(zeros(by_column) == degree["col_zero"]);
  check_square(a, expected["spgemm_aat"], false, by_column);
  check_square(a, expected["spgemm_ata"], true, by_row);
}

}  // namespace checks
