// SuiteSparse:GraphBLAS beside rig on random operations with dense operands, which are matrices
// with every entry there, and on matrices from tuples.

#include <cstdio>
#include <map>
#include <string>

#include "graphblas_cases.hpp"
#include "rig/reduce.hpp"

namespace {

std::map<std::string, int> cases;

template <class T>
rig::dense<T> dense_of(const both<T>& full) {
  rig::dense<T> out(full.ours.rows(), full.ours.columns());
  const auto t = rig::to_tuples(full.ours);
  for (int p = 0; p < t.rows.rows(); ++p) out(t.rows(p, 0), t.columns(p, 0)) = t.values(p, 0);
  return out;
}

/// Runs C⟨M⟩ = C ⊙ T in both libraries. `mine(C, accum, mask, desc)` is rig's call into C, and
/// `fresh(mask, desc)` the one with a new result, whose places without an entry are the fill.
template <class R, class Into, class Fresh, class Theirs>
void compare(const char* name, int m, int n, const setting& s, random_bits& random, Into into,
             Fresh fresh, Theirs other) {
  ++cases[name];
  both<R> start(m, n, s.fresh ? 0 : 1, random);
  both<int> mask(m, n, 0.5, random);
  rig::dense<R> c = dense_of(start);
  const auto accum =
      s.fresh ? operators<R>::accumulator(0) : operators<R>::accumulator(s.accumulator);
  other(start.other.m, s.masked ? mask.other.m : nullptr, accum.second, s.theirs);
  rig::descriptor desc = s.ours;
  desc.fill = 9;
  const auto run = [&](const auto&... of) {
    if (s.fresh)
      c = fresh(of..., desc);
    else
      into(c, accum.first, of..., desc);
  };
  if (s.masked) {
    const auto of = s.structural ? rig::structure(mask.ours) : rig::values(mask.ours);
    run(s.complemented ? rig::complement(of) : of);
  } else {
    run();
  }
  int wrong = c.rows() != m || c.columns() != n;
  for (int i = 0; i < c.rows(); ++i)
    for (int j = 0; j < c.columns(); ++j) {
      R x{};
      const bool has_entry = get(&x, start.other.m, at(i), at(j)) == GrB_SUCCESS;
      wrong += c(i, j) != (has_entry ? x : rig::convert<R>(9));
    }
  if (wrong > 0)
    FAIL_CHECK(std::string(name), ", C of type ", static_cast<int>(rig::type_of<R>), ": ", m, "x",
               n, " masked ", s.masked, " structural ", s.structural, " complemented ",
               s.complemented, " replace ", s.ours.replace, " fresh ", s.fresh, " accumulator ",
               static_cast<int>(accum.first));
}

// Both forms of a call of rig, as the arguments of compare.
#define BOTH_FORMS(call, ...)                                                              \
  [&](auto& c, auto accum, const auto&... rest) { call(c, accum, __VA_ARGS__, rest...); }, \
      [&](const auto&... rest) { return call<T>(__VA_ARGS__, rest...); }

template <class T>
void element_wise(random_bits& random) {
  const int m = size_of_case(random), n = size_of_case(random);
  const setting s(random, false, false);
  const both<T> x(m, n, 1, random), y(m, n, 1, random), part(m, n, random.unit(), random);
  const rig::dense<T> of_x = dense_of(x), of_y = dense_of(y);
  const auto [op, their_op] = any_of(operators<T>::binary(), random);
  const auto theirs_adds = [&, their = their_op](GrB_Matrix a, GrB_Matrix b) {
    return [=](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
      ok(GrB_Matrix_eWiseAdd_BinaryOp(c, mask, accum, their, a, b, d));
    };
  };
  compare<T>("ewise_add", m, n, s, random, BOTH_FORMS(rig::ewise_add, of_x, of_y, op),
             theirs_adds(x.other.m, y.other.m));
  if (!rig::is_comparison(op)) {
    compare<T>("ewise_add, sparse first", m, n, s, random,
               BOTH_FORMS(rig::ewise_add, part.ours, of_y, op),
               theirs_adds(part.other.m, y.other.m));
    compare<T>("ewise_add, dense first", m, n, s, random,
               BOTH_FORMS(rig::ewise_add, of_x, part.ours, op),
               theirs_adds(x.other.m, part.other.m));
  }
  const auto [f, their_f] = any_of(operators<T>::unary(), random);
  compare<T>(
      "apply", m, n, s, random, BOTH_FORMS(rig::apply, of_x, f),
      [&, their = their_f](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
        ok(GrB_Matrix_apply(c, mask, accum, their, x.other.m, d));
      });
}

template <class T>
void parts(random_bits& random) {
  const int m = size_of_case(random), n = size_of_case(random);
  const setting s(random, false, false);
  const drawn_indices rows(m, true, random), columns(n, true, random);
  const both<T> x(m, n, 1, random);
  const rig::dense<T> of_x = dense_of(x);
  compare<T>(
      "extract", rows.count(), columns.count(), s, random,
      BOTH_FORMS(rig::extract, of_x, rows.ours, columns.ours),
      [&](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
        ok(GrB_Matrix_extract(c, mask, accum, x.other.m, rows.theirs.data(), at(rows.count()),
                              columns.theirs.data(), at(columns.count()), d));
      });
  setting into(random, false, false);
  into.fresh = false;
  const auto no_fresh = [](const auto&...) { return rig::dense<T>(); };
  const drawn_indices to(m, false, random), across(n, false, random);
  const both<T> given(to.count(), across.count(), 1, random);
  const rig::dense<T> of_given = dense_of(given);
  compare<T>(
      "assign", m, n, into, random,
      [&](auto& c, auto accum, const auto&... rest) {
        rig::assign(c, accum, of_given, to.ours, across.ours, rest...);
      },
      no_fresh,
      [&](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
        ok(GrB_Matrix_assign(c, mask, accum, given.other.m, to.theirs.data(), at(to.count()),
                             across.theirs.data(), at(across.count()), d));
      });
  const T number = small_value<T>(random);
  const scalar_of_theirs<T> their_number(number);
  compare<T>(
      "assign a number", m, n, into, random,
      [&](auto& c, auto accum, const auto&... rest) {
        rig::assign(c, accum, number, to.ours, across.ours, rest...);
      },
      no_fresh,
      [&](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
        ok(GrB_Matrix_assign_Scalar(c, mask, accum, their_number.s, to.theirs.data(),
                                    at(to.count()), across.theirs.data(), at(across.count()), d));
      });
}

template <class T>
void sums(random_bits& random) {
  const int m = size_of_case(random), n = size_of_case(random);
  const bool transposes = random.below(2) != 0;
  setting s(random, false, false);
  s.ours.transpose_a = transposes;
  const both<T> x(transposes ? n : m, transposes ? m : n, 1, random);
  const rig::dense<T> of_x = dense_of(x);
  const auto [by, their_by] = any_of(operators<T>::monoids(), random);
  compare<T>(
      "reduce_rows", m, 1, s, random, BOTH_FORMS(rig::reduce_rows, of_x, by),
      [&, their = their_by](GrB_Matrix c, GrB_Matrix mask, GrB_BinaryOp accum, GrB_Descriptor d) {
        GrB_Vector w = nullptr;
        ok(GrB_Vector_new(&w, type_in_graphblas<T>(), at(m)));
        ok(GrB_Matrix_reduce_Monoid(w, nullptr, nullptr, their, x.other.m,
                                    transposes ? GrB_DESC_T0 : nullptr));
        theirs column(m, 1, static_cast<T*>(nullptr));
        ok(GrB_Col_assign(column.m, nullptr, nullptr, w, GrB_ALL, at(m), 0, nullptr));
        ok(GrB_Matrix_apply(c, mask, accum, operators<T>::unary().front().second, column.m, d));
        GrB_Vector_free(&w);
      });
}

template <class T>
void tuples(random_bits& random) {
  const int m = size_of_case(random), n = size_of_case(random), count = random.below(40);
  rig::dense<rig::index> i(count, 1), j(count, 1);
  rig::dense<T> v(count, 1);
  std::map<std::pair<int, int>, T> sums;
  const auto [combine, unused] = operators<T>::accumulator(2 + random.below(5));
  static_cast<void>(unused);
  for (int p = 0; p < count; ++p) {
    i(p, 0) = random.below(m);
    j(p, 0) = random.below(n);
    v(p, 0) = small_value<T>(random);
    const auto [found, is_new] = sums.try_emplace({i(p, 0), j(p, 0)}, v(p, 0));
    if (!is_new) found->second = rig::accumulate(combine, found->second, v(p, 0));
  }
  ++cases["build"];
  const auto op = static_cast<rig::binary>(static_cast<int>(combine) -
                                           static_cast<int>(rig::accumulator::plus));
  const auto made = rig::build(m, n, i, j, v, op);
  CHECK(made.nnz() == static_cast<long>(sums.size()));
  for (const auto& [place, sum] : sums)
    CHECK(rig::at(made, place.first, place.second).value() == sum);
}

template <class T>
void all_operations(random_bits& random) {
  element_wise<T>(random);
  parts<T>(random);
  sums<T>(random);
  tuples<T>(random);
}

TEST_CASE("rig and GraphBLAS agree on dense operands") {
  ok(GrB_init(GrB_BLOCKING));
  random_bits random(test_seed());
  for (int round = 0; round < 60; ++round) {
    all_operations<float>(random);
    all_operations<double>(random);
    all_operations<int>(random);
    all_operations<long>(random);
    all_operations<bool>(random);
  }
  int total = 0;
  for (const auto& [name, count] : cases) {
    std::printf("%5d %s\n", count, name.c_str());
    total += count;
  }
  std::printf("%5d cases beside GraphBLAS\n", total);
  REQUIRE(total >= 2000);
  ok(GrB_finalize());
}

}  // namespace
