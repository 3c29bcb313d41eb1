// What fetch and cover move between up to 64 ranks, of the rows that an all-gather moves: fetch
// counted by marks, and both as they were counted before rig had ranks.

#include <doctest/doctest.h>

#include "data_folder.hpp"
#include "distributed/product_cases.hpp"
#include "distributed/simulated.hpp"

namespace {

using namespace ranks;
using rig::dense;
using rig::distributed;
using rig::index;
using rig::int64;
using rig::matrix;
using sums = rig::plus_times<float>;

/// The share of an all-gather's rows, counted by marks of rows, with equal numbers of rows.
double share_by_marks(const matrix<float>& a, int size) {
  const auto first = [&](int rank) { return static_cast<index>(int64{a.rows()} * rank / size); };
  int64 moved = 0;
  for (int rank = 0; rank < size; ++rank) {
    std::vector<char> is_needed(static_cast<std::size_t>(a.columns()));
    for (auto p = a.structure().offset(first(rank)); p < a.structure().offset(first(rank + 1)); ++p)
      is_needed[static_cast<std::size_t>(a.structure().column_indices()[p])] = 1;
    for (index j = 0; j < a.columns(); ++j)
      moved += is_needed[static_cast<std::size_t>(j)] && (j < first(rank) || j >= first(rank + 1));
  }
  return static_cast<double>(moved) / (static_cast<double>(size - 1) * a.columns());
}

/// Expected shares for 4, 16 and 64 ranks, within one percent and `off_by`.
void compare_shares(const matrix<float>& a, const std::vector<double>& expected, double off_by,
                    rig::exchange by = rig::exchange::fetch) {
  int size = 4;
  for (const double share : expected) {
    std::vector<int64> even;
    for (int64 rank = 0; rank < size; ++rank)
      even.push_back(a.rows() * (rank + 1) / size - a.rows() * rank / size);
    const volumes moved = volumes_of(a, rig::layout::contiguous(even), by);
    CAPTURE(size);
    CAPTURE(moved.share);
    if (by == rig::exchange::fetch)
      CHECK(moved.share == doctest::Approx(share_by_marks(a, size)).epsilon(1e-12));
    CHECK(std::abs(moved.share - share) <= off_by + 0.01 * share);
    size *= 4;
  }
}

TEST_CASE("shares of an all-gather that were counted beforehand") {
  compare_shares(rig::generate::rmat(17, 16), {0.445, 0.237, 0.109}, 0);
  compare_shares(rig::generate::uniform(131072, 16), {0.98, 0.63, 0.22}, 0);
  const auto web = data::folder() / "web-cnr2000" / "graph.mtx.gz";
  if (data::has(web))
    compare_shares(rig::read_matrix<float>(web), {0.013, 0.004}, 0.0005);  // of three decimals
}

TEST_CASE("shares of a cover that were counted beforehand") {
  const auto by = rig::exchange::cover;
  compare_shares(rig::generate::rmat(17, 16), {0.286, 0.162, 0.080}, 0.0005, by);
  compare_shares(rig::generate::uniform(131072, 16), {0.98, 0.54, 0.20}, 0.005, by);
  const auto web = data::folder() / "web-cnr2000" / "graph.mtx.gz";
  if (data::has(web)) compare_shares(rig::read_matrix<float>(web), {0.006, 0.002}, 0.0005, by);
}

TEST_CASE("plans of ranks that run alone are those of ranks that run together") {
  const auto a = rig::generate::rmat(8, 8);
  for (const int size : {1, 3, 7}) {
    const auto rows = rig::layout::by_entries(a.structure(), size);
    int64 moved = 0;
    run_all(size, [&](const rig::communicator& here) {
      const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
      const auto x = distributed<dense<float>>::from_whole(here, dense<float>(256, 1), rows);
      const auto why = rig::explain(part, x, sums());
      if (here.rank() == 0)
        for (const int64 bytes : why.bytes) moved += bytes / int64{sizeof(float)};
    });
    CHECK(volumes_of(a, rows).share * 256 * (size - 1) == doctest::Approx(moved));
  }
}

}  // namespace
