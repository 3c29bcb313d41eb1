// Orders of nodes, compared with plain code that follows the definitions, and products of permuted
// operands.

#include "rig/reorder.hpp"

#include <doctest/doctest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "battery.hpp"
#include "data_folder.hpp"
#include "rig/generate.hpp"
#include "rig/graph.hpp"
#include "rig/io.hpp"
#include "rig/mxm.hpp"
#include "rig/semirings.hpp"

namespace {

using rig::index;
using rig::int64;
using rig::matrix;
using rig::ordering;
namespace generate = rig::generate;

constexpr ordering orderings[] = {ordering::loa, ordering::degree, ordering::rcm};

using rows_of = std::vector<std::vector<index>>;

rows_of lists(const matrix<float>& a) {
  rows_of rows(static_cast<std::size_t>(a.rows()));
  for (index i = 0; i < a.rows(); ++i)
    rows[i].assign(a.structure().column_indices() + a.structure().offset(i),
                   a.structure().column_indices() + a.structure().offset(i + 1));
  return rows;
}

std::vector<index> inverse(const std::vector<index>& list) {
  std::vector<index> out(list.size());
  for (std::size_t k = 0; k < list.size(); ++k) out[list[k]] = static_cast<index>(k);
  return out;
}

std::vector<index> random_permutation(index n, unsigned long seed) {
  std::vector<index> list(static_cast<std::size_t>(n));
  std::iota(list.begin(), list.end(), 0);
  random_bits random(seed);
  for (index k = n; k > 1; --k) std::swap(list[k - 1], list[random.below(k)]);
  return list;
}

matrix<float> shuffled(const matrix<float>& a) {
  return rig::permute(a, random_permutation(a.rows(), test_seed()));
}

std::vector<index> positions_of(const matrix<float>& a, ordering by) {
  const auto found = rig::reorder(a, by);
  CHECK(found.rows() == a.rows());
  CHECK(found.columns() == 1);
  return {found.begin(), found.end()};
}

bool same(const matrix<float>& a, const matrix<float>& b) {
  if (a.rows() != b.rows() || a.columns() != b.columns() || lists(a) != lists(b)) return false;
  for (int64 p = 0; p < a.nnz(); ++p)
    if (a.value(p) != b.value(p)) return false;
  return true;
}

/// A square graph: directed, with loops and rows without entries.
matrix<float> directed(index n, double degree, unsigned long seed) {
  random_bits random(seed);
  std::vector<index> i, j;
  std::vector<float> v;
  for (int e = 0; e < static_cast<int>(n * degree); ++e) {
    const double u = random.unit();
    i.push_back(random.below(n) / 3 * 3 % n);
    j.push_back(static_cast<index>(n * u * u));
    v.push_back(static_cast<float>(random.unit()));
  }
  return matrix<float>::from_tuples(n, n, i, j, v, [](float x, float) { return x; });
}

std::vector<matrix<float>> graphs() {
  std::vector<matrix<float>> all{generate::karate(),
                                 generate::rmat(11, 8),
                                 directed(2000, 6, test_seed()),
                                 generate::shuffled(generate::cliques(500, 17)),
                                 generate::grid(40, 30),
                                 matrix<float>(0, 0),
                                 matrix<float>(40, 40)};
  for (const shape& each : battery()) {
    const auto n = static_cast<index>(std::max(each.pattern.rows, each.pattern.columns));
    std::vector<index> i;
    for (int row = 0; row < each.pattern.rows; ++row)
      i.insert(i.end(), each.pattern.offsets[row + 1] - each.pattern.offsets[row], row);
    all.push_back(generate::random_values(
        matrix<float>::from_positions(n, n, i, each.pattern.inner), test_seed()));
  }
  return all;
}

/// LOA by its definition, for at most 8192 nodes.
std::vector<index> loa_by_definition(const matrix<float>& a) {
  const rows_of neighbours = lists(a);
  const index n = a.rows();
  std::vector<index> sorted(static_cast<std::size_t>(n)), order;
  std::iota(sorted.begin(), sorted.end(), 0);
  const auto least = [&](index v) { return neighbours[v].empty() ? n : neighbours[v][0]; };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](index v, index w) { return least(v) < least(w); });
  std::vector<bool> visited(static_cast<std::size_t>(n), false);
  std::set<index> columns;
  int64 elements = 0;
  const auto take = [&](index place) {
    visited[place] = true;
    order.push_back(sorted[place]);
    elements += static_cast<int64>(neighbours[sorted[place]].size());
    columns.insert(neighbours[sorted[place]].begin(), neighbours[sorted[place]].end());
  };
  while (static_cast<index>(order.size()) < n) {
    const index v0 =
        static_cast<index>(std::find(visited.begin(), visited.end(), false) - visited.begin());
    columns.clear();
    elements = 0;
    take(v0);
    for (int k = 1; k < 16 && static_cast<index>(order.size()) < n; ++k) {
      index best = -1;
      int64 up = 0, down = 1;
      for (index place = v0 + 1; place <= std::min(v0 + 300, n - 1); ++place) {
        if (visited[place]) continue;
        const auto& more = neighbours[sorted[place]];
        const auto common =
            std::count_if(more.begin(), more.end(), [&](index u) { return columns.contains(u); });
        const auto count = static_cast<int64>(more.size());
        const int64 x = elements + count, y = static_cast<int64>(columns.size()) + count - common;
        if (y > 0 && x * down > up * y) best = place, up = x, down = y;
      }
      if (best < 0)
        best =
            static_cast<index>(std::find(visited.begin(), visited.end(), false) - visited.begin());
      take(best);
    }
  }
  return order;
}

