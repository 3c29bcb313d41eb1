// Products over 1 … 7 ranks have the bits of one rank: builtin semirings and own ones, both
// schemes, two kinds of layouts, odd shapes.

#include <doctest/doctest.h>

#include "distributed/product_cases.hpp"

namespace {

using namespace ranks;
using rig::dense;
using rig::distributed;
using rig::index;
using rig::matrix;

/// Every width and number of ranks for one A.
template <class S, class TA, class TX>
void sweep(const matrix<TA>& a, const std::vector<index>& widths,
           const rig::descriptor& desc = {.threads = 1}) {
  const matrix<bool> inner(a.columns(), 1);
  for (const index features : widths) {
    const auto x = random_dense<TX>(a.columns(), features, 7 + static_cast<unsigned>(features));
    for (int size = 1; size <= 7; ++size) {
      const int kind = (size + features) % 2;
      const auto rows = layout_of(a.structure(), size, kind, 3);
      const auto of_x =
          a.rows() == a.columns() ? rows : layout_of(inner.structure(), size, kind, 5);
      std::vector<std::string> wrong(static_cast<std::size_t>(size));
      run_all(size, [&](const rig::communicator& here) {
        wrong[static_cast<std::size_t>(here.rank())] = compare<S>(here, a, x, rows, of_x, desc);
      });
      for (int rank = 0; rank < size; ++rank)
        CHECK_MESSAGE(wrong[static_cast<std::size_t>(rank)].empty(),
                      words_of(S::name, size, kind, features), ", ", a.rows(), "x", a.columns(),
                      ": rank ", rank, ":", wrong[static_cast<std::size_t>(rank)]);
    }
  }
}

const std::vector<index> widths{1, 2, 3, 32, 33, 128};

TEST_CASE("builtin semirings") {
  const auto square = random_matrix<float>(97, 97, 9, 1);
#define RIG_BUILTIN(name, type) sweep<rig::name<type>, float, type>(square, {1, 3, 32});
#include "rig/builtin.def"
#undef RIG_BUILTIN
}

TEST_CASE("widths around tiles, where the order of sums changes") {
  const auto square = random_matrix<float>(60, 60, 24, 2);
  sweep<rig::plus_times<float>, float, float>(square, widths);
  sweep<rig::plus_times<float>, float, float>(square, {8, 9, 16, 17, 129, 256, 257, 260, 300});
}

TEST_CASE("semirings of the caller") {
  const auto square = random_matrix<float>(60, 60, 24, 3);
  sweep<damped, float, float>(square, widths);
  sweep<sum_and_greatest, float, float>(square, {1, 3, 32});
  sweep<weighted_by_place, float, float>(square, {1, 3, 32});
}

TEST_CASE("shapes: empty ranks, more ranks than rows, no entries, no columns") {
  using plus = rig::plus_times<float>;
  for (const index rows : {0, 1, 3, 20})
    for (const index columns : {0, 1, 5, 70}) {
      const auto a = random_matrix<float>(rows, columns, 4, static_cast<unsigned>(rows + columns));
      sweep<plus, float, float>(a, {0, 1, 3, 32});
      sweep<rig::arg_max_second<float>, float, float>(a, {1, 3});
      sweep<plus, float, float>(matrix<float>(rows, columns), {3});
    }
}

TEST_CASE("iso matrices, stored types, fills") {
  const auto square = random_matrix<float>(50, 50, 20, 4);
  sweep<rig::plus_times<float>, float, float>(square.with_value(0.3f), {1, 3, 32});
  sweep<rig::plus_times<float>, rig::half, rig::half>(random_matrix<rig::half>(50, 50, 20, 5),
                                                      {2, 3, 32});
  sweep<rig::max_second<float>, float, rig::half>(square, {1, 3}, {.fill = 0, .threads = 1});
  sweep<rig::plus_times<double>, float, double>(square, {1, 3, 32});
}

TEST_CASE("the kernel of one rank: long rows are split on any number of ranks") {
  const auto wide = random_matrix<float>(6, 70'000, 20, 6);
  REQUIRE(
      rig::on_cpu::splits(wide.nnz(), wide.structure().derived_of<rig::row_lengths>()->longest));
  sweep<rig::plus_times<float>, float, float>(wide, {1, 3});
}

TEST_CASE("iso ranks beside others") {
  run_all(3, [](const rig::communicator& here) {
    const auto rows = rig::layout::contiguous(std::vector<int>{2, 2, 2});
    const auto ones = random_matrix<float>(6, 6, 3, 8).with_value(1.0f);
    const auto part = distributed<matrix<float>>::from_whole(here, ones, rows);
    const float value = here.rank() == 1 ? 2.5f : 1.0f;
    const auto mixed =
        distributed<matrix<float>>::from_rows(here, part.local().with_value(value), rows);
    const auto x = random_dense<float>(6, 4, 9);
    const auto by_rows = distributed<dense<float>>::from_whole(here, x, rows);
    const auto sums = rig::plus_times<float>();
    const auto c = rig::mxm(mixed, by_rows, sums, {.exchange = rig::exchange::fetch}).gather();
    if (!same_bits(c,
                   rig::mxm(mixed, by_rows, sums, {.exchange = rig::exchange::features}).gather()))
      throw std::runtime_error("features differ from fetch");
    const auto plain = rig::mxm(ones, x, sums);
    for (index i = 0; i < 6; ++i)
      for (index j = 0; j < 4; ++j)
        if (c(i, j) != (i / 2 == 1 ? 2.5f * plain(i, j) : plain(i, j)) &&
            std::abs(c(i, j) - 2.5f * plain(i, j)) > 1e-5f)
          throw std::runtime_error("a value is wrong");
  });
}

TEST_CASE("masks by rows") {
  const auto a = random_matrix<float>(40, 40, 9, 10);
  const auto m = random_matrix<float>(40, 12, 4, 11);
  const auto full = random_dense<float>(40, 12, 12);
  const auto x = random_dense<float>(40, 12, 13);
  const auto sums = rig::plus_times<float>();
  const rig::descriptor desc = {.fill = -1, .threads = 1};
  const auto by_structure = rig::mxm(a, x, sums, rig::structure(m), desc),
             by_values = rig::mxm(a, x, sums, rig::complement(rig::values(full)), desc);
  for (int size = 1; size <= 7; ++size)
    run_all(size, [&](const rig::communicator& here) {
      const auto rows = layout_of(a.structure(), size, size % 2, 14);
      const auto part = distributed<matrix<float>>::from_whole(here, a, rows),
                 of_mask = distributed<matrix<float>>::from_whole(here, m, rows);
      const auto of_full = distributed<dense<float>>::from_whole(here, full, rows),
                 by_rows = distributed<dense<float>>::from_whole(here, x, rows);
      if (!same_bits(rig::mxm(part, by_rows, sums, rig::structure(of_mask), desc).gather(),
                     by_structure))
        throw std::runtime_error("structure");
      if (!same_bits(rig::mxm(part, by_rows.by_features(), sums,
                              rig::complement(rig::values(of_full)), desc)
                         .gather(),
                     by_values))
        throw std::runtime_error("complement of values");
    });
}

TEST_CASE("plans are shared, listed and dropped, and values change without them") {
  run_all(3, [](const rig::communicator& here) {
    const auto a = random_matrix<float>(30, 30, 5, 15);
    const auto rows = rig::layout::by_entries(a.structure(), 3);
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
    const auto x = random_dense<float>(30, 5, 16);
    const auto by_rows = distributed<dense<float>>::from_whole(here, x, rows);
    const auto sums = rig::plus_times<float>();
    require(part.plans().empty(), "a plan before it is needed");
    part.prepare(rows).prepare(rows, {.exchange = rig::exchange::features});
    require(part.plans().size() == 2, "both plans");
    const auto doubled =
        part.with_values(std::vector<float>(static_cast<std::size_t>(part.local().nnz()), 2.0f));
    require(doubled.plans().size() == 1, "values share the plan of fetch");
    const auto twos = rig::mxm(a.with_value(2.0f), x, sums);
    for (const auto by : {rig::exchange::fetch, rig::exchange::features})
      require(same_bits(rig::mxm(doubled, by_rows, sums, {.exchange = by}).gather(), twos), "twos");
    if (here.rank() == 1) part.drop_plans();
    require(same_bits(rig::mxm(part, by_rows, sums).gather(), rig::mxm(a, x, sums)),
            "after a drop on one rank");
    require(same_bits(rig::mxm(part, by_rows, sums, {.exchange = rig::exchange::features}).gather(),
                      rig::mxm(a, x, sums)),
            "features after a drop on one rank");
  });
}

TEST_CASE("the memory of fetched rows serves the next product, of any width, and is dropped") {
  run_all(3, [](const rig::communicator& here) {
    const auto a = random_matrix<float>(90, 90, 5, 17);
    const auto rows = rig::layout::by_entries(a.structure(), 3);
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
    const auto bytes = [&] { return part.plans().front().bytes; };
    const std::size_t before = (part.prepare(rows), bytes());
    std::size_t most = before;
    index widest = 0;
    std::vector<distributed<dense<float>>> products;
    for (const index columns : {5, 64, 2, 64}) {
      const auto x = distributed<dense<float>>::from_whole(
          here, random_dense<float>(90, columns, static_cast<unsigned>(columns)), rows);
      products.push_back(rig::mxm(part, x, rig::plus_times<float>()));
      const bool is_wider = columns > widest;
      require(is_wider ? bytes() > most : bytes() == most, "the bytes of the plan");
      widest = std::max(widest, columns);
      most = bytes();
    }
    for (const auto& product : products)
      require(same_bits(product.gather(),
                        rig::mxm(a,
                                 random_dense<float>(90, product.columns(),
                                                     static_cast<unsigned>(product.columns())),
                                 rig::plus_times<float>())),
              "a product by memory of another");
    part.drop_plans();
    part.prepare(rows);
    require(bytes() == before, "memory after a drop");
  });
}

}  // namespace
