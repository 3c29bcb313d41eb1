#pragma once

// Every operation on containers without rows: made without arguments, and moved from.

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "rig/cbsr.hpp"
#include "rig/graph.hpp"
#include "rig/mxv.hpp"
#include "rig/quantized.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/reorder.hpp"
#include "rig/semirings.hpp"
#include "rig/sparse_mxm.hpp"

/// One container of each kind, all of one state.
struct empty_operands {
  rig::matrix<float> a;
  rig::vector<float> u;
  rig::dense<float> x;
  rig::cbsr<float> y;
  rig::quantized q;

  static empty_operands moved_from() {
    empty_operands out;
    out.a = rig::matrix<float>::from_positions(2, 3, std::vector{0, 1}, std::vector{1, 2}, 4.0f);
    out.u = rig::vector<float>::from_indices(5, std::vector{1, 4}, 2.0f);
    out.x = rig::dense<float>(4, 8, 1.5f);
    out.y = rig::maxk(out.x, 2);
    out.q = rig::quantized::from(out.x);
    const empty_operands taken = std::move(out);
    CHECK(taken.u.nnz() == 2);
    return out;
  }
  /// A vector of a matrix without rows instead.
  static empty_operands of_no_row() {
    empty_operands out;
    out.u = rig::vector<float>(rig::matrix<float>(0, 0));
    return out;
  }
};

template <class T>
void check_none(const rig::matrix<T>& c) {
  CHECK(c.nnz() == 0);
}
template <class T>
void check_none(const rig::vector<T>& c) {
  CHECK(c.nnz() == 0);
  CHECK(c.size() == 0);
  CHECK(c.as_row().rows() == 1);
}
template <class T>
void check_none(const rig::dense<T>& c) {
  CHECK(c.rows() == 0);
}

inline void multiply_nothing(const empty_operands& by) {
  const auto& [a, u, x, y, q] = by;
  const rig::plus_times<float> s;
  const rig::dense<float> column(0, 1);
  check_none(rig::mxm(a, x, s));
  check_none(rig::mxm(a, x, s, rig::structure(a), {.transpose_a = true, .transpose_b = true}));
  check_none(rig::mxm(a, x, s, rig::complement(rig::values(x)), {.replace = true, .fill = 1}));
  check_none(rig::mxm(a, q, s));
  check_none(rig::mxm(x, x, s, rig::structure(a)));
  check_none(rig::mxv(a, column, s));
  check_none(rig::vxm(column, a, s, rig::structure(u)));
  for (const char* kernel : {"", "gustavson"})
    for (const bool transposed : {false, true}) {
      const rig::descriptor desc{
          .transpose_a = transposed, .transpose_b = transposed, .kernel = kernel};
      check_none(rig::mxm(a, a, s, desc));
      check_none(rig::mxm(a, a, s, rig::complement(rig::structure(a)), desc));
      check_none(rig::mxm(a, a, s, rig::values(x), desc));
    }
  check_none(rig::mxm(a, a, s, rig::structure(a), {.kernel = "dot"}));
  for (const char* kernel : {"", "push", "pull"}) {
    const rig::descriptor desc{.kernel = kernel};
    check_none(rig::vxm(u, a, s, desc));
    check_none(rig::mxv(a, u, s, desc));
    check_none(rig::vxm(u, a, s, rig::structure(u), desc));
    check_none(rig::vxm(u, a, s, rig::complement(rig::values(u)), desc));
    check_none(rig::mxv(a, u, s, rig::complement(rig::structure(column)), desc));
  }
}

inline void join_nothing(const empty_operands& by) {
  using rig::binary;
  const auto& [a, u, x, y, q] = by;
  const rig::dense<float> column(0, 1);
  check_none(rig::ewise_add(a, a, binary::plus, {.transpose_b = true}));
  check_none(rig::ewise_mult(a, a, binary::plus, rig::complement(rig::values(a))));
  check_none(rig::ewise_add(a, x, binary::plus));
  check_none(rig::ewise_mult(a, x, binary::minus));
  check_none(rig::ewise_add(x, x, binary::less, rig::values(x)));
  check_none(rig::ewise_add(u, u, binary::plus, rig::structure(u)));
  check_none(rig::ewise_mult(u, u, binary::plus, rig::complement(rig::structure(u))));
  check_none(rig::ewise_add(column, u, binary::plus));
  check_none(rig::ewise_mult(u, column, binary::plus));
  check_none(rig::apply(a, rig::unary::square, rig::structure(a)));
  check_none(rig::apply(u, rig::unary::square, rig::values(u)));
  check_none(rig::apply(x, binary::times, 2.0f, rig::values(a)));
  check_none(rig::select(a, rig::selection::upper, 0));
  check_none(rig::select(u, rig::selection::greater, 0));
  check_none(rig::kronecker(a, a, binary::times));
  CHECK(rig::reduce(a, binary::plus) == 0);
  CHECK(rig::reduce(u, binary::plus) == 0);
  CHECK(rig::reduce(x, binary::maximum) == rig::lowest<float>());
  check_none(rig::reduce_rows(a, binary::plus));
  check_none(rig::reduce_columns(a, binary::plus));
  check_none(rig::reduce_rows(x, binary::plus));
  check_none(rig::reduce_rows(a, rig::arg_max_second<float>()).values);
}

inline void rearrange_nothing(const empty_operands& by) {
  const auto& [a, u, x, y, q] = by;
  check_none(rig::transpose(a));
  check_none(rig::transpose(x));
  check_none(rig::extract(a, rig::all, rig::all));
  check_none(rig::extract(a, std::vector<int>{}, std::vector<int>{}));
  check_none(rig::extract(u, rig::all));
  check_none(rig::extract(x, rig::all, rig::all));
  check_none(rig::diag(u));
  check_none(rig::diag(a, 0));
  check_none(rig::to_tuples(a).rows);
  check_none(u.to_dense(1));
  check_none(rig::vector<float>::from(rig::dense<float>(0, 1)));
  check_none(rig::symmetrise(a));
  check_none(rig::edge_softmax(a));
  check_none(rig::permute(a, rig::reorder(a, rig::ordering::degree)));
  check_none(rig::to_dense(y));
  check_none(rig::to_dense(rig::maxk_gradient(x, y)));
  check_none(q.dequantised<float>());
  auto c = a;
  rig::assign(c, rig::none, a, rig::all, rig::all, rig::structure(a));
  rig::assign(c, rig::accumulator::plus, 2.0f, rig::all, rig::all);
  check_none(c);
  auto w = u;
  rig::assign(w, rig::none, 2.0f, rig::all, rig::complement(rig::structure(u)));
  rig::assign(w, rig::none, u, rig::all);
  rig::vxm(w, rig::accumulator::plus, u, a, rig::plus_times<float>());
  check_none(w);
  auto z = x;
  rig::assign(z, rig::none, 2.0f, rig::all, rig::all, rig::values(x));
  check_none(z);
}

/// Every state.
inline void operate_on_nothing() {
  for (const auto& by :
       {empty_operands(), empty_operands::moved_from(), empty_operands::of_no_row()}) {
    multiply_nothing(by);
    join_nothing(by);
    rearrange_nothing(by);
  }
}