/// Whether `order` is, reversed, breadth-first by ascending degree from the first node of each
/// component.
bool is_cuthill_mckee(const matrix<float>& a, std::vector<index> order) {
  std::vector<std::set<index>> both(static_cast<std::size_t>(a.rows()));
  const rows_of forth = lists(a);
  for (index v = 0; v < a.rows(); ++v)
    for (const index w : forth[v]) {
      both[v].insert(w);
      both[w].insert(v);
    }
  std::reverse(order.begin(), order.end());
  std::vector<bool> seen(order.size(), false);
  std::vector<index> queue;
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (at == queue.size()) {
      seen[order[at]] = true;
      queue.push_back(order[at]);
    }
    if (queue[at] != order[at]) return false;
    std::vector<std::pair<std::size_t, index>> next;
    for (const index w : both[order[at]])
      if (!seen[w]) next.emplace_back(both[w].size(), w);
    std::sort(next.begin(), next.end());
    for (const auto& [degree, w] : next) {
      seen[w] = true;
      queue.push_back(w);
    }
  }
  return true;
}

index bandwidth(const matrix<float>& a) {
  index widest = 0;
  const rows_of rows = lists(a);
  for (index i = 0; i < a.rows(); ++i)
    for (const index j : rows[i]) widest = std::max(widest, std::abs(i - j));
  return widest;
}

double entries_per_tile_by_definition(const matrix<float>& a) {
  const rows_of rows = lists(a);
  double tiles = 0;
  for (std::size_t first = 0; first < rows.size(); first += 16) {
    std::set<index> columns;
    for (std::size_t i = first; i < std::min(first + 16, rows.size()); ++i)
      columns.insert(rows[i].begin(), rows[i].end());
    tiles += std::ceil(static_cast<double>(columns.size()) / 8);
  }
  return tiles == 0 ? 0 : static_cast<double>(a.nnz()) / tiles;
}

/// The product of permuted operands, in the original numbering, against the product itself.
void check_products(const matrix<float>& a, const std::vector<index>& positions) {
  rig::dense<float> b(a.columns(), 5);
  for (index i = 0; i < b.rows(); ++i)
    for (index j = 0; j < 5; ++j)
      b(i, j) = std::sin(0.37f * static_cast<float>(i) + 1.13f * static_cast<float>(j));
  const auto moved = rig::permute(a, positions);
  const auto moved_b = rig::permute(b, positions);
  CHECK(same(rig::extract(moved, positions, positions), a));
  const auto back = [&](const auto& s) {
    return rig::extract(rig::mxm(moved, moved_b, s), positions, rig::all);
  };
  CHECK(
      std::ranges::equal(back(rig::max_second<float>{}), rig::mxm(a, b, rig::max_second<float>{})));

  const rig::plus_times<float> sum;
  const auto expected = rig::mxm(a, b, sum), got = back(sum);
  const auto magnitude =
      rig::mxm(rig::apply(a, rig::unary::absolute), rig::apply(b, rig::unary::absolute), sum);
  int wrong = 0;
  for (index i = 0; i < a.rows(); ++i) {
    const auto n = static_cast<float>(a.structure().offset(i + 1) - a.structure().offset(i));
    for (index j = 0; j < 5; ++j)
      if (!(std::abs(got(i, j) - expected(i, j)) <= 2 * n * 0x1p-24f * magnitude(i, j) * 1.01f))
        ++wrong;
  }
  CHECK(wrong == 0);
}

