// Products over ranks with rows of MaxK and of 8-bit codes: the bits of one rank.

#include <doctest/doctest.h>

#include <string>

#include "distributed/product_cases.hpp"

namespace {

using namespace ranks;
using rig::cbsr;
using rig::dense;
using rig::distributed;
using rig::index;
using rig::matrix;
using rig::quantized;

const rig::descriptor one_thread = {.threads = 1}, turned = {.transpose_a = true, .threads = 1};

template <class S>
void compare_maxk(const matrix<float>& a, index columns, int k) {
  const auto x = random_dense<float>(a.columns(), columns, 71);
  const auto whole = rig::maxk(x, k);
  const auto straight = rig::mxm(a, whole, S(), one_thread),
             transposed = rig::mxm(a, whole, S(), turned);
  for_ranks(a.structure(), [&](const auto& here, const auto& rows) {
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
    const auto part_of_x = distributed<dense<float>>::from_whole(here, x, rows);
    const auto mine =
        distributed<cbsr<float>>::from_rows(here, rig::maxk(part_of_x.local(), k), rows);
    const std::string words = words_of(S::name, here.size(), k, columns);
    require(same_bits(rig::mxm(part, mine, S(), one_thread).gather(), straight), words);
    require(same_bits(rig::mxm(part, mine, S(), turned).gather(), transposed), words + ", turned");
  });
}

TEST_CASE("rows of MaxK") {
  const auto a = random_matrix<float>(50, 50, 9, 72);
  for (const auto& [columns, k] : {std::pair<index, int>(1, 1), {32, 4}, {300, 7}}) {
    compare_maxk<rig::plus_times<float>>(a, columns, k);
    compare_maxk<rig::max_second<float>>(a, columns, k);
  }
  compare_maxk<rig::plus_times<float>>(a.with_value(0.3f), 32, 4);
  compare_maxk<rig::plus_times<float>>(random_matrix<float>(3, 3, 2, 73), 8, 2);
}

template <class S>
void compare_codes(const matrix<float>& a, index columns, rig::ranges over) {
  const auto x = random_dense<float>(a.columns(), columns, 74);
  const auto whole = quantized::from(x, over);
  const auto straight = rig::mxm(a, whole, S(), one_thread),
             transposed = rig::mxm(a, whole, S(), turned);
  for_ranks(a.structure(), [&](const auto& here, const auto& rows) {
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
    const auto mine = distributed<quantized>::from_whole(here, whole, rows);
    const std::string words = words_of(S::name, here.size(), int(over), columns);
    require(same_bits(rig::mxm(part, mine, S(), one_thread).gather(), straight), words);
    require(same_bits(rig::mxm(part, mine, S(), turned).gather(), transposed), words + ", turned");
  });
}

TEST_CASE("rows of codes") {
  const auto a = random_matrix<float>(50, 50, 9, 75);
  for (const auto over : {rig::ranges::matrix, rig::ranges::column})
    for (const index columns : {2, 32, 70}) {
      compare_codes<rig::plus_times<float>>(a, columns, over);
      compare_codes<rig::arg_max_second<float>>(a, columns, over);
    }
  compare_codes<rig::plus_times<float>>(random_matrix<float>(3, 3, 2, 76), 2, rig::ranges::matrix);
}

TEST_CASE("refusals") {
  const auto refused = [](const char* words, auto work) {
    for (const auto& thrown : run(3, [&](const rig::communicator& here) {
           const auto a = random_matrix<float>(9, 9, 3, 77);
           const auto rows = rig::layout::contiguous(std::vector<int>{3, 3, 3});
           work(here, distributed<matrix<float>>::from_whole(here, a, rows), rows);
         })) {
      REQUIRE(thrown != nullptr);
      try {
        std::rethrow_exception(thrown);
      } catch (const rig::error& cause) {
        CHECK_MESSAGE(std::string(cause.what()).find(words) != std::string::npos, cause.what());
      }
    }
  };
  refused("the ranks differ in k", [](const auto& here, const auto&, const auto& rows) {
    const auto x = random_dense<float>(3, 8, 78);
    distributed<cbsr<float>>::from_rows(here, rig::maxk(x, here.rank() == 1 ? 3 : 2), rows);
  });
  refused("the ranks differ in the ranges", [](const auto& here, const auto&, const auto& rows) {
    const auto x = random_dense<float>(3, 8, static_cast<unsigned>(here.rank()));
    distributed<quantized>::from_rows(here, quantized::from(x), rows);
  });
  refused("takes a dense X", [](const auto& here, const auto& a, const auto& rows) {
    const auto x = quantized::from(random_dense<float>(9, 8, 79));
    rig::mxm(a, distributed<quantized>::from_whole(here, x, rows), rig::plus_times<float>(),
             {.exchange = rig::exchange::features});
  });
  refused("one beyond tiles", [](const auto& here, const auto& a, const auto& rows) {
    using sums = rig::plus_times<float>;
    const index columns = rig::on_cpu::columns_of_tile<sums>() + 1;
    const auto x = quantized::from(random_dense<float>(9, columns, 80));
    rig::mxm(a, distributed<quantized>::from_whole(here, x, rows), sums());
  });
}

}  // namespace
