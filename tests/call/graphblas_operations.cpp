// SuiteSparse:GraphBLAS beside rig on random operations other than products.
//
// Every case draws types, operands, a mask, an accumulator and a descriptor, and compares C⟨M⟩ =
// C ⊙ T of both libraries entry by entry. Values are small multiples of 1/4, so all arithmetic is
// exact.

#include <span>
#include <string>
#include <vector>

#include "graphblas_cases.hpp"
#include "rig/rearrange.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"

namespace {

template <class A, class B>
struct adds {
  const A& a;
  const B& b;
  rig::binary op;
  FORMS(rig::ewise_add, a, b, op)
};
template <class A, class B>
struct multiplies {
  const A& a;
  const B& b;
  rig::binary op;
  FORMS(rig::ewise_mult, a, b, op)
};
template <class A>
struct maps {
  const A& a;
  rig::unary op;
  FORMS(rig::apply, a, op)
};
template <class A, class T>
struct maps_with {
  const A& a;
  rig::binary op;
  T y;
  FORMS(rig::apply, a, op, y)
};
template <class A, class T>
struct maps_before {
  T y;
  rig::binary op;
  const A& a;
  FORMS(rig::apply, y, op, a)
};
template <class A, class T>
struct selects_by {
  const A& a;
  rig::selection how;
  T y;
  FORMS(rig::select, a, how, y)
};
template <class A>
struct transposes {
  const A& a;
  FORMS(rig::transpose, a)
};
template <class A>
struct extracts {
  const A& a;
  rig::indices rows, columns;
  FORMS(rig::extract, a, rows, columns)
};
template <class A, class B>
struct kroneckers {
  const A& a;
  const B& b;
  rig::binary op;
  FORMS(rig::kronecker, a, b, op)
};

template <class T, class U, class R>
void merges(random_bits& random) {
  using common = typename rig::common_element<T, U>::type;
  const int m = size_of_case(random), n = size_of_case(random);
  const setting s(random);
  const auto [op, their_op] = any_of(operators<common>::binary(), random);
  both<T> a(s.ours.transpose_a ? n : m, s.ours.transpose_a ? m : n, random.unit(), random);
  both<U> b(s.ours.transpose_b ? n : m, s.ours.transpose_b ? m : n, random.unit(), random);
  using A = rig::matrix<T>;
  using B = rig::matrix<U>;
  // GraphBLAS copies single entries of a union in the type of C, not of the operator.
  if (!rig::is_comparison(op) &&
      (std::is_same_v<common, R> || rig::rank_of < R >> rig::rank_of<common>))
    compare<R>(
        "ewise_add", m, n, s, random, adds<A, B>{a.ours, b.ours, op},
        [&, their = their_op](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
          ok(GrB_Matrix_eWiseAdd_BinaryOp(c, mask, accum, their, a.other.m, b.other.m, d));
        });
  compare<R>(
      "ewise_mult", m, n, s, random, multiplies<A, B>{a.ours, b.ours, op},
      [&, their = their_op](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
        ok(GrB_Matrix_eWiseMult_BinaryOp(c, mask, accum, their, a.other.m, b.other.m, d));
      });
}

template <class T, class R>
void maps_and_selects(random_bits& random) {
  const int m = size_of_case(random), n = size_of_case(random);
  const setting s(random, true, false);
  both<T> a(s.ours.transpose_a ? n : m, s.ours.transpose_a ? m : n, random.unit(), random);
  using A = rig::matrix<T>;
  const auto [op, their_op] = any_of(operators<T>::unary(), random);
  compare<R>(
      "apply", m, n, s, random, maps<A>{a.ours, op},
      [&, their = their_op](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
        ok(GrB_Matrix_apply(c, mask, accum, their, a.other.m, d));
      });
  const T y = small_value<T>(random);
  const scalar_of_theirs<T> their_y(y);
  const auto [join, their_join] = any_of(operators<T>::binary(), random);
  compare<R>(
      "apply with a number", m, n, s, random, maps_with<A, T>{a.ours, join, y},
      [&, their = their_join](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
        ok(GrB_Matrix_apply_BinaryOp2nd_Scalar(c, mask, accum, their, a.other.m, their_y.s, d));
      });
  const setting t(random, false, false);
  both<T> b(m, n, random.unit(), random);
  compare<R>(
      "apply to a number", m, n, t, random, maps_before<A, T>{y, join, b.ours},
      [&, their = their_join](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
        ok(GrB_Matrix_apply_BinaryOp1st_Scalar(c, mask, accum, their, their_y.s, b.other.m, d));
      });
  if (!std::is_same_v<T, bool>) {
    const auto [how, their_how] = any_of(operators<T>::selections(), random);
    compare<R>("select by value", m, n, s, random, selects_by<A, T>{a.ours, how, y},
               [&, their = their_how](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum,
                                      GrB_Descriptor d) {
                 ok(GrB_Matrix_select_Scalar(c, mask, accum, their, a.other.m, their_y.s, d));
               });
  }
  using enum rig::selection;
  const std::vector<std::pair<rig::selection, GrB_IndexUnaryOp>> places = {
      {lower, GrB_TRIL},           {upper, GrB_TRIU},        {diagonal, GrB_DIAG},
      {off_diagonal, GrB_OFFDIAG}, {row_at_most, GrB_ROWLE}, {row_above, GrB_ROWGT},
      {column_at_most, GrB_COLLE}, {column_above, GrB_COLGT}};
  const auto [where, their_where] = any_of(places, random);
  const long offset = random.below(7) - 3;
  const scalar_of_theirs<long> their_offset(offset);
  compare<R>("select by place", m, n, s, random, selects_by<A, long>{a.ours, where, offset},
             [&, their = their_where](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum,
                                      GrB_Descriptor d) {
               ok(GrB_Matrix_select_Scalar(c, mask, accum, their, a.other.m, their_offset.s, d));
             });
}

template <class T, class R>
void rearranges(random_bits& random) {
  const int m = size_of_case(random), n = size_of_case(random);
  const setting s(random, true, false);
  both<T> a(s.ours.transpose_a ? n : m, s.ours.transpose_a ? m : n, random.unit(), random);
  using A = rig::matrix<T>;
  compare<R>("transpose", n, m, s, random, transposes<A>{a.ours},
             [&](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
               ok(GrB_transpose(c, mask, accum, a.other.m, d));
             });
  const drawn_indices rows(m, true, random), columns(n, true, random);
  compare<R>(
      "extract", rows.count(), columns.count(), s, random,
      extracts<A>{a.ours, rows.ours, columns.ours},
      [&](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
        ok(GrB_Matrix_extract(c, mask, accum, a.other.m, rows.theirs.data(), at(rows.count()),
                              columns.theirs.data(), at(columns.count()), d));
      });
  const setting t(random, true, true);
  both<T> x(3, 4, 0.5, random), y(2, 5, 0.5, random);
  const int kr = (t.ours.transpose_a ? 4 : 3) * (t.ours.transpose_b ? 5 : 2),
            kc = (t.ours.transpose_a ? 3 : 4) * (t.ours.transpose_b ? 2 : 5);
  const auto [join, their_join] = any_of(operators<T>::binary(), random);
  compare<R>(
      "kronecker", kr, kc, t, random, kroneckers<A, A>{x.ours, y.ours, join},
      [&, their = their_join](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
        ok(GrB_Matrix_kronecker_BinaryOp(c, mask, accum, their, x.other.m, y.other.m, d));
      });
}

/// Assignments have only the form into C. A is assigned to a part of C.
template <class T, class R>
struct assigns {
  const rig::matrix<T>& a;
  rig::indices rows, columns;
  template <class, class... Rest>
  rig::matrix<R> fresh(const Rest&... rest) const {
    rig::matrix<R> c(m, n);
    rig::assign(c, rig::none, a, rows, columns, rest...);
    return c;
  }
  template <class... Rest>
  void into(rig::matrix<R>& c, rig::accumulator accum, const Rest&... rest) const {
    rig::assign(c, accum, a, rows, columns, rest...);
  }
  int m, n;
};
template <class R>
struct assigns_number {
  R x;
  rig::indices rows, columns;
  template <class, class... Rest>
  rig::matrix<R> fresh(const Rest&... rest) const {
    rig::matrix<R> c(m, n);
    rig::assign(c, rig::none, x, rows, columns, rest...);
    return c;
  }
  template <class... Rest>
  void into(rig::matrix<R>& c, rig::accumulator accum, const Rest&... rest) const {
    rig::assign(c, accum, x, rows, columns, rest...);
  }
  int m, n;
};

template <class T, class R>
void assignments(random_bits& random) {
  const int m = size_of_case(random), n = size_of_case(random);
  const setting s(random, true, false);
  const drawn_indices rows(m, false, random), columns(n, false, random);
  both<T> a(s.ours.transpose_a ? columns.count() : rows.count(),
            s.ours.transpose_a ? rows.count() : columns.count(), random.unit(), random);
  compare<R>("assign", m, n, s, random, assigns<T, R>{a.ours, rows.ours, columns.ours, m, n},
             [&](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
               ok(GrB_Matrix_assign(c, mask, accum, a.other.m, rows.theirs.data(), at(rows.count()),
                                    columns.theirs.data(), at(columns.count()), d));
             });
  const setting t(random, false, false);
  const R x = small_value<R>(random);
  const scalar_of_theirs<R> their_x(x);
  compare<R>(
      "assign a number", m, n, t, random, assigns_number<R>{x, rows.ours, columns.ours, m, n},
      [&](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
        ok(GrB_Matrix_assign_Scalar(c, mask, accum, their_x.s, rows.theirs.data(), at(rows.count()),
                                    columns.theirs.data(), at(columns.count()), d));
      });
}

/// Vectors of rig as matrices of one row in GraphBLAS.
template <class T, class R>
struct row_sums {
  const rig::matrix<T>& a;
  rig::binary by;
  template <class, class... Rest>
  rig::matrix<R> fresh(const Rest&... rest) const {
    return rig::reduce_rows<R>(a, by, rest...).as_row();
  }
  template <class... Rest>
  void into(rig::matrix<R>& c, rig::accumulator accum, const Rest&... rest) const {
    rig::vector<R> w(c);
    rig::reduce_rows(w, accum, a, by, rest...);
    c = w.as_row();
  }
};

template <class T, class R>
void reductions(random_bits& random) {
  const int m = size_of_case(random), n = size_of_case(random);
  const setting s(random, true, false);
  both<T> a(s.ours.transpose_a ? n : m, s.ours.transpose_a ? m : n, random.unit(), random);
  const auto [by, theirs_by] = any_of(operators<T>::monoids(), random);
  compare<R>(
      "reduce_rows", 1, m, s, random, row_sums<T, R>{a.ours, by},
      [&, their = theirs_by](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
        GrB_Vector w = nullptr;
        GrB_Descriptor transposes = nullptr;
        ok(GrB_Descriptor_new(&transposes));
        if (s.ours.transpose_a) ok(GrB_Descriptor_set(transposes, GrB_INP0, GrB_TRAN));
        ok(GrB_Vector_new(&w, type_in_graphblas<T>(), at(m)));
        ok(GrB_Matrix_reduce_Monoid(w, nullptr, nullptr, their, a.other.m, transposes));
        theirs row(1, m, static_cast<T*>(nullptr));
        std::vector<GrB_Index> index(static_cast<std::size_t>(m));
        for (int i = 0; i < m; ++i) index[static_cast<std::size_t>(i)] = at(i);
        ok(GrB_Row_assign(row.m, nullptr, nullptr, w, 0, index.data(), at(m), nullptr));
        ok(GrB_Descriptor_set(d, GrB_INP0, GxB_DEFAULT));
        ok(GrB_Matrix_apply(c, mask, accum, operators<R>::unary().front().second, row.m, d));
        GrB_Vector_free(&w);
        GrB_Descriptor_free(&transposes);
      });
  ++cases["reduce"];
  T want{};
  ok(operators<T>::sum(&want, nullptr, theirs_by, a.other.m, nullptr));
  CHECK(rig::reduce(a.ours, by) == want);
}

template <class T, class U, class R>
void all_operations(random_bits& random) {
  merges<T, U, R>(random);
  maps_and_selects<T, R>(random);
  rearranges<T, R>(random);
  assignments<T, R>(random);
  reductions<T, R>(random);
}

TEST_CASE("rig and GraphBLAS agree on operations") {
  ok(GrB_init(GrB_BLOCKING));
  random_bits random(test_seed());
  for (int round = 0; round < 60; ++round) {
    all_operations<float, float, float>(random);
    all_operations<double, double, double>(random);
    all_operations<int, int, int>(random);
    all_operations<long, long, long>(random);
    all_operations<bool, bool, bool>(random);
    all_operations<int, float, float>(random);
    all_operations<float, int, double>(random);
    all_operations<bool, int, long>(random);
    all_operations<long, bool, double>(random);
  }
  REQUIRE(print_cases() >= 5000);
  ok(GrB_finalize());
}

}  // namespace
