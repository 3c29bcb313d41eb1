// Structural helpers of graphs, compared with plain reference code.

#include "rig/graph.hpp"

#include <doctest/doctest.h>
#include <omp.h>

#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "data_sets.hpp"
#include "rig/generate.hpp"
#include "rig/io.hpp"
#include "rig/mxm.hpp"
#include "rig/reduce.hpp"
#include "rig/semirings.hpp"

namespace {

using rig::int32;
using rig::int64;
using rig::matrix;

template <class T>
using entries = std::map<std::pair<int32, int32>, T>;

template <class T>
entries<T> entries_of(const matrix<T>& a) {
  entries<T> all;
  for (int32 i = 0; i < a.rows(); ++i)
    for (int64 p = a.structure().offset(i); p < a.structure().offset(i + 1); ++p)
      all[{i, a.structure().column_indices()[p]}] = a.value(p);
  REQUIRE(static_cast<int64>(all.size()) == a.nnz());
  return all;
}

template <class T>
matrix<T> matrix_of(int32 rows, int32 columns, const entries<T>& all) {
  std::vector<int32> i, j;
  std::vector<T> v;
  for (const auto& [at, value] : all) {
    i.push_back(at.first);
    j.push_back(at.second);
    v.push_back(value);
  }
  return matrix<T>::from_tuples(rows, columns, i, j, v);
}

/// About `count` entries at random places, small positive values, some on the diagonal.
template <class T>
entries<T> scattered(int32 n, int count, unsigned seed) {
  std::srand(seed);
  entries<T> all;
  for (int k = 0; k < count; ++k)
    all[{std::rand() % n, std::rand() % n}] = static_cast<T>(1 + std::rand() % 9);
  for (int32 i = 0; i < n; i += 5) all[{i, i}] = T(7);
  return all;
}

template <class Work>
std::string message_of(rig::errc code, Work work) {
  try {
    work();
  } catch (const rig::error& e) {
    CHECK(e.code() == code);
    return e.what();
  }
  FAIL("nothing was thrown");
  return "";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE_TEMPLATE("symmetrise is the union with the transpose", T, float, double, int32, int64) {
  for (const int32 n : {1, 2, 17, 300}) {
    const auto given = scattered<T>(n, 4 * n, 11);
    auto expected = given;
    for (const auto& [at, value] : given) expected.insert({{at.second, at.first}, value});
    const auto result = rig::symmetrise(matrix_of(n, n, given));
    CHECK(entries_of(result) == expected);
    CHECK(entries_of(rig::symmetrise(result)) == expected);
  }
}

TEST_CASE("symmetrise keeps an iso matrix iso, and derives no structure of its operand") {
  const std::vector<int32> i{0, 1, 3}, j{1, 0, 2};
  const auto a = matrix<bool>::from_positions(4, 4, i, j, true);
  const auto result = rig::symmetrise(a);
  CHECK(result.iso());
  CHECK(entries_of(result) ==
        entries<bool>{{{0, 1}, true}, {{1, 0}, true}, {{2, 3}, true}, {{3, 2}, true}});
  CHECK(a.derived_structures().empty());
  CHECK(rig::symmetrise(matrix<float>(0, 0)).nnz() == 0);
  CHECK(rig::symmetrise(matrix<float>(5, 5)).rows() == 5);
}

TEST_CASE_TEMPLATE("add_self_loops fills the diagonal and keeps its entries", T, float, double,
                   int32, int64) {
  for (const int32 n : {1, 2, 17, 300}) {
    const auto given = scattered<T>(n, 3 * n, 12);
    auto expected = given;
    for (int32 i = 0; i < n; ++i) expected.insert({{i, i}, T(3)});
    CHECK(entries_of(rig::add_self_loops(matrix_of(n, n, given), T(3))) == expected);
  }
}

TEST_CASE("add_self_loops of an iso matrix") {
  const std::vector<int32> i{0, 1, 1}, j{1, 0, 1};
  const auto a = matrix<float>::from_positions(3, 3, i, j);
  CHECK(rig::add_self_loops(a).iso());
  CHECK(rig::add_self_loops(a).nnz() == 5);
  const auto weighted = rig::add_self_loops(a, 2.0f);
  CHECK_FALSE(weighted.iso());
  CHECK(entries_of(weighted) ==
        entries<float>{{{0, 0}, 2}, {{0, 1}, 1}, {{1, 0}, 1}, {{1, 1}, 1}, {{2, 2}, 2}});
  const auto full = rig::add_self_loops(a);
  CHECK(rig::add_self_loops(full).shared_structure() == full.shared_structure());
  CHECK(rig::add_self_loops(matrix<bool>(2, 2)).nnz() == 2);
  CHECK(rig::add_self_loops(matrix<float>(0, 0)).nnz() == 0);
}

TEST_CASE_TEMPLATE("scale_rows and scale_columns", T, float, double, int32, int64) {
  const int32 rows = 40, columns = 23;
  entries<T> given;
  for (const auto& [at, value] : scattered<T>(23, 150, 13))
    given[{at.first + 9, at.second}] = value;
  const auto a = matrix_of(rows, columns, given);
  std::vector<T> of_rows(rows), of_columns(columns);
  for (int32 i = 0; i < rows; ++i) of_rows[static_cast<std::size_t>(i)] = static_cast<T>(i - 7);
  for (int32 j = 0; j < columns; ++j)
    of_columns[static_cast<std::size_t>(j)] = static_cast<T>(2 * j - 5);
  auto by_rows = given, by_columns = given;
  for (auto& [at, value] : by_rows) value *= static_cast<T>(at.first - 7);
  for (auto& [at, value] : by_columns) value *= static_cast<T>(2 * at.second - 5);

  const std::span<const T> row_factors(of_rows), column_factors(of_columns);
  const auto scaled = rig::scale_rows(a, row_factors);
  CHECK(entries_of(scaled) == by_rows);
  CHECK(scaled.shared_structure() == a.shared_structure());
  CHECK(entries_of(rig::scale_columns(a, column_factors)) == by_columns);

  const auto ones = a.with_value(T(2));
  const auto of_iso = rig::scale_rows(ones, row_factors);
  CHECK_FALSE(of_iso.iso());
  for (const auto& [at, value] : entries_of(of_iso))
    CHECK(value == static_cast<T>(2 * (at.first - 7)));
  for (const auto& [at, value] : entries_of(rig::scale_columns(ones, column_factors)))
    CHECK(value == static_cast<T>(2 * (2 * at.second - 5)));
}

TEST_CASE("gcn_normalise: the definition, in double") {
  const int32 n = 60;
  const auto given = scattered<double>(n, 200, 14);
  auto looped = given;
  for (int32 i = 0; i < n; ++i) looped.insert({{i, i}, 1.0});
  std::vector<double> sums(n, 0);
  for (const auto& [at, value] : looped) sums[static_cast<std::size_t>(at.first)] += value;
  const auto result = entries_of(rig::gcn_normalise(matrix_of(n, n, given)));
  REQUIRE(result.size() == looped.size());
  for (const auto& [at, value] : looped) {
    const double expected = value / std::sqrt(sums[static_cast<std::size_t>(at.first)]) /
                            std::sqrt(sums[static_cast<std::size_t>(at.second)]);
    CHECK(result.at(at) == doctest::Approx(expected).epsilon(1e-14));
  }
}

TEST_CASE("gcn_normalise: symmetric to the bit, and rows without weight give 0") {
  const auto club =
      entries_of(rig::gcn_normalise(rig::generate::random_values(rig::generate::karate())));
  CHECK(club.size() == 156 + 34);
  for (const auto& [at, value] : club) CHECK(value == club.at({at.second, at.first}));

  const auto odd =
      entries_of(rig::gcn_normalise(matrix_of<float>(2, 2, {{{0, 0}, -2}, {{1, 0}, 1}})));
  CHECK(odd == entries<float>{{{0, 0}, 0}, {{1, 0}, 0}, {{1, 1}, 0.5}});
}

TEST_CASE("the same bits for any number of threads") {
  const auto a = rig::generate::random_values(rig::generate::rmat(10, 8));
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto one = entries_of(rig::gcn_normalise(a));
  omp_set_num_threads(5);
  CHECK(entries_of(rig::gcn_normalise(a)) == one);
  omp_set_num_threads(threads);
}

TEST_CASE("numbers of threads out of range do not reach OpenMP") {
  const auto a = matrix_of<float>(2, 2, {{{0, 1}, 2}});
  const std::vector<float> factors{3, 5};
  const int threads = omp_get_max_threads();
  omp_set_num_threads(200000);
  const auto both = entries_of(rig::symmetrise(a)), looped = entries_of(rig::add_self_loops(a)),
             rows = entries_of(rig::scale_rows(a, std::span<const float>(factors))),
             columns = entries_of(rig::scale_columns(a, std::span<const float>(factors))),
             gcn = entries_of(rig::gcn_normalise(a)), mean = entries_of(rig::mean_normalise(a));
  omp_set_num_threads(threads);
  CHECK(both == entries<float>{{{0, 1}, 2}, {{1, 0}, 2}});
  CHECK(looped == entries<float>{{{0, 0}, 1}, {{0, 1}, 2}, {{1, 1}, 1}});
  CHECK(rows == entries<float>{{{0, 1}, 6}});
  CHECK(columns == entries<float>{{{0, 1}, 10}});
  CHECK(gcn.size() == 3);
  CHECK(mean == entries<float>{{{0, 1}, 2}});
}

TEST_CASE("edge_softmax: rows sum to 1, large values do not overflow, empty rows stay empty") {
  const auto a = rig::generate::random_values(rig::generate::from_text("rmat:9:6"), 3);
  const auto large = rig::apply(a, rig::binary::plus, 1000.0f);
  const auto c = rig::edge_softmax(large);
  CHECK(c.shared_structure() == a.shared_structure());
  double worst = 0;
  for (rig::index i = 0; i < a.rows(); ++i) {
    double sum = 0;
    const auto begin = a.structure().offset(i), end = a.structure().offset(i + 1);
    for (auto p = begin; p < end; ++p) sum += std::exp(double(large.value(p)) - 1000);
    for (auto p = begin; p < end; ++p)
      worst = std::max(worst, std::abs(c.value(p) - std::exp(double(large.value(p)) - 1000) / sum));
  }
  CHECK(worst < 1e-6);
  const auto narrow = rig::edge_softmax(rig::apply<rig::half>(a, rig::unary::identity));
  const auto sums = rig::reduce_rows<float>(narrow, rig::binary::plus);
  for (rig::int64 p = 0; p < sums.nnz(); ++p) CHECK(std::abs(sums.value(p) - 1) < 0.01);
  const auto equal = rig::edge_softmax(matrix<double>(a.shared_structure(), -5.0));
  CHECK(equal.value(0) == doctest::Approx(1.0 / double(a.structure().offset(1))));
  CHECK(rig::edge_softmax(matrix<float>(3, 0)).nnz() == 0);
}

TEST_CASE("errors name the values") {
  const matrix<float> oblong(3, 4);
  CHECK(holds(message_of(rig::errc::shape, [&] { rig::symmetrise(oblong); }),
              "symmetrise: A is 3x4"));
  CHECK(holds(message_of(rig::errc::shape, [&] { rig::add_self_loops(oblong); }),
              "add_self_loops: A is 3x4"));
  CHECK(holds(message_of(rig::errc::shape, [&] { rig::gcn_normalise(oblong); }), "3x4"));
  const std::vector<float> factors(5);
  const std::span<const float> five(factors);
  CHECK(holds(message_of(rig::errc::shape, [&] { rig::scale_rows(oblong, five); }),
              "A is 3x4, but there are 5 factors"));
  CHECK(holds(message_of(rig::errc::shape, [&] { rig::scale_columns(oblong, five); }),
              "A is 3x4, but there are 5 factors"));
}

TEST_CASE("gcn_normalise of the data sets") {
  for (const std::string set :
       {"karate", "cora", "citeseer", "amazon-photo", "collab-condmat2005"}) {
    const auto folder = data::folder() / set;
    if (!data::has(folder / "expected.json")) continue;
    const auto expected = nlohmann::json::parse(std::ifstream(folder / "expected.json"))["gcn"];
    const auto a = rig::read_matrix<double>(data::find(folder, "graph.mtx")).with_value(1.0);
    rig::dense<double> b(a.rows(), 32);
    for (int32 i = 0; i < b.rows(); ++i)
      for (int32 j = 0; j < 32; ++j) b(i, j) = std::sin(0.37 * i + 1.13 * j);
    const auto c = rig::mxm(rig::gcn_normalise(a), b, rig::plus_times<double>{});
    double squares = 0, total = 0;
    for (int32 i = 0; i < c.rows(); ++i)
      for (int32 j = 0; j < 32; ++j) {
        squares += c(i, j) * c(i, j);
        total += c(i, j);
      }
    CHECK(std::sqrt(squares) == doctest::Approx(expected["fro"].get<double>()).epsilon(1e-10));
    CHECK(total == doctest::Approx(expected["total"].get<double>()).epsilon(1e-10));
  }
}