/// A data set's graph; without entries where the data is missing.
matrix<float> real_graph(const std::string& name) {
  const auto file = data::find(data::folder() / name, "graph.mtx");
  return data::has(file) ? rig::read_matrix<float>(file) : matrix<float>();
}

template <class Work>
void check_error(rig::errc code, const std::string& part, Work work) {
  try {
    work();
    FAIL("nothing was thrown, expected: " << part);
  } catch (const rig::error& e) {
    CHECK(e.code() == code);
    CHECK_MESSAGE(std::string(e.what()).find(part) != std::string::npos, e.what());
  }
}

TEST_CASE("an order is explained by what it costs and gains") {
  rig::order_explanation why;
  why.order_ms = 9;
  why.product_ms_before = 3;
  why.product_ms_after = 1;
  CHECK(why.products_to_pay() == 5);
  CHECK(why.text().find("pays after 5 products") != std::string::npos);
  why.product_ms_after = 4;
  CHECK(std::isinf(why.products_to_pay()));
  CHECK(why.text().find("does not pay") != std::string::npos);

  const auto graph = rig::generate::shuffled(rig::generate::banded(200, 3));
  const rig::dense<float> b(200, 5, 1.0f);
  const auto of = rig::explain(graph, b, rig::plus_times<float>{}, ordering::rcm, {.threads = 1});
  CHECK(of.entries_per_tile_before == rig::entries_per_tile(graph));
  CHECK(of.entries_per_tile_after ==
        rig::entries_per_tile(rig::permute(graph, rig::reorder(graph, ordering::rcm))));
  CHECK(of.order_ms > 0);
  CHECK(of.kernel_after == rig::explain(graph, b, rig::plus_times<float>{}).chosen);
  CHECK(of.text().find(of.kernel_before) != std::string::npos);

  const rig::descriptor turned = {.transpose_a = true, .transpose_b = true, .threads = 1};
  const rig::dense<float> flat(5, 200, 1.0f);
  CHECK(rig::explain(graph, flat, rig::plus_times<float>{}, ordering::degree, turned)
            .entries_per_tile_before == rig::entries_per_tile(graph));
  // Sums of one column take slices where they are built, and so do those of the copy.
  const auto dense_rows = rig::generate::banded(400, 8).prepare({.kernel = "sell"});
  const auto pattern = rig::matrix<bool>(dense_rows.shared_structure());
  const auto sliced = rig::explain(pattern, rig::dense<float>(400, 1, 1.0f),
                                   rig::plus_second<float>{}, ordering::degree, {.threads = 1});
  CHECK(sliced.kernel_before == "sell");
  CHECK(sliced.kernel_after == "sell");
}

}  // namespace

TEST_CASE("each order is that of its definition") {
  for (const auto& a : graphs()) {
    CAPTURE(a.rows());
    CAPTURE(a.nnz());
    CHECK(positions_of(a, ordering::loa) == inverse(loa_by_definition(a)));

    std::vector<index> by_degree(static_cast<std::size_t>(a.rows()));
    std::iota(by_degree.begin(), by_degree.end(), 0);
    const rows_of rows = lists(a);
    std::stable_sort(by_degree.begin(), by_degree.end(),
                     [&](index v, index w) { return rows[v].size() > rows[w].size(); });
    CHECK(positions_of(a, ordering::degree) == inverse(by_degree));

    CHECK(is_cuthill_mckee(a, inverse(positions_of(a, ordering::rcm))));
  }
}

TEST_CASE("rcm finds the band of a shuffled graph") {
  for (const index half : {1, 4}) {
    const auto a = shuffled(generate::banded(500, half));
    CHECK(bandwidth(rig::permute(a, rig::reorder(a, ordering::rcm))) == half);
  }
}

TEST_CASE("loa fills windows with shuffled cliques") {
  // With loops, all rows of a clique have the same smallest neighbour.
  const auto a = rig::add_self_loops(generate::cliques(16 * 100, 16));
  CHECK(rig::entries_per_tile(a) == 16 * 16 / 2);
  const auto mixed = shuffled(a);
  CHECK(rig::entries_per_tile(mixed) < 12);
  CHECK(rig::entries_per_tile(rig::permute(mixed, rig::reorder(mixed, ordering::loa))) ==
        16 * 16 / 2);
}

