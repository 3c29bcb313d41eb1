// The layout by METIS: it moves less than one by entries where a graph has parts, shares the work,
// and leaves the bits of products.

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "data_folder.hpp"
#include "distributed/product_cases.hpp"
#include "distributed/simulated.hpp"
#include "provoked.hpp"
#include "rig/distributed/metis.hpp"

namespace {

using namespace ranks;
using rig::dense;
using rig::distributed;
using rig::index;
using rig::matrix;

/// A grid whose nodes have random numbers.
matrix<float> shuffled_grid(int side) {
  const auto grid = rig::generate::random_values(rig::generate::grid(side, side));
  std::vector<index> numbers(static_cast<std::size_t>(grid.rows()));
  std::iota(numbers.begin(), numbers.end(), 0);
  random_bits bits(test_seed());
  for (std::size_t k = numbers.size() - 1; k > 0; --k)
    std::swap(numbers[k], numbers[static_cast<std::size_t>(bits.below(static_cast<int>(k + 1)))]);
  return rig::extract(grid, numbers, numbers);
}

/// What explain says of products over some ranks, whose bits are compared with those of one.
rig::ranks_explanation explained(const matrix<float>& a, const rig::layout& rows) {
  const auto x = random_dense<float>(a.columns(), 3, 5);
  rig::ranks_explanation out;
  run_all(rows.ranks(), [&](const rig::communicator& here) {
    const auto wrong = compare<rig::plus_times<float>>(here, a, x, rows, rows);
    require(wrong.empty(), "wrong by" + wrong);
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
    const auto of_x = distributed<dense<float>>::from_whole(here, x, rows);
    const auto why = rig::explain(part, of_x, rig::plus_times<float>());
    if (here.rank() == 0) out = why;
  });
  return out;
}

TEST_CASE("a graph with parts moves less, and ranks have like work") {
  const auto a = shuffled_grid(40);
  for (const int size : {2, 5, 7}) {
    const auto by_metis = rig::metis_layout(a, size);
    CHECK(by_metis == rig::metis_layout(a, size));
    const auto of_parts = explained(a, by_metis),
               of_entries = explained(a, rig::layout::by_entries(a.structure(), size));
    CHECK(4 * of_parts.mean_bytes < of_entries.mean_bytes);
    CHECK(of_parts.interior > 0.7);
    CHECK(of_parts.largest_part * size < 1.1);
  }
}

TEST_CASE(
    "real roads and meshes: shares of an all-gather over four ranks, by entries and by METIS") {
  struct known {
    const char* name;
    double by_entries, by_metis_at_most;
  };
  for (const known& of : {known{"road-andorra", 0.0251, 0.0003},
                          {"mesh-mdual", 0.4243, 0.015},
                          {"fem-copter2", 0.3827, 0.03}}) {
    const auto path = data::folder() / of.name / "graph.mtx.gz";
    if (!data::has(path)) continue;
    CAPTURE(of.name);
    const auto a = rig::read_matrix<float>(path);
    const double share = volumes_of(a, rig::layout::by_entries(a.structure(), 4)).share;
    CHECK(share == doctest::Approx(of.by_entries).epsilon(0.01));
    CHECK(volumes_of(a, rig::metis_layout(a, 4)).share <= of.by_metis_at_most);
  }
}

TEST_CASE("ranks that are threads get one layout") {
  const auto a = shuffled_grid(40);
  for (int round = 0; round < 5; ++round)
    run_all(4, [&](const rig::communicator& here) {
      const auto rows = rig::metis_layout(a, here.size());
      const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
      require(part.nnz() == a.nnz(), "entries");
    });
}

TEST_CASE("one direction, self loops, rows without entries, and more ranks than rows") {
  CHECK(rig::metis_layout(matrix<float>(5, 5), 2).rows() == 5);
  CHECK(rig::metis_layout(matrix<float>(0, 0), 2).rows() == 0);
  CHECK(rig::metis_layout(shuffled_grid(5), 1).rows_of(0) == 25);
  const std::vector<int> from{0, 0, 1, 3}, to{0, 1, 2, 3};
  const auto chain = matrix<float>::from_positions(4, 4, from, to);
  for (const int size : {2, 4, 7}) {
    const auto rows = rig::metis_layout(chain, size);
    CHECK(rows.ranks() == size);
    explained(chain, rows);
  }
}

TEST_CASE("what it refuses") {
  check_error(rig::errc::shape, {"metis_layout", "2x3", "not square"},
              [] { rig::metis_layout(matrix<float>(2, 3), 2); });
  check_error(rig::errc::range, {"ranks"}, [] { rig::metis_layout(matrix<float>(3, 3), 0); });
}

}  // namespace
