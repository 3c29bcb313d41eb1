// The cases of tests/call/one_meaning.cpp on a GPU.

#include <doctest/doctest.h>

#include "gpu.hpp"
#include "meaning_cases.hpp"

namespace {

TEST_CASE("T joins C before it is rounded, sparse and dense alike") {
  meaning::check_joins(rig::cuda(0));
}

TEST_CASE("a number that is assigned joins C before it is rounded") {
  meaning::check_assigned_numbers(rig::cuda(0));
}

TEST_CASE("a logical sum is 0 or 1, of one element too") {
  meaning::check_logical_sums<int>(rig::cuda(0));
  meaning::check_logical_sums<rig::int64>(rig::cuda(0));
  meaning::check_logical_sums<float>(rig::cuda(0));
  meaning::check_logical_sums<double>(rig::cuda(0));
  meaning::check_logical_sums<bool>(rig::cuda(0));
}

TEST_CASE("comparisons with a number are of the numbers themselves") {
  meaning::check_comparisons(rig::cuda(0));
}

TEST_CASE("an entry alone beside a comparison is 0 or 1") {
  meaning::check_lone_entries(rig::cuda(0));
}

}  // namespace
