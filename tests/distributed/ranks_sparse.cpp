// Sparse × sparse over 1 … 7 ranks has the bits of one rank: builtin semirings and own ones, masks,
// shapes, iso parts, transposes, sparse vectors, errors.

#include <doctest/doctest.h>

#include "distributed/product_cases.hpp"

namespace {

using namespace ranks;
using rig::distributed;
using rig::index;
using rig::matrix;

constexpr rig::descriptor one_thread = {.threads = 1};

/// The same pattern and values, each bit.
template <class T>
bool are_same(const matrix<T>& x, const matrix<T>& y) {
  if (x.rows() != y.rows() || x.columns() != y.columns() || x.nnz() != y.nnz()) return false;
  for (index i = 0; i < x.rows(); ++i)
    if (x.structure().offset(i + 1) != y.structure().offset(i + 1)) return false;
  for (rig::int64 p = 0; p < x.nnz(); ++p) {
    const T here = x.value(p), there = y.value(p);
    if (x.structure().column_indices()[p] != y.structure().column_indices()[p] ||
        __builtin_memcmp(&here, &there, sizeof(T)) != 0)
      return false;
  }
  return true;
}

/// Runs product(ranks, layout of A, layout of B) on each number of ranks and kind of layout; its
/// rows are those of `expected`.
template <class T, class Product>
void sweep(const char* words, const matrix<T>& expected, index inner, const Product& product) {
  const matrix<bool> of_a(expected.rows(), 1), of_b(inner, 1);
  for (int size = 1; size <= 7; ++size)
    for (int kind = 0; kind < 2; ++kind) {
      const auto rows = layout_of(of_a.structure(), size, kind, 3);
      const auto of_inner =
          inner == expected.rows() ? rows : layout_of(of_b.structure(), size, kind, 5);
      std::vector<int> right(static_cast<std::size_t>(size));
      run_all(size, [&](const rig::communicator& here) {
        const distributed<matrix<T>> made = product(here, rows, of_inner);
        const auto whole = distributed<matrix<T>>::from_whole(here, expected, rows);
        right[static_cast<std::size_t>(here.rank())] =
            are_same(made.local(), whole.local()) && are_same(made.gather(), expected);
      });
      for (int rank = 0; rank < size; ++rank)
        CHECK_MESSAGE(right[static_cast<std::size_t>(rank)], words, ": rank ", rank, " of ", size,
                      ", layout ", kind);
    }
}
template <class S, class TA, class TB>
void sweep(const matrix<TA>& a, const matrix<TB>& b) {
  sweep(S::name, rig::mxm(a, b, S(), one_thread), b.rows(),
        [&](const rig::communicator& here, const rig::layout& rows, const rig::layout& inner) {
          return rig::mxm(distributed<matrix<TA>>::from_whole(here, a, rows),
                          distributed<matrix<TB>>::from_whole(here, b, inner), S(), one_thread);
        });
}
template <class S, class TA, class TB>
void sweep_builtin(const matrix<TA>& a, const matrix<TB>& b) {
  if constexpr (!rig::is_indexed<rig::output<S>> && !rig::over_ranks::needs_whole_numbers<S>)
    sweep<S>(a, b);
}

/// The sum of a row of A times B, by ascending k: the oracle of one rank's product.
matrix<float> by_hand(const matrix<float>& a, const matrix<float>& b) {
  std::vector<int> i, j;
  std::vector<float> v;
  for (index row = 0; row < a.rows(); ++row) {
    std::vector<float> sum(static_cast<std::size_t>(b.columns()));
    std::vector<char> is_there(sum.size());
    for (auto p = a.structure().offset(row); p < a.structure().offset(row + 1); ++p) {
      const index k = a.structure().column_indices()[p];
      for (auto q = b.structure().offset(k); q < b.structure().offset(k + 1); ++q) {
        const auto at = static_cast<std::size_t>(b.structure().column_indices()[q]);
        const float term = a.value(p) * b.value(q);
        sum[at] = is_there[at] ? sum[at] + term : term;
        is_there[at] = 1;
      }
    }
    for (index column = 0; column < b.columns(); ++column)
      if (is_there[static_cast<std::size_t>(column)]) {
        i.push_back(row);
        j.push_back(column);
        v.push_back(sum[static_cast<std::size_t>(column)]);
      }
  }
  return matrix<float>::from_tuples(a.rows(), b.columns(), i, j, v);
}

TEST_CASE("an oracle that adds by ascending k") {
  const auto a = random_matrix<float>(40, 30, 5, 20), b = random_matrix<float>(30, 50, 4, 21);
  const auto expected = by_hand(a, b), here = rig::mxm(a, b, rig::plus_times<float>(), one_thread);
  REQUIRE(here.nnz() == expected.nnz());
  for (rig::int64 p = 0; p < here.nnz(); ++p)
    CHECK(here.value(p) == doctest::Approx(expected.value(p)).epsilon(1e-5));
}

TEST_CASE("builtin semirings") {
  const auto a = random_matrix<float>(61, 61, 6, 22), b = random_matrix<float>(61, 61, 5, 23);
#define RIG_BUILTIN(name, type)                                      \
  sweep_builtin<rig::name<type>>(random_matrix<type>(61, 61, 6, 22), \
                                 random_matrix<type>(61, 61, 5, 24));
#include "rig/builtin.def"
#undef RIG_BUILTIN
  sweep<rig::plus_times<float>>(a, b);
  sweep<rig::min_plus<float>>(a, b);
  sweep<rig::plus_pair<int>>(a, b);
}

TEST_CASE("semirings of the caller") {
  const auto a = random_matrix<float>(61, 40, 6, 25), b = random_matrix<float>(40, 33, 5, 26);
  sweep<damped>(a, b);
}

TEST_CASE("shapes: empty ranks, more ranks than rows, no entries, no columns") {
  for (const index rows : {0, 1, 3, 20})
    for (const index inner : {0, 1, 25})
      for (const index columns : {0, 1, 30}) {
        const auto seed = static_cast<unsigned>(rows + inner + columns);
        sweep<rig::plus_times<float>>(random_matrix<float>(rows, inner, 4, seed),
                                      random_matrix<float>(inner, columns, 4, seed + 1));
      }
  sweep<rig::plus_times<float>>(matrix<float>(9, 8), random_matrix<float>(8, 7, 3, 27));
  sweep<rig::plus_times<float>>(random_matrix<float>(9, 8, 3, 28), matrix<float>(8, 7));
}

TEST_CASE("iso operands, and stored types") {
  const auto a = random_matrix<float>(50, 50, 6, 29);
  sweep<rig::plus_times<float>>(a.with_value(0.3f), a);
  sweep<rig::plus_times<float>>(a, a.with_value(0.3f));
  sweep<rig::plus_times<float>>(a.with_value(2.0f), a.with_value(0.3f));
  sweep<rig::plus_times<double>>(a, a);
  sweep<rig::plus_times<float>>(random_matrix<rig::half>(50, 50, 6, 30), a);
}

TEST_CASE("iso ranks beside others") {
  const auto a = random_matrix<float>(12, 12, 4, 31), ones = a.with_value(1.0f);
  run_all(3, [&](const rig::communicator& here) {
    const auto rows = rig::layout::contiguous(std::vector<int>{4, 4, 4});
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows),
               iso = distributed<matrix<float>>::from_whole(here, ones, rows);
    const auto mixed = distributed<matrix<float>>::from_rows(
        here, here.rank() == 1 ? iso.local().with_value(2.5f) : iso.local(), rows);
    std::vector<float> values;
    for (index i = 0; i < 12; ++i)
      for (auto p = a.structure().offset(i); p < a.structure().offset(i + 1); ++p)
        values.push_back(i / 4 == 1 ? 2.5f : 1.0f);
    const auto expected = rig::mxm(a, a.with_values(values), rig::plus_times<float>(), one_thread);
    if (!are_same(rig::mxm(part, mixed, rig::plus_times<float>(), one_thread).local(),
                  distributed<matrix<float>>::from_whole(here, expected, rows).local()))
      throw std::runtime_error("another product");
  });
}