TEST_CASE("many chunks: a permutation, the same for any number of threads") {
  const auto a = generate::rmat(15, 6);
  const int threads = omp_get_max_threads();
  for (const ordering by : orderings) {
    omp_set_num_threads(1);
    const auto one = positions_of(a, by);
    auto sorted = one;
    std::sort(sorted.begin(), sorted.end());
    for (index k = 0; k < a.rows(); ++k) REQUIRE(sorted[k] == k);
    for (const int count : {2, 7, 200000}) {
      omp_set_num_threads(count);
      CHECK(positions_of(a, by) == one);
    }
  }
  omp_set_num_threads(threads);
}

TEST_CASE("products of permuted operands are the permuted product") {
  for (const auto& a : graphs()) {
    CAPTURE(a.rows());
    for (const ordering by : orderings) check_products(a, positions_of(a, by));
    check_products(a, random_permutation(a.rows(), test_seed()));
  }
}

TEST_CASE("real graphs: products, and entries per tile after loa") {
  constexpr std::pair<const char*, double> gains[] = {
      {"collab-condmat2005", 1.3}, {"soc-slashdot0902", 1.1}, {"facebook-pages", 1.1}};
  for (const auto& [name, gain] : gains) {
    const auto given = real_graph(name);
    if (given.nnz() == 0) continue;
    CAPTURE(name);
    for (const ordering by : orderings) check_products(given, positions_of(given, by));
    const auto a = shuffled(given);
    const double before = rig::entries_per_tile(a),
                 after = rig::entries_per_tile(rig::permute(a, rig::reorder(a, ordering::loa)));
    CHECK(before == doctest::Approx(entries_per_tile_by_definition(a)).epsilon(1e-15));
    CHECK(after >= gain * before);
  }
}

TEST_CASE("entries per tile: the definition, oblong matrices too") {
  for (const auto& a : graphs())
    CHECK(rig::entries_per_tile(a) ==
          doctest::Approx(entries_per_tile_by_definition(a)).epsilon(1e-15));
  const std::vector<index> i{0, 1, 2, 16, 17}, j{5, 5, 8, 0, 99};
  CHECK(rig::entries_per_tile(matrix<float>::from_positions(18, 100, i, j)) == 2.5);
  CHECK(rig::entries_per_tile(matrix<float>(0, 5)) == 0);
}

TEST_CASE("permute keeps types and iso matrices, and takes lists of several kinds") {
  const auto a = generate::karate();
  const auto positions = rig::reorder(a, ordering::loa);
  const std::vector<index> list(positions.begin(), positions.end());
  CHECK(rig::permute(a, positions).iso());
  CHECK(same(rig::permute(a, positions), rig::permute(a, list)));
  CHECK(rig::permute(a.with_value(rig::half(2.0f)), list).nnz() == 156);
  const auto x = rig::dense<rig::int64>::from(3, 2, std::vector<int64>{1, 2, 3, 4, 5, 6});
  const auto moved = rig::permute(x, std::vector<index>{2, 0, 1});
  CHECK(std::ranges::equal(moved, std::vector<int64>{3, 4, 5, 6, 1, 2}));
  CHECK(rig::permute(matrix<float>(0, 0), std::vector<index>()).rows() == 0);
}

TEST_CASE("errors name the values") {
  const matrix<float> oblong(3, 4), square(3, 3);
  const rig::dense<float> x(3, 2);
  using list = std::vector<index>;
  using rig::errc;
  check_error(errc::shape, "reorder: A is 3x4", [&] { rig::reorder(oblong, ordering::loa); });
  check_error(errc::range, "reorder: ordering 7",
              [&] { rig::reorder(square, static_cast<ordering>(7)); });
  check_error(errc::shape, "permute: A is 3x4", [&] { rig::permute(oblong, list{0, 1, 2}); });
  check_error(errc::shape, "the positions are 3x2; give one column",
              [&] { rig::permute(square, rig::dense<index>(3, 2)); });
  check_error(errc::shape, "3 rows but 2 positions", [&] { rig::permute(square, list{0, 1}); });
  check_error(errc::shape, "3 rows but 4 positions", [&] { rig::permute(x, list{0, 1, 2, 3}); });
  check_error(errc::range, "position 3 of row 1", [&] { rig::permute(square, list{0, 3, 1}); });
  check_error(errc::range, "position -1 of row 2", [&] { rig::permute(x, list{0, 1, -1}); });
  check_error(errc::duplicate, "rows 0 and 2 both have position 1", [&] {
    rig::permute(square, list{1, 0, 1});
  });
}
