// Rows of X that travel in slices of columns: what each slice has, and a rank that fails at a step.
// The CPU stands in for a device, because the steps between the exchanges are the same.

#include <doctest/doctest.h>

#include <new>
#include <string>

#include "distributed/product_cases.hpp"
#include "rig/kernels/ranks.hpp"

namespace {

using namespace ranks;
using rig::dense;
using rig::distributed;
using rig::index;
using rig::matrix;

struct steps {
  int ranks, kind, slices;
  int failing, culprit;  ///< 0: the allocation, k + 1: slice k, by this rank; negative: none
};

/// Whether rows are the plan's rows of X, in slice k.
bool has_rows(const rig::buffer& rows, const std::vector<index>& numbers, const dense<float>& x,
              int k, index width) {
  const float* next = rows.data<const float>();
  for (const index i : numbers)
    for (index j = 0; j < width; ++j)
      if (*next++ != x(i, k * width + j)) return false;
  return true;
}

/// Fetches, and requires the rows, or the culprit's error and that the ranks go on.
void fetch(const rig::communicator& here, const matrix<float>& a, const dense<float>& x,
           const steps& of) {
  const auto rows = layout_of(a.structure(), of.ranks, of.kind, 3);
  const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
  const auto part_of_x = distributed<dense<float>>::from_whole(here, x, rows);
  const auto plan =
      rig::over_ranks::make_fetch_plan(here, "mxm", part.local().shared_structure(), rows);
  const dense<float>& local = part_of_x.local();
  const auto bytes = static_cast<std::size_t>(x.columns()) * sizeof(float);
  const bool fails = of.culprit == here.rank();
  int right = 0;
  std::string words;
  try {
    rig::over_ranks::fetch_in_slices(
        here, *plan, {local.data(), bytes, bytes}, of.slices, nullptr,
        [&] {
          if (fails && of.failing == 0) throw std::bad_alloc();
        },
        [&](int k, const rig::buffer& fetched) {
          if (fails && of.failing == k + 1) rig::fail(rig::errc::range, {"mxm: at ", k});
          right += has_rows(fetched, plan->columns, x, k, x.columns() / of.slices);
        });
  } catch (const rig::error& cause) {
    words = cause.what();
  }
  const std::string culprit = "mxm: rank " + std::to_string(of.culprit) + " of ";
  require(of.failing < 0 ? words.empty() && right == of.slices : words.starts_with(culprit),
          std::to_string(right) + " of " + std::to_string(of.slices) + " slices: " + words);
  require(here.all_reduce(1, rig::joining::sum) == here.size(), "the ranks do not go on");
}

TEST_CASE("slices have the rows of their columns, and a rank that fails ends all ranks") {
  const auto a = rig::generate::uniform(300, 5);
  const auto x = random_dense<float>(300, 32, 3);
  for (const int size : {1, 2, 3, 5})
    for (const int kind : {0, 1})
      for (const int slices : {1, 2, 4})
        for (int failing = -1; failing <= slices; ++failing)
          for (int culprit = 0; culprit < (failing < 0 ? 1 : size); ++culprit) {
            CAPTURE(size);
            CAPTURE(slices);
            CAPTURE(failing);
            const steps of = {size, kind, slices, failing, culprit};
            CHECK_NOTHROW(
                run_all(size, [&](const rig::communicator& here) { fetch(here, a, x, of); }));
          }
}

}  // namespace