TEST_CASE("masks by rows, replace, kernels, a named element") {
  const auto a = random_matrix<float>(40, 40, 6, 32), b = random_matrix<float>(40, 28, 5, 33),
             m = random_matrix<float>(40, 28, 4, 34);
  const auto full = random_dense<float>(40, 28, 35);
  const auto sums = rig::plus_times<float>();
  const auto with = [&](const char* words, const auto& of, const auto& mask_of) {
    sweep(words, rig::mxm(a, b, sums, mask_of(of), one_thread), 40,
          [&](const rig::communicator& here, const rig::layout& rows, const rig::layout&) {
            using container = std::decay_t<decltype(of)>;
            const auto part_of_mask = distributed<container>::from_whole(here, of, rows);
            return rig::mxm(distributed<matrix<float>>::from_whole(here, a, rows),
                            distributed<matrix<float>>::from_whole(here, b, rows), sums,
                            mask_of(part_of_mask), one_thread);
          });
  };
  with("structure", m, [](const auto& of) { return rig::structure(of); });
  with("values", m, [](const auto& of) { return rig::values(of); });
  with("complement", m, [](const auto& of) { return rig::complement(rig::structure(of)); });
  with("values of a dense", full, [](const auto& of) { return rig::values(of); });
  const rig::descriptor named = {.kernel = "gustavson", .threads = 1};
  sweep("double", rig::mxm<double>(a, b, sums, named), 40,
        [&](const rig::communicator& here, const rig::layout& rows, const rig::layout&) {
          return rig::mxm<double>(distributed<matrix<float>>::from_whole(here, a, rows),
                                  distributed<matrix<float>>::from_whole(here, b, rows), sums,
                                  named);
        });
}

