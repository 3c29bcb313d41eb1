// Tuples and transposes large enough for several threads, beside std::stable_sort.

#include <doctest/doctest.h>
#include <omp.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "battery.hpp"
#include "provoked.hpp"
#include "rig/rearrange.hpp"

namespace {

using rig::index;

struct tuples {
  std::vector<index> i, j;
  std::vector<int> v;
};

/// `count` random tuples; every `hot` one lies in row 0. Duplicates occur.
tuples random_tuples(index rows, index columns, int count, int hot) {
  random_bits random(test_seed());
  tuples out;
  for (int p = 0; p < count; ++p) {
    out.i.push_back(p % hot == 0 ? 0 : random.below(rows));
    out.j.push_back(random.below(columns));
    out.v.push_back(p);
  }
  return out;
}

/// Whether C has each place once, with the numbers of its tuples joined in order.
void check_built(const rig::matrix<int>& c, const tuples& t) {
  std::vector<std::size_t> order(t.i.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t p, std::size_t q) {
    return t.i[p] != t.i[q] ? t.i[p] < t.i[q] : t.j[p] < t.j[q];
  });
  long place = -1, wrong = 0;
  int value = 0;
  const auto got = rig::to_tuples(c);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t p = order[k];
    const bool repeats = k > 0 && t.i[p] == t.i[order[k - 1]] && t.j[p] == t.j[order[k - 1]];
    place += repeats ? 0 : 1;
    value = repeats ? 3 * value - t.v[p] : t.v[p];
    const bool is_last =
        k + 1 == order.size() || t.i[p] != t.i[order[k + 1]] || t.j[p] != t.j[order[k + 1]];
    const auto at = static_cast<index>(place);
    wrong += got.rows(at, 0) != t.i[p] || got.columns(at, 0) != t.j[p] ||
             (is_last && got.values(at, 0) != value);
  }
  CHECK(wrong == 0);
  CHECK(c.nnz() == place + 1);
}

void check_transposed(const rig::matrix<int>& a) {
  const rig::transposed flipped(a.structure());
  const rig::pattern& of = *flipped.structure;
  long wrong = of.nnz() != a.nnz() || of.rows() != a.columns() || of.columns() != a.rows();
  for (index j = 0; j < of.rows(); ++j)
    for (long q = of.offset(j); q < of.offset(j + 1); ++q) {
      const long p = flipped.permutation.data<int>()[q];
      const index i = of.column_indices()[q];
      wrong += p < a.structure().offset(i) || p >= a.structure().offset(i + 1) ||
               a.structure().column_indices()[p] != j ||
               (q > of.offset(j) && of.column_indices()[q - 1] >= i);
    }
  CHECK(wrong == 0);
}

TEST_CASE("tuples and transposes on several threads") {
  const int before = omp_get_max_threads();
  struct given {
    index rows, columns;
    int hot;
  };
  for (const given shape : {given{70000, 900, 7},
                            {3, 100000, 2},
                            {100000, 3, 1 << 30},
                            {1, 50000, 1},
                            {1025, 2047, 3}}) {
    const tuples t = random_tuples(shape.rows, shape.columns, 200000, shape.hot);
    for (const int threads : {1, 2, 3, 8}) {
      omp_set_num_threads(threads);
      const auto c = rig::matrix<int>::from_tuples(shape.rows, shape.columns, t.i, t.j,
                                                   std::span<const int>(t.v),
                                                   [](int x, int y) { return 3 * x - y; });
      check_built(c, t);
      check_transposed(c);
    }
  }
  omp_set_num_threads(before);
}

TEST_CASE("of many duplicates the first, by row and column, is named") {
  tuples t = random_tuples(5000, 5000, 100000, 1 << 30);
  t.i.insert(t.i.end(), {17, 4000, 17});
  t.j.insert(t.j.end(), {4999, 1, 4999});
  // Of the random tuples those that repeat an earlier place are left out.
  std::vector<std::size_t> order(100000);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t p, std::size_t q) {
    return t.i[p] != t.i[q] ? t.i[p] < t.i[q] : t.j[p] < t.j[q];
  });
  std::vector<index> i, j;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t p = order[k];
    if (t.i[p] == 17 || (k > 0 && t.i[p] == t.i[order[k - 1]] && t.j[p] == t.j[order[k - 1]]))
      continue;
    i.push_back(t.i[p]);
    j.push_back(t.j[p]);
  }
  for (const index row : {4100, 17, 17}) {
    i.push_back(row);
    j.push_back(4999);
  }
  i.push_back(4100);
  j.push_back(4999);
  check_error(rig::errc::duplicate, {"(17, 4999)", "a combiner of from_tuples"},
              [&] { rig::matrix<float>::from_positions(5000, 5000, i, j); });
}

}  // namespace