TEST_CASE("transposed, a chain, and a sparse vector") {
  const auto a = random_matrix<float>(40, 40, 6, 36);
  const auto sums = rig::plus_times<float>();
  const rig::descriptor turned = {.transpose_a = true, .threads = 1};
  sweep("transposed", rig::mxm(rig::transpose(a), a, sums, one_thread), 40,
        [&](const rig::communicator& here, const rig::layout& rows, const rig::layout&) {
          const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
          return rig::mxm(part, part, sums, turned);
        });
  sweep("a chain", rig::mxm(a, rig::mxm(a, a, sums, one_thread), sums, one_thread), 40,
        [&](const rig::communicator& here, const rig::layout& rows, const rig::layout&) {
          const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
          return rig::mxm(part, rig::mxm(part, part, sums, one_thread), sums, one_thread);
        });
  const auto u = random_matrix<float>(1, 40, 5, 37);
  const auto column = rig::transpose(u);
  sweep("a sparse vector",
        rig::transpose(rig::mxv(a, rig::vector<float>(u), sums, one_thread).as_row()), 40,
        [&](const rig::communicator& here, const rig::layout& rows, const rig::layout&) {
          return rig::mxm(distributed<matrix<float>>::from_whole(here, a, rows),
                          distributed<matrix<float>>::from_whole(here, column, rows), sums,
                          one_thread);
        });
}

TEST_CASE("what one rank refuses, all refuse") {
  const auto a = random_matrix<float>(12, 12, 4, 38);
  const auto sums = rig::plus_times<float>();
  const auto refused = [&](const rig::descriptor& on_last, const rig::descriptor& on_all,
                           const std::string& words) {
    const auto thrown = run(3, [&](const rig::communicator& here) {
      const auto rows = rig::layout::by_entries(a.structure(), 3);
      const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
      rig::mxm(part, part, sums, here.rank() == 2 ? on_last : on_all);
    });
    for (const std::exception_ptr& cause : thrown) {
      REQUIRE(cause != nullptr);
      try {
        std::rethrow_exception(cause);
      } catch (const rig::error& e) {
        CHECK_MESSAGE(std::string(e.what()).find(words) != std::string::npos, e.what());
      }
    }
  };
  refused({.kernel = "none"}, {}, "mxm: rank 2 of 3: the descriptor names kernel 'none'");
  refused({.exchange = rig::exchange::features}, {.exchange = rig::exchange::features},
          "exchange::features takes a dense X");
  refused({.transpose_b = true}, {.transpose_b = true}, "distribute its transpose");
  refused({.transpose_a = true}, {}, "1 of 3 ranks transpose A");
  refused({.fill = 1}, {}, "fill");
}

}  // namespace
